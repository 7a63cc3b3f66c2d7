/* SPDX-License-Identifier: MIT */
/* The length of a task, in pools that ask for it (FILCH_POOL_TIME_TASKS): how long it kept its
 * worker busy. Tasks that ran inside it, in its joins or posts, have lengths of their own. */
#ifndef FILCHI_CORE_TIMING_H
#define FILCHI_CORE_TIMING_H

#include <filch/base.h>

#include <stdint.h>

typedef struct filchi_timing {
    uint64_t began;    /* busy time of the worker */
    uint64_t outer_ns; /* what the task around this one has had inside so far */
} filchi_timing;

/* Around the function of a task, on a worker's lane; counted before anybody is told of its end. */
filchi_timing filchi_timing_begin(filch_cx *cx);
void filchi_timing_end(filch_cx *cx, filchi_timing timing);

#endif
