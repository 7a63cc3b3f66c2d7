/* SPDX-License-Identifier: MIT */
/* Counters of a pool. They are kept per worker, off the fork path: a fork that nobody stole is not
 * counted. Reading them is cheap, never blocks a worker, and gives a moment's view. What is counted
 * about tasks is exact once the pool is quiet; searching and parking may go on for a moment. */
#ifndef FILCH_STATS_H
#define FILCH_STATS_H

#include <filch/base.h>

FILCH_BEGIN_DECLS

/* Of one worker, or summed over all. */
typedef struct filch_worker_stats {
    uint64_t tasks_run;       /* detached tasks and roots whose function was called */
    uint64_t tasks_cancelled; /* ended without being started */
    uint64_t tasks_inline;    /* of tasks_run: run inside their own post, the deque being full */
    uint64_t tasks_posted;    /* accepted from this worker's own tasks */
    uint64_t injected_taken;  /* taken from the injector */
    uint64_t forks_stolen;    /* forks and spawned children taken from other workers and run here */
    uint64_t loops_joined;    /* times this worker joined a loop of another thread */
    uint64_t steals_won;      /* items taken from another worker's deques */
    uint64_t steals_lost;     /* races for an item lost to somebody else */
    uint64_t steals_empty;    /* looks at a victim that had nothing */
    uint64_t parks;           /* times it went to sleep */
    uint64_t wakes;           /* times another thread woke it because there was work */
} filch_worker_stats;

/* Of a pool. accepted = ran + cancelled once the pool is quiet. */
typedef struct filch_stats {
    size_t size;              /* sizeof(filch_stats), set by the caller */
    unsigned workers;         /* workers on duty */
    unsigned max_workers;     /* workers there can be */
    unsigned workers_asked;   /* workers the configuration asked for */
    size_t queue_tasks;       /* capacity of the injector */
    const char *park_backend; /* "futex" or "condvar" */
    uint64_t accepted;        /* tasks and roots accepted */
    uint64_t refused;         /* tasks and roots refused: closed, full, or without memory */
    uint64_t pending;         /* accepted and not ended, plus threads inside such a call */
    uint64_t queue_waits;     /* times a foreign thread waited because the injector was full */
    uint64_t resizes;         /* times the number of workers on duty changed */
    filch_worker_stats total; /* summed over the workers */
} filch_stats;

#define FILCH_STATS_INIT                                                                           \
    {                                                                                              \
        sizeof(filch_stats), 0, 0, 0, 0, NULL, 0, 0, 0, 0, 0,                                      \
        {                                                                                          \
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                                                     \
        }                                                                                          \
    }

/* Read the counters of a pool, of one worker.
 * Threads: any.   Fails: FILCH_E_INVALID (NULL, wrong size, no such worker), FILCH_E_FORKED. */
FILCH_API filch_status filch_stats_read(const filch_pool *pool, filch_stats *out_stats);
FILCH_API filch_status filch_stats_read_worker(const filch_pool *pool, unsigned worker,
                                               filch_worker_stats *out_stats);

FILCH_END_DECLS

#endif
