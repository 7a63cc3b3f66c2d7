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

/* What a call does about a full queue. */
typedef struct filchi_full_options {
    filch_full full;
    filch_time until;
    filch_token *stop; /* or NULL */
} filchi_full_options;

/* The caller has entered, with as many tasks as jobs. Hand them in, in order; the first *out_done are
 * accepted, and the next one was refused for being full (FILCH_E_FULL), too late (FILCH_E_TIMEOUT) or
 * stopped (FILCH_E_STOPPED). What is run or dropped here is off the account. */
filch_status filchi_full_put(filch_pool *pool, filchi_job *jobs, size_t count,
                             filchi_full_options how, size_t *out_done);

#endif
