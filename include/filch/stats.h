/* SPDX-License-Identifier: MIT */
/* Counters of a pool, and what its workers spend their time on. Both are kept per worker, off the
 * fork path: a fork that nobody stole is not counted, and the clock is read where a worker begins or
 * ends to search, sleep, or wait. Reading is cheap, never blocks a worker, and gives a moment's view;
 * times never go back. What is counted about tasks is exact once the pool is quiet; searching and
 * parking go on.
 *
 * Time: a worker is busy, searching or parked, so that for each of them, from the moment all workers
 * were started to the end of the shutdown, busy + searching + parked = wall; in a pool that is
 * resized, + resting. After the shutdown the figures stay. The monotonic clock, not CPU time: a busy
 * worker may lack a CPU, or block.
 *   busy       runs tasks and hooks, and goes from one task to the next
 *   searching  looks for work of others, also in a join; waits for the last pieces of its loop,
 *              or for a stolen fork, before it sleeps
 *   parked     sleeps, or is about to; has not begun or has ended its thread
 *   resting    off duty, or without a thread yet (a pool that shrinks leaves those parked that are);
 *              or paced */
#ifndef FILCH_STATS_H
#define FILCH_STATS_H

#include <filch/base.h>

FILCH_BEGIN_DECLS

/* Of one worker, or summed over all. */
typedef struct filch_worker_stats {
    uint64_t tasks_run;       /* detached tasks and roots whose function was called by a worker */
    uint64_t tasks_cancelled; /* ended without being started */
    uint64_t tasks_late;      /* of tasks_cancelled: since their start_by had passed */
    uint64_t tasks_inline;    /* of tasks_run: run inside their own post, the deque being full */
    uint64_t tasks_posted;    /* accepted from this worker's own tasks */
    uint64_t injected_taken;  /* tasks and roots from foreign threads that were started */
    uint64_t forks_offered;   /* times this worker offered forks, because somebody asked for work */
    uint64_t forks_stolen;    /* forks and spawned children taken from other workers and run here */
    uint64_t forks_forced;    /* of forks_stolen: taken although they were not offered */
    uint64_t barriers;        /* calls of membarrier(2), before it went to sleep */
    uint64_t loops_joined;    /* times this worker joined a loop of another thread */
    uint64_t steals_won;      /* forks and detached tasks taken from other workers */
    uint64_t steals_lost;     /* races for an item lost to somebody else */
    uint64_t steals_empty;    /* looks at a victim that had nothing */
    uint64_t parks;           /* times it went to sleep */
    uint64_t wakes;           /* times another thread woke it because there was work */
    uint64_t wakes_placed;    /* of these: kept off its waker's CPU (FILCH_POOL_NO_PLACING) */
    uint64_t busy_ns;
    uint64_t searching_ns;
    uint64_t parked_ns;
    uint64_t resting_ns;
    uint64_t paces;    /* times it rested since it had used its part of a fractional quota: */
    uint64_t paced_ns; /* time of these rests, part of resting_ns ("Following" in pool.h) */
} filch_worker_stats;

/* Flags of filch_stats. */
#define FILCH_STATS_THROTTLING 1u /* read from the system how often the cgroup was stopped */

/* Of a pool. accepted = tasks_run + queue_run + tasks_cancelled + queue_dropped once the pool is quiet.
 * Throttling is that of the cgroup with the quota (filch_cpus) since it was made: of all who are in it,
 * not of this pool alone. */
typedef struct filch_stats {
    size_t size;            /* sizeof(filch_stats), set by the caller */
    unsigned flags;         /* FILCH_STATS_THROTTLING or 0, set by the caller */
    unsigned workers;       /* workers on duty */
    unsigned max_workers;   /* workers there can be */
    unsigned workers_asked; /* workers the configuration asked for */
    unsigned bound;         /* workers with a thread that is bound to a CPU */
    size_t queue_tasks;     /* capacity of the queue, */
    uint64_t queue_depth; /* from foreign threads and not started, now, without those of groups, */
    uint64_t queue_high;  /* and the most there were when a worker took a batch, when the queue
                                 was found full, or when somebody read this */
    const char *park_backend; /* "futex" or "condvar" */
    const char *fork_backend; /* "membarrier", or "polled": forks are not taken unless offered */
    uint64_t accepted;        /* tasks and roots accepted */
    uint64_t refused;         /* tasks and roots refused: closed, full, or without memory */
    uint64_t pending;         /* accepted and not ended, plus threads inside such a call */
    uint64_t queue_waits;     /* times a foreign thread waited because the queue was full, */
    uint64_t queue_rejected;  /* tasks refused for that (of `refused`), the deadline included, */
    uint64_t queue_run;       /* run inside the call for that, */
    uint64_t queue_dropped;   /* and given up for newer ones */
    uint64_t resizes;         /* times the number of workers on duty changed */
    uint64_t wall_ns;         /* since the workers were started, up to the end of the shutdown */
    double utilisation;       /* busy / (busy + searching + parked), of all: from 0 to 1 */
    unsigned has_throttling;  /* 1: asked for, and there is a quota; 0: the next three are 0 */
    uint64_t periods;         /* of the quota that the group ran in, */
    uint64_t throttled;       /* those in which it was stopped, */
    uint64_t throttled_us;    /* and for how long: microseconds, summed over the CPUs it was on */
    filch_worker_stats total; /* summed over the workers */
} filch_stats;

