/* SPDX-License-Identifier: MIT */
/* Where the jobs of the demo run: one interface, three contestants.
 *
 * A job is written once, as a recursion over tasks, and each contestant runs the same code with the
 * same cut-offs: `serial` by plain calls, `shared queue` on bench/designs, `stealing` on Filch. A
 * task is intrusive: it is the first member of a struct that holds its arguments and results, in
 * the caller's frame, so that no contestant has to allocate. */
#ifndef FILCH_TOOLS_PAR_H
#define FILCH_TOOLS_PAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <filch/pool.h>

#include "bench/designs/sharedqueue.h"

enum { PAR_SERIAL, PAR_SHARED_QUEUE, PAR_STEALING, PAR_CONTESTANTS };

typedef struct par_contestant par_contestant;

/* The contestant and the thread a task runs on. */
typedef struct par {
    par_contestant *on;
    void *cx;
} par;

typedef struct par_task par_task;
typedef void par_fn(const par *p, par_task *self);

/* Set fn; the rest is private. */
struct par_task {
    par_fn *fn;
    par_contestant *on;
    sharedq_task node;
};

/* Forks made by one thread. Threads write their own only; a cache line each. */
typedef struct par_count {
    _Alignas(64) uint64_t forks;
} par_count;

struct par_contestant {
    const char *name;
    void (*pair)(const par *p, par_task *a, par_task *b);
    void (*all)(const par *p, par_task *first, size_t stride, size_t count);
    unsigned workers;
    filch_pool *pool;
    sharedq *queue;
    par_count *counts; /* workers of them */
};

/* Run two tasks, or `count` tasks that lie `stride` bytes apart; return when they have run. */
void par_pair(const par *p, par_task *a, par_task *b);
void par_all(const par *p, par_task *first, size_t stride, size_t count);

/* Start all contestants; Filch and the shared queue get the same number of threads: `workers`, or
 * one a CPU if it is 0, or what could be started. Returns NULL, or what went wrong. */
const char *par_open(unsigned workers, par_contestant out_contestants[PAR_CONTESTANTS]);
void par_close(par_contestant contestants[PAR_CONTESTANTS]);

/* Run a root task; false if the pool refused it. */
bool par_run(par_contestant *on, par_task *root);

/* Forks since the last call; steals since the pool was made. Only between runs. */
uint64_t par_take_forks(par_contestant *on);
uint64_t par_steals(const par_contestant *on);

#endif
