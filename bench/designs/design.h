/* SPDX-License-Identifier: MIT */
/* One interface over all the designs that are compared: Filch, plain calls, and what people build
 * where there is no stealing. A workload is written once against it, with the same cut-offs for
 * everybody. Tasks are intrusive: they lie in memory of the caller, so that no design allocates for
 * them. */
#ifndef FILCH_BENCH_DESIGN_H
#define FILCH_BENCH_DESIGN_H

#include <stddef.h>
#include <stdint.h>

typedef struct design design;

/* The thread a task runs on, and the design it belongs to. */
typedef struct design_cx {
    const design *on;
    void *lane;
} design_cx;

typedef void design_fn(const design_cx *cx, void *arg);

/* Set fn and arg; the rest is private. */
typedef struct design_task {
    design_fn *fn;
    void *arg;
    const design *on;
    uintptr_t priv[8];
} design_task;

/* How the pools of a design live. */
typedef struct design_life {
    /* 0 or an errno value; with fewer threads than asked for it fails. Serial ignores the number. */
    int (*start)(const design *on, unsigned threads, void **out_pool);
    /* Waits for what was posted. NULL does nothing. */
    void (*stop)(void *pool);

    /* Run a root and wait for it.   Threads: any of outside. */
    void (*run)(void *pool, design_task *root);

    /* Hand a task in that nobody joins; wait for all of them.   Threads: any of outside. */
    void (*post)(void *pool, design_task *task);
    void (*drain)(void *pool);

    /* Tasks that one thread took from another so far; 0 where that cannot be. */
    uint64_t (*steals)(const void *pool);
} design_life;

struct design {
    const char *name;
    const char *what; /* a sentence */
    const design_life *life;
    const void *policy; /* for `life` */

    /* Run two tasks, or `count` tasks that lie `stride` bytes apart, and return when they have run.
     * Threads: the one `cx` was given to. */
    void (*pair)(const design_cx *cx, design_task *a, design_task *b);
    void (*all)(const design_cx *cx, design_task *first, size_t stride, size_t count);
};

extern const design design_serial;
extern const design design_shared_queue;
extern const design design_lock_free_queue;
extern const design design_private_queues;
extern const design design_overflow_queue;
extern const design design_locked_deques;
extern const design design_static_partition;
extern const design design_master_worker;

static inline design_task *design_task_at(design_task *first, size_t stride, size_t i)
{
    return (design_task *)(void *)((char *)first + i * stride);
}

#endif
