/* SPDX-License-Identifier: MIT */
/* Detached tasks: handed to a pool from anywhere, run some time later, joined by nobody.
 *
 * A foreign thread's tasks go through a queue (bounded by queue_tasks of the configuration, about first
 * in first out over all submitters). A worker's own tasks go onto its deque: the worker takes the newest
 * first (oldest first with FILCH_POOL_FIFO), thieves the oldest. No order between tasks is promised
 * beyond that.
 *
 * Counting: every task is accepted (FILCH_OK) or refused (FILCH_E_CLOSED, FILCH_E_FULL,
 *          FILCH_E_TIMEOUT, FILCH_E_STOPPED, FILCH_E_CANCELLED, FILCH_E_NOMEM; misuse is not counted); every accepted
 *          task ends exactly once, as FILCH_RAN, FILCH_CANCELLED, FILCH_DROPPED or FILCH_LATE.
 * When full: queue_tasks tasks and roots of foreign threads have been accepted and not been started;
 *          where they wait, also with a worker that took several at once, makes no difference. Then
 *          the call, or else the pool, decides for a foreign thread:
 *          FILCH_FULL_BLOCK   waits until half is free, until `until` (FILCH_E_TIMEOUT), or until its
 *                             token is stopped (FILCH_E_STOPPED, with it also instead of running or
 *                             dropping); also if a shutdown begins meanwhile, it counts as accepted then. No
 *                             order among those who wait is promised.
 *          FILCH_FULL_REJECT  FILCH_E_FULL.
 *          FILCH_FULL_RUN     runs the task inside the call, on the calling thread, which no other
 *                             task interrupts; its forks run on the spot, its posts are a foreign
 *                             thread's. Waits, as FILCH_FULL_BLOCK, without memory for it;
 *                             FILCH_E_FULL while the pool is paused.
 *          FILCH_FULL_DROP_OLDEST  gives up what waits longest, roots included (filch_run then
 *                             returns FILCH_E_CANCELLED), until there is room. Its end is called
 *                             with FILCH_DROPPED, on the calling thread, before the call returns. What
 *                             has started is never dropped, nor are workers' own tasks. Exactly
 *                             oldest first if no worker takes tasks meanwhile; else nearly.
 *          A foreign thread that is inside the pool already (in a body of a loop, a task that runs in
 *          its caller, the end of a dropped task) waits instead of running or dropping.
 *          Roots always wait. A worker of the pool never does: a worker with own_tasks tasks, or whose
 *          deque cannot grow, runs the task inside the call; FILCH_E_FULL if it may not: less than a
 *          quarter of its stack is left, the pool is paused, or the call comes from inside the body of
 *          a loop. A hook of the pool is a foreign thread here, and must not wait.
 * Order:   writes before the call are visible to the task.
 * Queue errors: FILCH_E_CLOSED (shutdown began; a task may still post to its own draining pool),
 *          FILCH_E_FULL, FILCH_E_TIMEOUT, FILCH_E_STOPPED (only as above), FILCH_E_CANCELLED (the group
 *          was cancelled), FILCH_E_INVALID, FILCH_E_FORKED;
 *          FILCH_E_NOMEM as said. The arguments are then untouched and `end` is not called. */
#ifndef FILCH_TASK_H
#define FILCH_TASK_H

#include <filch/base.h>

FILCH_BEGIN_DECLS

/* How a task ended. */
typedef enum filch_end {
    FILCH_RAN = 1,       /* its function has returned */
    FILCH_CANCELLED = 2, /* it was never started */
    FILCH_DROPPED = 3,   /* never started, and given up for a newer one: FILCH_FULL_DROP_OLDEST */
    FILCH_LATE = 4 /* never started: its start_by had passed. Counted as cancelled, and apart */
} filch_end;

/* Called exactly once for each accepted task, on the thread that ran or dropped it, after its last use
 * of `data`. It is part of the task: it may post, and the pool is not quiet before it has returned. */
typedef void filch_end_fn(void *data, filch_end how);

typedef struct filch_group filch_group; /* tasks that end together: below */

/* An "Options struct" (base.h); copied, it need not outlive the call. */
typedef struct filch_submit_options {
    size_t size;
    unsigned flags;     /* none yet */
    const char *label;  /* a name for people; must outlive the task; see filch_label */
    filch_end_fn *end;  /* NULL: nothing to clean up */
    filch_full full;    /* when the queue is full; 0: what the pool says */
    filch_time until;   /* to wait for room at most; 0: no deadline */
    filch_token *stop;  /* NULL: none. Stopped before the task starts it ends as FILCH_CANCELLED;
                          stopped while the call waits for room: FILCH_E_STOPPED. It outlives the
                          task, up to its end */
    filch_group *group; /* of this pool; NULL: none */
    filch_time
        start_by; /* 0: none. Who would start the task later ends it as FILCH_LATE; the call itself
                          waits for room no longer than that, and gets FILCH_E_TIMEOUT if it has
                          passed already */
    uintptr_t reserved[3];
} filch_submit_options;

