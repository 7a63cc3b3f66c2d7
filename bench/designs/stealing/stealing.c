/* SPDX-License-Identifier: MIT */
/* Filch as a design: a pair is filch_join2, `all` a scope, a posted task filch_submit. */
#include "bench/designs/stealing/stealing.h"

#include <errno.h>
#include <stdlib.h>

#include <filch/filch.h>

/* Nothing can refuse below: the pool is open, and the calls come from where they may. */
static void expect(filch_status status)
{
    if (status != FILCH_OK) {
        abort();
    }
}

static void run_task(filch_cx *cx, void *arg)
{
    const design_task *const task = arg;
    const design_cx here = { task->on, cx };
    task->fn(&here, task->arg);
}

static void pair(const design_cx *cx, design_task *a, design_task *b)
{
    a->on = cx->on;
    b->on = cx->on;
    filch_join2(cx->lane, run_task, a, run_task, b);
}

static void all(const design_cx *cx, design_task *first, size_t stride, size_t count)
{
    filch_scope scope;
    filch_scope_begin(cx->lane, &scope);
    for (size_t i = 0; i < count; i++) {
        design_task *const task = design_task_at(first, stride, i);
        task->on = cx->on;
        filch_spawn(cx->lane, &scope, run_task, task);
    }
    filch_scope_end(cx->lane, &scope);
}

static int start(const design *on, unsigned threads, void **out_pool)
{
    (void)on;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_pool *pool = NULL;
    config.workers = threads;
    const filch_status status = filch_pool_create(&config, &pool);
    if (status != FILCH_OK) {
        return status == FILCH_E_NOMEM ? ENOMEM : status == FILCH_E_INVALID ? EINVAL : EAGAIN;
    }
    if (filch_pool_workers(pool) != threads) {
        expect(filch_pool_destroy(pool));
        return EAGAIN;
    }
    *out_pool = pool;
    return 0;
}

static void stop(void *pool)
{
    expect(filch_pool_destroy(pool));
}

static void run(void *pool, design_task *root)
{
    root->on = &design_stealing;
    expect(filch_run(pool, run_task, root));
}

static void post(void *pool, design_task *task)
{
    _Static_assert(sizeof(filch_task) <= sizeof task->priv, "a task of the pool fits");
    filch_task *const node = (filch_task *)(void *)task->priv;
    task->on = &design_stealing;
    *node = (filch_task)FILCH_TASK_INIT(run_task, task);
    expect(filch_submit(pool, node, NULL));
}

static void drain(void *pool)
{
    expect(filch_pool_wait_quiet(pool, FILCH_FOREVER));
}

static uint64_t steals(const void *pool)
{
    filch_stats stats = FILCH_STATS_INIT;
    expect(filch_stats_read(pool, &stats));
    return stats.total.steals_won;
}

static const design_life life = {
    .start = start, .stop = stop, .run = run, .post = post, .drain = drain, .steals = steals
};

const design design_stealing = {
    .name = "stealing",
    .what = "a deque per worker, idle workers steal the oldest task",
    .life = &life,
    .pair = pair,
    .all = all,
};
