/* SPDX-License-Identifier: MIT */
/* Detached tasks: handed to a pool from anywhere, run some time later, joined by nobody.
 *
 * A foreign thread's tasks go through the injector (bounded, about first in first out over all
 * submitters). A worker's own tasks go onto its deque: the worker takes the newest first (oldest
 * first with FILCH_POOL_FIFO), thieves the oldest. No order between tasks is promised beyond that.
 *
 * Counting: every call is accepted (FILCH_OK) or refused (FILCH_E_CLOSED, FILCH_E_FULL,
 *          FILCH_E_NOMEM; misuse is not counted); every accepted task ends exactly once, as
 *          FILCH_RAN or FILCH_CANCELLED.
 * When full: a foreign thread waits until a quarter of the injector is free, also if a shutdown
 *          begins meanwhile: its task counts as accepted. No order among those who wait is promised.
 *          A worker's deque holds FILCH_MAX_OWN_TASKS; a worker whose deque is full or cannot grow
 *          runs the task inside the call. FILCH_E_FULL if it may not: less than a quarter of its
 *          stack is left, or the call comes from inside the body of a loop.
 * Order:   writes before the call are visible to the task.
 * Queue errors: FILCH_E_CLOSED (shutdown began; a task may still post to its own draining pool),
 *          FILCH_E_FULL (only as above), FILCH_E_INVALID, FILCH_E_FORKED; FILCH_E_NOMEM as said.
 *          The arguments are then untouched and `end` is not called. */
#ifndef FILCH_TASK_H
#define FILCH_TASK_H

#include <filch/base.h>

FILCH_BEGIN_DECLS

/* How a task ended. */
typedef enum filch_end {
    FILCH_RAN = 1,      /* its function has returned */
    FILCH_CANCELLED = 2 /* it was never started */
} filch_end;

/* Called exactly once for each accepted task, on a worker, after its last use of `data`. It is part
 * of the task: it may post, and the pool is not quiet before it has returned. */
typedef void filch_end_fn(void *data, filch_end how);

/* An "Options struct" (base.h); copied, it need not outlive the call. */
typedef struct filch_submit_options {
    size_t size;
    unsigned flags;    /* none yet */
    const char *label; /* a name for people; must outlive the task; see filch_label */
    filch_end_fn *end; /* NULL: nothing to clean up */
    uintptr_t reserved[8];
} filch_submit_options;

#define FILCH_SUBMIT_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(filch_submit_options), 0, NULL, NULL,                                               \
        {                                                                                          \
            0, 0, 0, 0, 0, 0, 0, 0                                                                 \
        }                                                                                          \
    }

/* Tasks a worker's deque holds, at about 160 bytes each. */
#define FILCH_MAX_OWN_TASKS ((size_t)1 << 20)

/* Up to this many bytes a post allocates nothing (a worker's: nothing once it is warm). */
#define FILCH_POST_INLINE_BYTES 64u

/* Post `fn` with a copy of `bytes` bytes at `data`: the task gets a pointer to the copy, aligned
 * for any object and valid until `end` has returned. With `bytes` 0 nothing is copied and the task
 * gets `data` itself.
 * Threads: any.            Blocks: a foreign thread, while the injector is full.
 * Fails:   "Queue errors" above; FILCH_E_NOMEM (bytes above FILCH_POST_INLINE_BYTES). */
FILCH_API filch_status filch_post(filch_pool *pool, filch_fn *fn, const void *data, size_t bytes,
                                  const filch_submit_options *options);

/* A task in memory of the caller. Set fn and arg; the rest is private. */
typedef struct filch_task {
    filch_fn *fn;
    void *arg;
    uintptr_t priv[4];
} filch_task;

#define FILCH_TASK_INIT(function, argument)                                                        \
    {                                                                                              \
        (function), (argument),                                                                    \
        {                                                                                          \
            0, 0, 0, 0                                                                             \
        }                                                                                          \
    }

/* Submit `task`; nothing is allocated.
 * Threads: any.            Blocks: a foreign thread, while the injector is full.
 * Owns:    the pool holds `task` until its function or its end is called; keep it alive and
 *          unmoved until then. From then on the pool does not touch it: the function may free it
 *          or submit it again. `end` still gets `arg`: only one of the two may free that.
 * Fails:   "Queue errors" above, without FILCH_E_NOMEM. */
FILCH_API filch_status filch_submit(filch_pool *pool, filch_task *task,
                                    const filch_submit_options *options);

/* The label of the detached task that runs on this stack; NULL if it has none, or in a fork or loop
 * that this thread took over from another.
 * Threads: the one `cx` was given to. */
FILCH_API const char *filch_label(const filch_cx *cx);

FILCH_END_DECLS

#endif
