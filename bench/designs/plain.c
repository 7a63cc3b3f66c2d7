/* SPDX-License-Identifier: MIT */
/* The two ends behind the interface: plain calls, and the shared queue of sharedqueue.h. */
#include "bench/designs/design.h"
#include "bench/designs/sharedqueue.h"

/* Plain calls. */

static int serial_start(const design *on, unsigned threads, void **out_pool)
{
    (void)on;
    (void)threads;
    *out_pool = NULL;
    return 0;
}

static void serial_stop(void *pool)
{
    (void)pool;
}

static void serial_run(void *pool, design_task *root)
{
    const design_cx here = { &design_serial, pool };
    root->fn(&here, root->arg);
}

static void serial_pair(const design_cx *cx, design_task *a, design_task *b)
{
    a->fn(cx, a->arg);
    b->fn(cx, b->arg);
}

static void serial_all(const design_cx *cx, design_task *first, size_t stride, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        design_task *task = design_task_at(first, stride, i);
        task->fn(cx, task->arg);
    }
}

static void serial_drain(void *pool)
{
    (void)pool;
}

static uint64_t no_steals(const void *pool)
{
    (void)pool;
    return 0;
}

static const design_life serial_life = { .start = serial_start,
                                         .stop = serial_stop,
                                         .run = serial_run,
                                         .post = serial_run,
                                         .drain = serial_drain,
                                         .steals = no_steals };

const design design_serial = { .name = "serial",
                               .what = "plain calls on one thread",
                               .life = &serial_life,
                               .pair = serial_pair,
                               .all = serial_all };

/* One shared queue. */

_Static_assert(sizeof(sharedq_task) <= sizeof(((design_task *)0)->priv), "no room in a task");

static void run_task(sharedq_cx *cx, void *arg)
{
    const design_task *task = arg;
    const design_cx here = { &design_shared_queue, cx };
    task->fn(&here, task->arg);
}

static sharedq_task *node_of(design_task *task)
{
    sharedq_task *node = (sharedq_task *)(void *)task->priv;
    *node = (sharedq_task){ .fn = run_task, .arg = task };
    return node;
}

static int queue_start(const design *on, unsigned threads, void **out_pool)
{
    (void)on;
    sharedq *pool = NULL;
    const int error = sharedq_create(threads, &pool);
    *out_pool = pool;
    return error;
}

static void queue_stop(void *pool)
{
    sharedq_destroy(pool);
}

static void queue_run(void *pool, design_task *root)
{
    sharedq_run(pool, run_task, root);
}

static void queue_pair(const design_cx *cx, design_task *a, design_task *b)
{
    sharedq_group group;
    sharedq_group_begin(&group);
    sharedq_fork(cx->lane, &group, node_of(b));
    a->fn(cx, a->arg);
    sharedq_wait(cx->lane, &group);
}

static void queue_all(const design_cx *cx, design_task *first, size_t stride, size_t count)
{
    sharedq_group group;
    sharedq_group_begin(&group);
    for (size_t i = 0; i < count; i++) {
        sharedq_fork(cx->lane, &group, node_of(design_task_at(first, stride, i)));
    }
    sharedq_wait(cx->lane, &group);
}

static void queue_post(void *pool, design_task *task)
{
    sharedq_submit(pool, node_of(task));
}

static void queue_drain(void *pool)
{
    sharedq_drain(pool);
}

static const design_life queue_life = { .start = queue_start,
                                        .stop = queue_stop,
                                        .run = queue_run,
                                        .post = queue_post,
                                        .drain = queue_drain,
                                        .steals = no_steals };

const design design_shared_queue = { .name = "shared queue",
                                     .what = "one queue with a mutex and condition variables",
                                     .life = &queue_life,
                                     .pair = queue_pair,
                                     .all = queue_all };
