/* SPDX-License-Identifier: MIT */
/* The end of every detached task: run or cancelled, cleaned up once, off the account. */
#include "core/job.h"

#include "base/alloc.h"
#include "core/abandon.h"
#include "core/group.h"
#include "core/pool.h"
#include "core/timing.h"
#include "core/worker.h"
#include "sync/token.h"

enum {
    KEPT_NODES = 64,    /* a worker keeps */
    BATCH_NODES = 32,   /* move between worker and pool */
    SPARE_NODES = 16384 /* a pool keeps; about 2 MiB */
};

static void list_push(filchi_node_list *list, filchi_job_node *node)
{
    node->next = list->first;
    list->first = node;
    list->count++;
}

static filchi_job_node *list_pop(filchi_node_list *list)
{
    filchi_job_node *node = list->first;
    if (node != NULL) {
        list->first = node->next;
        list->count--;
    }
    return node;
}

static void move_nodes(filchi_node_list *to, filchi_node_list *from)
{
    for (int i = 0; i < BATCH_NODES && from->first != NULL; i++) {
        list_push(to, list_pop(from));
    }
}

filchi_job_node *filchi_job_node_get(filchi_worker *worker)
{
    filch_pool *pool = worker->lane.pool;
    if (worker->nodes.first == NULL) {
        filchi_mutex_lock(&pool->nodes.lock);
        move_nodes(&worker->nodes, &pool->nodes.spare);
        filchi_mutex_unlock(&pool->nodes.lock);
    }
    filchi_job_node *node = list_pop(&worker->nodes);
    return node != NULL ? node : filchi_alloc_small(&pool->config.allocator, sizeof(*node));
}

void filchi_job_node_put(filchi_worker *worker, filchi_job_node *node)
{
    filch_pool *pool = worker->lane.pool;
    list_push(&worker->nodes, node);
    if (worker->nodes.count <= KEPT_NODES) {
        return;
    }
    filchi_mutex_lock(&pool->nodes.lock);
    const bool room = pool->nodes.spare.count < SPARE_NODES;
    if (room) {
        move_nodes(&pool->nodes.spare, &worker->nodes);
    }
    filchi_mutex_unlock(&pool->nodes.lock);
    if (!room) {
        filchi_node_list surplus = { NULL, 0 };
        move_nodes(&surplus, &worker->nodes);
        filchi_job_nodes_free(&surplus, &pool->config.allocator);
    }
}

filchi_job_node *filchi_job_node_find(filch_pool *pool)
{
    filchi_mutex_lock(&pool->nodes.lock);
    filchi_job_node *node = list_pop(&pool->nodes.spare);
    filchi_mutex_unlock(&pool->nodes.lock);
    return node != NULL ? node : filchi_alloc_small(&pool->config.allocator, sizeof(*node));
}

void filchi_job_node_discard(filch_pool *pool, filchi_job_node *node)
{
    filchi_mutex_lock(&pool->nodes.lock);
    const bool room = pool->nodes.spare.count < SPARE_NODES;
    if (room) {
        list_push(&pool->nodes.spare, node);
    }
    filchi_mutex_unlock(&pool->nodes.lock);
    if (!room) {
        filchi_free(&pool->config.allocator, node, sizeof(*node));
    }
}

void filchi_job_nodes_free(filchi_node_list *list, const filch_allocator *allocator)
{
    filchi_job_node *node = list_pop(list);
    while (node != NULL) {
        filchi_free(allocator, node, sizeof(*node));
        node = list_pop(list);
    }
}

static void *arg_of(filchi_job *job)
{
    return (job->kind & FILCHI_JOB_INLINE) != 0 ? job->data : job->arg;
}

static void run_fn(filch_cx *cx, filchi_job *job)
{
    filchi_lane *lane = filchi_lane_of(cx);
    const filchi_job *outer = lane->running;
    const uint32_t call = filchi_call_begin(cx);
    lane->running = job;
    job->fn(cx, arg_of(job));
    lane->running = outer;
    filchi_call_end(cx, call);
}

void filchi_job_end(filch_pool *pool, filchi_job *job, filch_end how)
{
    if (job->end != NULL) {
        job->end(arg_of(job), how);
    }
    if ((job->kind & FILCHI_JOB_HEAP) != 0) {
        filchi_free(&pool->config.allocator, job->arg, job->heap_bytes);
    }
}

void filchi_job_run_nested(filch_cx *cx, void *job)
{
    run_fn(cx, job);
}

void filchi_job_run_as_guest(filch_cx *cx, filchi_job *job)
{
    run_fn(cx, job);
    filchi_job_end(filchi_lane_of(cx)->pool, job, FILCH_RAN);
}

static bool stopped(const filchi_job *job)
{
    return (job->kind & FILCHI_JOB_MORE) != 0 && filchi_token_stopped(job->more.stop);
}

