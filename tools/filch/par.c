/* SPDX-License-Identifier: MIT */
/* The three contestants behind par.h.
 *
 * A pair is one fork (its first half runs in the caller), `all` is as many as there are tasks, for
 * both pools alike. Forks are counted here, per thread, since Filch does not count a fork that
 * nobody stole; one increment of a thread's own cache line is the same for everybody. */
#define _POSIX_C_SOURCE 200809L

#include "par.h"

#include <stdlib.h>
#include <string.h>

#include <filch/fork.h>
#include <filch/stats.h>

static par_task *task_at(par_task *first, size_t stride, size_t i)
{
    return (par_task *)((char *)first + i * stride);
}

/* ---- serial: plain calls ---- */

static void serial_pair(const par *p, par_task *a, par_task *b)
{
    a->fn(p, a);
    b->fn(p, b);
}

static void serial_all(const par *p, par_task *first, size_t stride, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        par_task *const task = task_at(first, stride, i);
        task->fn(p, task);
    }
}

/* ---- one shared queue ---- */

static void run_from_queue(sharedq_cx *cx, void *arg)
{
    par_task *const task = arg;
    const par p = { task->on, cx };
    task->fn(&p, task);
}

static void fork_to_queue(const par *p, sharedq_group *group, par_task *task)
{
    task->on = p->on;
    task->node.fn = run_from_queue;
    task->node.arg = task;
    sharedq_fork(p->cx, group, &task->node);
}

static void queue_pair(const par *p, par_task *a, par_task *b)
{
    p->on->counts[sharedq_cx_thread(p->cx)].forks++;
    sharedq_group group;
    sharedq_group_begin(&group);
    fork_to_queue(p, &group, b);
    a->fn(p, a);
    sharedq_wait(p->cx, &group);
}

static void queue_all(const par *p, par_task *first, size_t stride, size_t count)
{
    p->on->counts[sharedq_cx_thread(p->cx)].forks += count;
    sharedq_group group;
    sharedq_group_begin(&group);
    for (size_t i = 0; i < count; i++) {
        fork_to_queue(p, &group, task_at(first, stride, i));
    }
    sharedq_wait(p->cx, &group);
}

/* ---- stealing: Filch ---- */

static void run_from_filch(filch_cx *cx, void *arg)
{
    par_task *const task = arg;
    const par p = { task->on, cx };
    task->fn(&p, task);
}

static void filch_pair_of_tasks(const par *p, par_task *a, par_task *b)
{
    p->on->counts[filch_cx_worker(p->cx)].forks++;
    a->on = p->on;
    b->on = p->on;
    filch_join2(p->cx, run_from_filch, a, run_from_filch, b);
}

static void filch_all_tasks(const par *p, par_task *first, size_t stride, size_t count)
{
    p->on->counts[filch_cx_worker(p->cx)].forks += count;
    filch_scope scope;
    filch_scope_begin(p->cx, &scope);
    for (size_t i = 0; i < count; i++) {
        par_task *const task = task_at(first, stride, i);
        task->on = p->on;
        filch_spawn(p->cx, &scope, run_from_filch, task);
    }
    filch_scope_end(p->cx, &scope);
}

/* ---- for the jobs ---- */

void par_pair(const par *p, par_task *a, par_task *b)
{
    p->on->pair(p, a, b);
}

void par_all(const par *p, par_task *first, size_t stride, size_t count)
{
    if (count == 1) {
        first->fn(p, first); /* nothing to run beside it */
    } else if (count > 1) {
        p->on->all(p, first, stride, count);
    }
}

/* ---- for the demo ---- */

static const char *open_pools(unsigned workers, filch_pool **out_pool, sharedq **out_queue)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = workers;
    const filch_status status = filch_pool_create(&config, out_pool);
    if (status != FILCH_OK) {
        return filch_strerror(status);
    }
    const unsigned threads = filch_pool_workers(*out_pool);
    const int error = sharedq_create(threads, out_queue);
    if (error != 0) {
        return strerror(error);
    }
    return sharedq_threads(*out_queue) == threads ? NULL : "too few threads for the shared queue";
}

const char *par_open(unsigned workers, par_contestant out_contestants[PAR_CONTESTANTS])
{
    filch_pool *pool = NULL;
    sharedq *queue = NULL;
    const char *problem = open_pools(workers, &pool, &queue);
    const unsigned started = pool != NULL ? filch_pool_workers(pool) : 1;
    par_count *const of_queue = aligned_alloc(64, started * sizeof(par_count));
    par_count *const of_pool = aligned_alloc(64, started * sizeof(par_count));
    out_contestants[PAR_SERIAL] =
        (par_contestant){ .name = "serial", .pair = serial_pair, .all = serial_all, .workers = 1 };
    out_contestants[PAR_SHARED_QUEUE] = (par_contestant){ .name = "shared queue",
                                                          .pair = queue_pair,
                                                          .all = queue_all,
                                                          .workers = started,
                                                          .queue = queue,
                                                          .counts = of_queue };
    out_contestants[PAR_STEALING] = (par_contestant){ .name = "stealing",
                                                      .pair = filch_pair_of_tasks,
                                                      .all = filch_all_tasks,
                                                      .workers = started,
                                                      .pool = pool,
                                                      .counts = of_pool };
    if (problem == NULL && (of_queue == NULL || of_pool == NULL)) {
        problem = filch_strerror(FILCH_E_NOMEM);
    }
    if (problem != NULL) {
        par_close(out_contestants);
        return problem;
    }
    memset(of_queue, 0, started * sizeof *of_queue);
    memset(of_pool, 0, started * sizeof *of_pool);
    return NULL;
}

void par_close(par_contestant contestants[PAR_CONTESTANTS])
{
    for (int i = 0; i < PAR_CONTESTANTS; i++) {
        sharedq_destroy(contestants[i].queue);
        (void)filch_pool_destroy(contestants[i].pool);
        free(contestants[i].counts);
    }
}

bool par_run(par_contestant *on, par_task *root)
{
    root->on = on;
    if (on->pool != NULL) {
        return filch_run(on->pool, run_from_filch, root) == FILCH_OK;
    }
    if (on->queue != NULL) {
        sharedq_run(on->queue, run_from_queue, root);
        return true;
    }
    const par p = { on, NULL };
    root->fn(&p, root);
    return true;
}

uint64_t par_take_forks(par_contestant *on)
{
    uint64_t forks = 0;
    for (unsigned i = 0; on->counts != NULL && i < on->workers; i++) {
        forks += on->counts[i].forks;
        on->counts[i].forks = 0;
    }
    return forks;
}

uint64_t par_steals(const par_contestant *on)
{
    filch_stats stats = FILCH_STATS_INIT;
    if (on->pool == NULL || filch_pool_wait_quiet(on->pool, FILCH_FOREVER) != FILCH_OK ||
        filch_stats_read(on->pool, &stats) != FILCH_OK) {
        return 0;
    }
    return stats.total.steals_won;
}
