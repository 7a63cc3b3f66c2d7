/* SPDX-License-Identifier: MIT */
/* One shared queue: the design that stealing replaces, built as well as it can be.
 *
 * A fixed set of threads, one queue, one mutex. Nodes are intrusive, so no call allocates; a thread
 * is signalled only when one sleeps, the last one to fall asleep first, and after the mutex is
 * free. An idle thread takes the oldest task, which in a recursion is the largest. A thread that
 * waits for a group runs the tasks of this group that nobody has started, newest first, then helps
 * with the newest of the queue, and only then sleeps: waiting nests without deadlock.
 *
 * Used by the demo and by the benchmarks as a contestant; not part of the library. Every word is
 * protected by the mutex: there is no lock-free part to get wrong. */
#ifndef FILCH_BENCH_SHAREDQUEUE_H
#define FILCH_BENCH_SHAREDQUEUE_H

#include <stddef.h>
#include <stdint.h>

typedef struct sharedq sharedq;

/* The thread a task runs on; every task gets it, and hands it to what it calls. */
typedef struct sharedq_cx sharedq_cx;

typedef void sharedq_fn(sharedq_cx *cx, void *arg);

typedef struct sharedq_link {
    struct sharedq_link *next;
    struct sharedq_link *prev;
} sharedq_link;

/* Tasks that are waited for together; lives in the caller's frame. All private. */
typedef struct sharedq_group {
    sharedq_link unstarted;
    size_t pending;
    sharedq_cx *waiter;
} sharedq_group;

/* A task in memory of the caller. Set fn and arg; the rest is private. */
typedef struct sharedq_task {
    sharedq_fn *fn;
    void *arg;
    sharedq_group *group;
    sharedq_link in_queue;
    sharedq_link in_group;
} sharedq_task;

/* Start a pool of `threads` threads. Returns 0 or an errno value; with fewer threads than asked for
 * it succeeds as long as there is one.   Threads: any. */
int sharedq_create(unsigned threads, sharedq **out_pool);

/* Wait for all submitted tasks, stop the threads, free the pool. NULL does nothing.
 * Threads: one of outside; nobody may use the pool during this call or after it. */
void sharedq_destroy(sharedq *pool);

/* Threads there are.   Threads: any. */
unsigned sharedq_threads(const sharedq *pool);

/* Run `fn` on a thread of the pool and wait for it.   Threads: any of outside. */
void sharedq_run(sharedq *pool, sharedq_fn *fn, void *arg);

/* Queue a task that nobody waits for; the node may be used again once `fn` was called.
 * Threads: any. */
void sharedq_submit(sharedq *pool, sharedq_task *task);

/* Wait until every submitted task has run.   Threads: any of outside. */
void sharedq_drain(sharedq *pool);

/* Begin a group, add tasks to it, wait for all of them. Nodes must stay alive until the wait has
 * returned.   Threads: the one `cx` was given to. */
void sharedq_group_begin(sharedq_group *group);
void sharedq_fork(sharedq_cx *cx, sharedq_group *group, sharedq_task *task);
void sharedq_wait(sharedq_cx *cx, sharedq_group *group);

/* The number of the thread, 0 to threads - 1.   Threads: the one `cx` was given to. */
unsigned sharedq_cx_thread(const sharedq_cx *cx);

#endif
