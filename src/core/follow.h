/* SPDX-License-Identifier: MIT */
/* A pool that was sized by the machine follows it: quotas and masks change while it runs.
 *
 * Workers look between two items, two pieces of a loop, and while they search, at most every
 * FILCHI_FOLLOW_NS; a change counts when two looks in a row agree. So it takes effect after one to
 * two times that, plus what the workers have in hand. A pool that sleeps looks at nothing. */
#ifndef FILCHI_CORE_FOLLOW_H
#define FILCHI_CORE_FOLLOW_H

#include <filch/base.h>

#include "base/atomic.h"

#define FILCHI_FOLLOW_NS ((int64_t)100000000)

/* How many workers there should be now, and the part of a CPU, in thousandths, that the last one of
 * them may use; 0: all of it. */
typedef unsigned filchi_look_fn(void *ctx, unsigned *out_part);

/* I: set before the workers pass the gate   A: atomic */
typedef struct filchi_follow {
    filchi_look_fn *look;      /* I: NULL: it does not follow */
    void *ctx;                 /* I */
    filchi_atomic_u64 next_ns; /* A: no look before */
    filchi_atomic_u32 seen;    /* A: what the last look wanted; 0: no change */
    filchi_atomic_u32 pace;    /* A: filchi_pace_of what the last look said */
} filchi_follow;

/* A worker of a pool that follows is between two things. */
void filchi_follow_tick(filch_pool *pool);

#endif