static bool late(const filchi_job *job)
{
    return (job->kind & FILCHI_JOB_MORE) != 0 && filchi_too_late(job->more.start_by);
}

/* For those that run: who cancels a group counts what it has taken from it, and what was taken before
 * is started. */
static bool group_cancelled(const filchi_job *job)
{
    /* relaxed: a hint; the task keeps its group */
    return (job->kind & FILCHI_JOB_MORE) != 0 && job->more.group != NULL &&
           filchi_load_relaxed_u32(&job->more.group->cancelled) != 0;
}

int filch_stopped(const filch_cx *cx)
{
    const filchi_job *job = cx != NULL ? filchi_lane_of(cx)->running : NULL;
    return job != NULL && (stopped(job) || group_cancelled(job));
}

const char *filch_label(const filch_cx *cx)
{
    const filchi_job *job = cx != NULL ? filchi_lane_of(cx)->running : NULL;
    return job != NULL ? job->label : NULL;
}

/* All but the worker's count, which is the pool's account of it. The owner of a filch_task may free it
 * as soon as its function or its end is called: nothing here reads it. */
filch_end filchi_job_finish(filch_cx *cx, filchi_job *job)
{
    const filchi_lane *lane = filchi_lane_of(cx);
    const bool cancelled = filchi_pool_cancelling(lane->pool) || stopped(job);
    const filch_end how = cancelled ? FILCH_CANCELLED : late(job) ? FILCH_LATE : FILCH_RAN;
    const char *outer = filchi_abandon_began(lane->worker, job->label);
    if (how == FILCH_RAN) {
        const filchi_timing timing = filchi_timing_begin(cx);
        run_fn(cx, job);
        filchi_timing_end(cx, timing);
    }
    filchi_job_end(lane->pool, job, how);
    filchi_abandon_ended(lane->worker, outer);
    return how;
}

void filchi_job_count(filchi_worker *worker, filch_end how)
{
    filchi_atomic_u64 *count =
        &worker->counters.values[how == FILCH_RAN ? FILCHI_COUNT_RUN : FILCHI_COUNT_CANCELLED];
    if (how == FILCH_LATE) {
        filchi_counters_add(&worker->counters, FILCHI_COUNT_LATE);
    }
    /* [QUIET-6] release, pairs with QUIET-3, QUIET-7: what the task wrote, and that it was accepted.
     * relaxed: our own */
    filchi_store_release_u64(count, filchi_load_relaxed_u64(count) + 1);
}

static void run_and_count(filch_cx *cx, filchi_job *job)
{
    filchi_job_count(filchi_lane_of(cx)->worker, filchi_job_finish(cx, job));
}

void filchi_job_run(filch_cx *cx, void *job)
{
    run_and_count(cx, job);
}

void filchi_job_node_run(filch_cx *cx, void *object)
{
    filchi_job_node *node = object;
    run_and_count(cx, &node->job);
    filchi_job_node_put(filchi_lane_of(cx)->worker, node);
}

static uint32_t kind_with(const filchi_job_more *more)
{
    return more->stop != NULL || more->group != NULL || more->start_by != 0 ? FILCHI_JOB_MORE
                                                                            : FILCHI_JOB_POINTER;
}

void filchi_job_set_options(filchi_job *job, const filch_submit_options *options)
{
    static const filch_submit_options none = FILCH_SUBMIT_OPTIONS_INIT;
    options = options != NULL ? options : &none;
    job->end = options->end;
    job->label = options->label;
    const filchi_job_more more = { options->stop, options->group, 0, options->start_by };
    job->kind = kind_with(&more);
    if (job->kind == FILCHI_JOB_MORE) {
        job->more = more;
    }
}

void filchi_job_task_store(filch_task *task, const filch_submit_options *options)
{
    static const filch_submit_options none = FILCH_SUBMIT_OPTIONS_INIT;
    options = options != NULL ? options : &none;
    task->priv[0] = (uintptr_t)options->end;
    task->priv[1] = (uintptr_t)options->label;
    task->priv[2] = (uintptr_t)options->stop;
    task->priv[3] = (uintptr_t)options->group;
    memcpy(&task->priv[5], &options->start_by, sizeof(options->start_by));
}

uintptr_t *filchi_job_task_next(filch_task *task)
{
    return &task->priv[4];
}

void filchi_job_of_task(filchi_job *job, const filch_task *task)
{
    job->fn = task->fn;
    job->arg = task->arg;
    job->end = (filch_end_fn *)task->priv[0];
    job->label = (const char *)task->priv[1];
    job->more.stop = (filch_token *)task->priv[2];
    job->more.group = (filch_group *)task->priv[3];
    memcpy(&job->more.start_by, &task->priv[5], sizeof(job->more.start_by));
    job->kind = kind_with(&job->more);
}

void filchi_job_task_run(filch_cx *cx, void *object)
{
    filchi_job job;
    filchi_job_of_task(&job, object);
    run_and_count(cx, &job);
}
