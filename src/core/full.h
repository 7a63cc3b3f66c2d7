/* SPDX-License-Identifier: MIT */
/* What a foreign thread does when the queue is full: wait, refuse, run, or drop. */
#ifndef FILCHI_CORE_FULL_H
#define FILCHI_CORE_FULL_H

#include <filch/task.h>

#include "queue/job.h"

static inline bool filchi_full_valid(filch_full full)
{
    return (unsigned)full <= FILCH_FULL_DROP_OLDEST;
}

/* Note when it is handed in, if the pool measures that. */
void filchi_full_stamp(const filch_pool *pool, filchi_job *job);

/* The caller has entered, with as many tasks as jobs. Hand them in, in order; the first *out_done are
 * accepted, and the next one was refused for being full (FILCH_E_FULL) or too late (FILCH_E_TIMEOUT).
 * What is run or dropped here is off the account. */
filch_status filchi_full_put(filch_pool *pool, filchi_job *jobs, size_t count, filch_full full,
                             filch_time until, size_t *out_done);

#endif