#define FILCH_STATS_INIT                                                                           \
    {                                                                                              \
        sizeof(filch_stats), 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  \
            0, 0, 0,                                                                               \
        {                                                                                          \
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                    \
        }                                                                                          \
    }

/* Read the figures of a pool, of one worker. With FILCH_STATS_THROTTLING ten to twenty small files of
 * /proc and /sys are read, 0.1 to 0.2 ms: for looking once a second, not in a loop.
 * Threads: any.   Fails: FILCH_E_INVALID (NULL, wrong size or flags, no such worker), FILCH_E_FORKED. */
FILCH_API filch_status filch_stats_read(const filch_pool *pool, filch_stats *out_stats);
FILCH_API filch_status filch_stats_read_worker(const filch_pool *pool, unsigned worker,
                                               filch_worker_stats *out_stats);

/* Lengths of tasks, of pools with FILCH_POOL_TIME_TASKS: how long each kept its worker busy. Counted
 * are detached tasks and roots that ran, forks and spawned children that were stolen, and each part
 * that a worker took in a loop of another thread (tasks_run + forks_stolen + loops_joined). What
 * nobody stole is part of the task that made it. Time that a task searches or sleeps in its waits,
 * and tasks that its worker runs there, are not in its length: the lengths sum up to the busy time,
 * less what lies between tasks. Costs two readings of the clock a task.
 *
 * A power of two has eight buckets, so that a bucket's longest length is at most 1/8 above its
 * shortest, filch_length_from(bucket). Below 16 ns each length has its own. */
#define FILCH_LENGTH_BUCKETS 496u

typedef struct filch_lengths {
    size_t size;                           /* sizeof(filch_lengths), set by the caller */
    uint64_t tasks;                        /* all counts together */
    uint64_t sum_ns;                       /* of their lengths */
    uint64_t counts[FILCH_LENGTH_BUCKETS]; /* tasks for each bucket */
} filch_lengths;

#define FILCH_LENGTHS_INIT                                                                         \
    {                                                                                              \
        sizeof(filch_lengths), 0, 0,                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

/* Read the lengths of all tasks so far. To look at a span of time, subtract two readings.
 * Threads: any.   Fails: FILCH_E_INVALID (NULL, wrong size, a pool without the flag),
 *                        FILCH_E_FORKED. */
FILCH_API filch_status filch_stats_read_lengths(const filch_pool *pool, filch_lengths *out_lengths);

/* Waits of tasks, of pools with FILCH_POOL_TIME_QUEUE: from when a foreign thread handed a task or root
 * in to when a worker started it, the time a full queue made its submitter wait included. Own tasks
 * of workers, what was dropped and what ran in its caller are not counted (injected_taken). Costs
 * two readings of the clock a task. Read and subtract as lengths.
 * Threads: any.   Fails: as filch_stats_read_lengths. */
FILCH_API filch_status filch_stats_read_waits(const filch_pool *pool, filch_lengths *out_waits);

/* The length that the part `q` (0 to 1) of the tasks does not exceed, rounded up to the longest of
 * its bucket: 0.5 gives the median, 1 the longest. 0 without tasks, or for NULL.  Threads: any. */
FILCH_API uint64_t filch_lengths_quantile(const filch_lengths *lengths, double q);

/* The shortest length in a bucket; UINT64_MAX for FILCH_LENGTH_BUCKETS and above.  Threads: any. */
FILCH_API uint64_t filch_length_from(unsigned bucket);

FILCH_END_DECLS

#endif
