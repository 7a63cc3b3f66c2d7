/* SPDX-License-Identifier: MIT */
/* Where a thread stands: the pools it is inside of, innermost first. A worker is inside its pool
 * for life, a foreign thread while it takes part in a loop; a worker may be a guest of another pool
 * on top. A call that waits for a pool must not be made from inside it. */
#ifndef FILCHI_CORE_PLACE_H
#define FILCHI_CORE_PLACE_H

#include "core/lane.h"

typedef struct filchi_place {
    filch_pool *pool;
    filchi_lane *own; /* the worker's lane; NULL for a guest, and while a hook runs */
    struct filchi_place *outer;
} filchi_place;

/* Strictly nested; the place lives in the caller's frame. */
void filchi_place_enter(filchi_place *place, filch_pool *pool, filchi_lane *own);
void filchi_place_leave(filchi_place *place);

/* Is the calling thread inside this pool? */
bool filchi_place_inside(const filch_pool *pool);

/* The worker of this pool that the calling thread is, or NULL; the lane of whatever pool it is a
 * worker of, or NULL. */
filchi_worker *filchi_place_worker(const filch_pool *pool);
filchi_lane *filchi_place_own_lane(void);

/* A child after fork(): the pool is gone, nobody is inside any more. */
void filchi_place_forget(const filch_pool *pool);

#endif
