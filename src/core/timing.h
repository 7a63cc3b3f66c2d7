/* SPDX-License-Identifier: MIT */
/* The length of a task, in pools that ask for it (FILCH_POOL_TIME_TASKS): how long it kept its
 * worker busy. Tasks that ran inside it, in its joins or posts, have lengths of their own. */
#ifndef FILCHI_CORE_TIMING_H
#define FILCHI_CORE_TIMING_H

#include "core/worker.h"

typedef struct filchi_timing {
    uint64_t began;    /* busy time of the worker */
    uint64_t outer_ns; /* what the task around this one has had inside so far */
} filchi_timing;

/* Around the function of a task, on a worker's lane that has `lengths`; counted before anybody is
 * told of its end. */
filchi_timing filchi_timing_begin_timed(filchi_worker *worker);
void filchi_timing_end_timed(filchi_worker *worker, filchi_timing timing);

/* The same on any worker's lane. */
static inline filchi_timing filchi_timing_begin(filch_cx *cx)
{
    filchi_worker *worker = filchi_lane_of(cx)->worker;
    const filchi_timing none = { 0, 0 };
    return FILCHI_UNLIKELY(worker->lengths != NULL) ? filchi_timing_begin_timed(worker) : none;
}

static inline void filchi_timing_end(filch_cx *cx, filchi_timing timing)
{
    filchi_worker *worker = filchi_lane_of(cx)->worker;
    if (FILCHI_UNLIKELY(worker->lengths != NULL)) {
        filchi_timing_end_timed(worker, timing);
    }
}

#endif