#define FILCH_SUBMIT_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(filch_submit_options), 0, NULL, NULL, FILCH_FULL_DEFAULT, 0, NULL, NULL, 0,         \
        {                                                                                          \
            0, 0, 0                                                                                \
        }                                                                                          \
    }

/* Tasks a worker's deque holds, at about 160 bytes each. */
#define FILCH_MAX_OWN_TASKS ((size_t)1 << 20)

/* Up to this many bytes, half of it with a token, a group or a start_by, a post allocates nothing (a worker's, or one
 * to a group: nothing once the pool is warm). */
#define FILCH_POST_INLINE_BYTES 64u

/* Post `fn` with a copy of `bytes` bytes at `data`: the task gets a pointer to the copy, aligned
 * for any object and valid until `end` has returned. With `bytes` 0 nothing is copied and the task
 * gets `data` itself.
 * Threads: any.            Blocks: a foreign thread, "When full" above.
 * Fails:   "Queue errors" above; FILCH_E_NOMEM (bytes above FILCH_POST_INLINE_BYTES, or a group). */
FILCH_API filch_status filch_post(filch_pool *pool, filch_fn *fn, const void *data, size_t bytes,
                                  const filch_submit_options *options);

/* A task in memory of the caller. Set fn and arg; the rest is private. */
typedef struct filch_task {
    filch_fn *fn;
    void *arg;
    uintptr_t priv[6];
} filch_task;

#define FILCH_TASK_INIT(function, argument)                                                        \
    {                                                                                              \
        (function), (argument),                                                                    \
        {                                                                                          \
            0, 0, 0, 0, 0, 0                                                                       \
        }                                                                                          \
    }

/* Submit `task`; nothing is allocated.
 * Threads: any.            Blocks: a foreign thread, "When full" above.
 * Owns:    the pool holds `task` until its function or its end is called; keep it alive and
 *          unmoved until then. From then on the pool does not touch it: the function may free it
 *          or submit it again. `end` still gets `arg`: only one of the two may free that.
 * Fails:   "Queue errors" above, without FILCH_E_NOMEM. */
FILCH_API filch_status filch_submit(filch_pool *pool, filch_task *task,
                                    const filch_submit_options *options);

/* Submit `count` tasks in the order of the array, as by filch_submit; a foreign thread enters the pool
 * and looks for sleepers once for each sixteen of them. A prefix is accepted: the first *out_accepted
 * tasks (NULL: not asked for), and the rest is not touched. FILCH_OK: all. Each counts as accepted or
 * refused, and finds the queue full, by itself; `until` is for all together. They become visible to
 * workers while the call goes on.
 * Threads: any.            Blocks: a foreign thread, "When full" above.
 * Owns:    as filch_submit; the array is the caller's again on return.
 * Fails:   as filch_submit, *out_accepted is then less than `count`; FILCH_E_INVALID (also a NULL in
 *          the array; nothing is accepted, *out_accepted is untouched). */
FILCH_API filch_status filch_submit_many(filch_pool *pool, filch_task *const *tasks, size_t count,
                                         const filch_submit_options *options, size_t *out_accepted);

/* Groups: detached tasks that are waited for or cancelled together; at any time, as often as one likes.
 * A task that is posted to a group waits in the group itself until it starts, first in first out. Workers
 * take from the queue and from each of the groups in turns; a worker that waits for a group runs the tasks
 * of that group, no others, and sleeps when all have started. So tasks can wait for groups of their own, in
 * any depth, with one worker too.
 *   room      "When full" holds for each group by itself: it is full for a foreign thread when queue_tasks
 *             of its tasks wait, for a worker with own_tasks. A drop takes the oldest task of the group.
 *   isolated  a task of a group runs isolated (fork.h), what it forks too; so a task that it posts is
 *             refused, not run inside the post, when there is no room.
 *   failure   is what filch_fail says of a task; FILCH_E_CANCELLED of one that never ran,
 *             FILCH_E_TIMEOUT if it was late. A round begins
 *             with the first post after a wait has returned FILCH_OK; its first failure is kept.
 *   cancelled until the next round posts get FILCH_E_CANCELLED; tasks that run can ask: filch_stopped. */
#define FILCH_GROUP_FAIL_FAST 1u /* the first failure cancels the group */

