/* SPDX-License-Identifier: MIT */
/* The workload of the post benchmark: empty tasks, handed to a pool from outside.
 *
 * Producers post POST_TASKS tasks between them, as fast as they can; the run ends when all tasks
 * have run. A task does nothing, so the time is that of the queue: putting in, waking, taking out.
 * Every design has the same number of threads and is used the way its authors say is best.
 *
 * With a counter the tasks add to it instead: that is how the check before the measurement knows
 * that each task ran exactly once. */
#ifndef BENCH_POST_WORK_H
#define BENCH_POST_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { POST_TASKS = 1000000, POST_THREADS = 2, POST_MAX_PRODUCERS = 4, POST_ROUNDS = 5 };

/* A design that can be posted to. */
typedef struct post_design {
    const char *name;
    const char *missing; /* why it is not here; NULL: it is, and the rest is set */

    /* Make a pool with `threads` threads that will get `tasks` tasks in all. Not timed. A NULL
     * counter means empty tasks; another one is added to, atomically. NULL: it could not. */
    void *(*start)(unsigned threads, size_t tasks, uint64_t *counter);

    /* Post tasks `first` to `first + count - 1`. Producers call it at the same time with ranges
     * that do not overlap. Timed. */
    bool (*post)(void *pool, size_t first, size_t count);

    /* Wait until all tasks have run. Timed. */
    bool (*drain)(void *pool);

    /* End the pool. Not timed. */
    void (*stop)(void *pool);
} post_design;

extern const post_design post_filch;
extern const post_design post_sharedqueue;
extern const post_design post_glib;

/* What a counting task does. */
static inline void post_count(uint64_t *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); /* read after the drain */
}

#endif
