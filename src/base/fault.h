/* SPDX-License-Identifier: MIT */
/* Points where tests step in: to let a call fail, or to delay a thread between two steps of a
 * protocol. They exist in the test library only (FILCHI_HOOKS); elsewhere they are constant false
 * and leave no code behind. */
#ifndef FILCHI_BASE_FAULT_H
#define FILCHI_BASE_FAULT_H

#include <stdbool.h>

typedef enum filchi_point {
    FILCHI_AT_ALLOC,        /* true: this allocation fails */
    FILCHI_AT_THREAD_START, /* true: this thread does not start */
    FILCHI_AT_WORKER_START, /* a worker, before it looks at the pool */
    FILCHI_AT_STEAL_READ,   /* a thief, between its read of the slot and its CAS */
    FILCHI_AT_STEAL_WON,    /* a thief, right after its CAS won */
    FILCHI_AT_BEFORE_PARK,  /* a worker, between its last look for work and its sleep */
    FILCHI_AT_POINT_COUNT
} filchi_point;

/* Called from any thread at once. */
typedef bool filchi_point_fn(void *ctx, filchi_point point);

#if defined(FILCHI_HOOKS)

/* Install `fn`, NULL for none; while no other thread is inside the library. */
void filchi_points_set(filchi_point_fn *fn, void *ctx);
bool filchi_point_hit(filchi_point point);

#else

static inline bool filchi_point_hit(filchi_point point)
{
    (void)point;
    return false;
}

#endif

#endif