/* An "Options struct" (base.h). */
typedef struct filch_group_config {
    size_t size;
    unsigned flags;
    uintptr_t reserved[2];
} filch_group_config;

#define FILCH_GROUP_CONFIG_INIT                                                                    \
    {                                                                                              \
        sizeof(filch_group_config), 0,                                                             \
        {                                                                                          \
            0, 0                                                                                   \
        }                                                                                          \
    }

/* Create a group of the pool, NULL for all defaults. A pool with groups is not destroyed.
 * Threads: any.   Owns: the caller destroys it.
 * Fails:   FILCH_E_INVALID, FILCH_E_NOMEM, FILCH_E_FORKED. */
FILCH_API filch_status filch_group_create(filch_pool *pool, const filch_group_config *config,
                                          filch_group **out_group);

/* Wait until no task of the group is pending; *out_first (NULL: not asked for) is the first failure of the
 * round, or FILCH_OK. NULL `stop`: no token. Several may wait; each returns when the group has been
 * without tasks since its call.
 * Threads: any.            Blocks: until `until`; a worker runs tasks of the group meanwhile.
 * Order:   what the tasks wrote is visible to the caller when it returns FILCH_OK.
 * Fails:   FILCH_E_TIMEOUT, FILCH_E_STOPPED, FILCH_E_INVALID, FILCH_E_NOMEM, FILCH_E_FORKED;
 *          FILCH_E_ON_WORKER: a task of the group runs on this stack, or the caller is a foreign thread
 *          inside the pool (a body of a loop, an end, a hook). */
FILCH_API filch_status filch_group_wait(filch_group *group, filch_time until, filch_token *stop,
                                        filch_status *out_first);

/* Cancel: tasks that have not started end as FILCH_CANCELLED before the call returns, on the calling
 * thread; *out_cancelled (or NULL) is their number. Those that run go on.
 * Threads: any, tasks of the group too.   Fails: FILCH_E_INVALID, FILCH_E_FORKED. */
FILCH_API filch_status filch_group_cancel(filch_group *group, size_t *out_cancelled);

/* Free it; NULL is FILCH_OK.
 * Threads: any; no other thread begins a call with it now. It may end as soon as its last task has.
 * Fails:   FILCH_E_BUSY (a task is pending, somebody waits for it or for room in it): still alive. */
FILCH_API filch_status filch_group_destroy(filch_group *group);

/* The task that runs on this stack fails with `status`, any but FILCH_OK; of several calls the first
 * counts. The task goes on.
 * Threads: the one `cx` was given to.
 * Fails:   FILCH_E_INVALID (also if it is no task of a group; in a fork or loop that this thread took
 *          over from another). */
FILCH_API filch_status filch_fail(filch_cx *cx, filch_status status);

/* Tokens: a flag that asks work to stop, for whoever looks; what waits with it wakes. It belongs to no
 * pool. A stop is for good, and stops the children too, those that are made later included. A child may
 * be destroyed before its parent is, never after it. Tasks and waits with a token end by themselves:
 * nothing is interrupted.
 *
 * Create a token, a child if `parent` is not NULL; a NULL allocator is libc's.
 * Threads: any.   Owns: the caller destroys it.
 * Fails:   FILCH_E_INVALID, FILCH_E_NOMEM, FILCH_E_FORKED (the parent is from before a fork). */
FILCH_API filch_status filch_token_create(filch_token *parent, const filch_allocator *allocator,
                                          filch_token **out_token);

/* Stop it, and wake all that wait with it or with a child; again: nothing more happens.
 * Threads: any, tasks too.   Order: writes before the call are visible to who sees it stopped.
 * Fails:   FILCH_E_INVALID, FILCH_E_FORKED. */
FILCH_API filch_status filch_token_stop(filch_token *token);

/* Is it stopped? One load. 0 for NULL.  Threads: any. */
FILCH_API int filch_token_stopped(const filch_token *token);

/* Free it; NULL is FILCH_OK. No task that was posted with it may be left.
 * Threads: any; no other thread uses it during this call, but its parent may be stopped.
 * Fails:   FILCH_E_BUSY (it has children, or somebody waits with it): still alive. */
FILCH_API filch_status filch_token_destroy(filch_token *token);

/* Is the token of the detached task that runs on this stack stopped, or its group cancelled? As with
 * its label, 0 in a fork or loop that this thread took over from another: hand the token itself to
 * those.
 * Threads: the one `cx` was given to. */
FILCH_API int filch_stopped(const filch_cx *cx);

/* The label of the detached task that runs on this stack; NULL if it has none, or in a fork or loop
 * that this thread took over from another.
 * Threads: the one `cx` was given to. */
FILCH_API const char *filch_label(const filch_cx *cx);

FILCH_END_DECLS

#endif
