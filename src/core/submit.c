/* SPDX-License-Identifier: MIT */
/* Handing work in: posts, submitted tasks, roots. A worker's own posts go onto its deque; all
 * others through the injector, whose producers wait while it is full. A foreign thread never
 * touches a worker's deque. */
#include <filch/fork.h>
#include <filch/task.h>

#include "base/alloc.h"
#include "core/full.h"
#include "core/place.h"
#include "core/pool.h"
#include "core/submit.h"
#include "sync/token.h"

#include <string.h>

filch_time filchi_submit_until(const filch_submit_options *options)
{
    const filch_time until = options->until != 0 ? options->until : FILCH_FOREVER;
    return options->start_by != 0 && options->start_by < until ? options->start_by : until;
}

/* From a foreign thread. */

/* Of `count` jobs the first *out_accepted are accepted. FILCH_OK: all of them. */
static filch_status submit_foreign(filch_pool *pool, filchi_job *jobs, size_t count,
                                   const filch_submit_options *options, size_t *out_accepted)
{
    filchi_full_options how = { pool->config.full, FILCH_FOREVER, NULL };
    if (options != NULL) {
        how.full = options->full != FILCH_FULL_DEFAULT ? options->full : how.full;
        how.until = filchi_submit_until(options);
        how.stop = options->stop;
    }
    *out_accepted = 0;
    if (!filchi_pool_caller_enter_many(pool, (uint32_t)count)) {
        return filchi_pool_refuse_many(pool, count, FILCH_E_CLOSED);
    }
    const filch_status status = filchi_full_put(pool, jobs, count, how, out_accepted);
    if (status != FILCH_OK) {
        const size_t left = count - *out_accepted;
        /* relaxed: a counter */
        (void)filchi_add_relaxed_u64(&pool->rejected, left);
        (void)filchi_pool_refuse_many(pool, left, status);
        filchi_pool_tasks_ended(pool, (uint32_t)left);
    }
    filchi_pool_caller_exit(pool);
    return status;
}

/* A worker's own deque. */

bool filchi_submit_accept_own(filchi_worker *worker)
{
    if (filchi_pool_cancelling(worker->lane.pool)) {
        return false;
    }
    /* before a thief can have it, so that no more have ended than were accepted */
    filchi_counters_add(&worker->counters, FILCHI_COUNT_POSTED);
    return true;
}

filch_status filchi_submit_take_back(filchi_worker *worker, filch_status why)
{
    /* nobody took the pool for quiet with it, nor does without: the task that posts is pending */
    filchi_counters_take_back(&worker->counters, FILCHI_COUNT_POSTED);
    return filchi_pool_refuse(worker->lane.pool, why);
}

static bool own_full(const filchi_worker *worker)
{
    const filch_deque *tasks = &worker->tasks;
    const size_t most = worker->lane.pool->config.own_tasks;
    /* an old top first: the present one is the thieves' line */
    return (size_t)(filchi_deque_bottom(tasks) - tasks->top_seen) >= most &&
           filch_deque_size(tasks) >= most;
}

static bool push_own(filchi_worker *worker, void *object, filchi_run_fn *run)
{
    const filch_item item = { (uintptr_t)object, (uintptr_t)run };
    return object != NULL && !own_full(worker) &&
           filchi_deque_push(&worker->tasks, item) == FILCH_OK;
}

/* There is no room for the task: run it here, inside the post, if the stack allows, and unless this
 * is the body of a loop, which nothing else may interrupt. */
filch_status filchi_submit_run_inline(filchi_worker *worker, void *object, filchi_run_fn *run)
{
    if (filchi_lane_isolated(&worker->lane) || filchi_pool_paused(worker->lane.pool) ||
        filchi_stack_pointer() <= worker->lane.inline_floor) {
        return filchi_submit_take_back(worker, FILCH_E_FULL);
    }
    filchi_counters_add(&worker->counters, FILCHI_COUNT_INLINE);
    filchi_lane *lane = &worker->lane;
    filchi_lane_run(lane, filchi_lane_top(lane, lane->cx), (filchi_work){ run, object });
    return FILCH_OK;
}

static filch_status submit_own(filchi_worker *worker, filchi_job *job)
{
    filch_pool *pool = worker->lane.pool;
    if (!filchi_submit_accept_own(worker)) {
        return filchi_pool_refuse(pool, FILCH_E_CLOSED);
    }
    filchi_job_node *node = filchi_job_node_get(worker);
    if (node != NULL) {
        filchi_job_copy(&node->job, job);
        if (push_own(worker, node, filchi_job_node_run)) {
            filchi_pool_task_published(pool);
            return FILCH_OK;
        }
        filchi_job_node_put(worker, node);
    }
    return filchi_submit_run_inline(worker, job, filchi_job_run);
}

/* The public calls. */

bool filchi_submit_options_valid(const filch_pool *pool, const filch_submit_options *options)
{
    static const filch_submit_options empty = FILCH_SUBMIT_OPTIONS_INIT;
    return options == NULL ||
           (options->size == sizeof(*options) && options->flags == 0 &&
            filchi_full_valid(options->full) &&
            (options->group == NULL || options->group->pool == pool) &&
            memcmp(options->reserved, empty.reserved, sizeof(empty.reserved)) == 0);
}

static bool too_late(const filch_submit_options *options)
{
    return options != NULL && filchi_too_late(options->start_by);
}

static bool grouped(const filch_submit_options *options)
{
    return options != NULL && options->group != NULL;
}

/* Copy the caller's bytes into the job, or into a block of their own. */
static filch_status job_take_data(filch_pool *pool, filchi_job *job, const void *data, size_t bytes)
{
    const size_t most =
        job->kind == FILCHI_JOB_POINTER ? FILCH_POST_INLINE_BYTES : FILCHI_JOB_LESS_BYTES;
    if (bytes == 0) {
        job->arg = (void *)(uintptr_t)data;
    } else if (bytes <= most) {
        job->kind |= FILCHI_JOB_INLINE;
        memcpy(job->data, data, bytes);
    } else {
        job->kind |= FILCHI_JOB_HEAP;
        job->heap_bytes = bytes;
        job->arg = filchi_alloc(&pool->config.allocator, bytes);
        if (job->arg == NULL) {
            return FILCH_E_NOMEM;
        }
        memcpy(job->arg, data, bytes);
    }
    return FILCH_OK;
}

filch_status filch_post(filch_pool *pool, filch_fn *fn, const void *data, size_t bytes,
                        const filch_submit_options *options)
{
    if (pool == NULL || fn == NULL || (data == NULL && bytes != 0) ||
        !filchi_submit_options_valid(pool, options)) {
        return FILCH_E_INVALID;
    }
    if (filchi_pool_forked(pool)) {
        return FILCH_E_FORKED;
    }
    if (too_late(options)) {
        return filchi_pool_refuse(pool, FILCH_E_TIMEOUT);
    }
    filchi_job job;
    job.fn = fn;
    filchi_job_set_options(&job, options);
    filch_status status = job_take_data(pool, &job, data, bytes);
    if (status != FILCH_OK) {
        return filchi_pool_refuse(pool, status);
    }
    filchi_worker *worker = filchi_place_worker(pool);
    if (grouped(options)) {
        status = filchi_group_post(pool, worker, &job, NULL, options);
    } else if (worker != NULL) {
        status = submit_own(worker, &job);
    } else {
        size_t accepted;
        filchi_full_stamp(pool, &job);
        status = submit_foreign(pool, &job, 1, options, &accepted);
    }
    if (status != FILCH_OK && (job.kind & FILCHI_JOB_HEAP) != 0) {
        filchi_free(&pool->config.allocator, job.arg, bytes);
    }
    return status;
}

static filch_status submit_own_task(filchi_worker *worker, filch_task *task,
                                    const filch_submit_options *options)
{
    filch_pool *pool = worker->lane.pool;
    if (!filchi_submit_accept_own(worker)) {
        return filchi_pool_refuse(pool, FILCH_E_CLOSED);
    }
    filchi_job_task_store(task, options);
    if (push_own(worker, task, filchi_job_task_run)) {
        filchi_pool_task_published(pool);
        return FILCH_OK;
    }
    return filchi_submit_run_inline(worker, task, filchi_job_task_run);
}

static filch_status submit_grouped(filch_pool *pool, filchi_worker *worker, filch_task *task,
                                   const filch_submit_options *options)
{
    filchi_job_task_store(task, options);
    return filchi_group_post(pool, worker, NULL, task, options);
}

/* One by one: a worker's own, or those of a group. */
static filch_status submit_each(filch_pool *pool, filchi_worker *worker, filch_task *const *tasks,
                                size_t count, const filch_submit_options *options,
                                size_t *out_accepted)
{
    filch_status status = FILCH_OK;
    size_t accepted = 0;
    while (accepted < count && status == FILCH_OK) {
        status = grouped(options) ? submit_grouped(pool, worker, tasks[accepted], options)
                                  : submit_own_task(worker, tasks[accepted], options);
        accepted += status == FILCH_OK;
    }
    if (accepted < count) { /* the first of them is counted */
        (void)filchi_pool_refuse_many(pool, count - accepted - 1, status);
    }
    *out_accepted = accepted;
    return status;
}

static filchi_job job_of_task(const filch_pool *pool, const filch_task *task,
                              const filch_submit_options *options)
{
    filchi_job job;
    job.fn = task->fn;
    job.arg = task->arg;
    filchi_job_set_options(&job, options);
    filchi_full_stamp(pool, &job);
    return job;
}

filch_status filch_submit(filch_pool *pool, filch_task *task, const filch_submit_options *options)
{
    if (pool == NULL || task == NULL || task->fn == NULL ||
        !filchi_submit_options_valid(pool, options)) {
        return FILCH_E_INVALID;
    }
    if (filchi_pool_forked(pool)) {
        return FILCH_E_FORKED;
    }
    if (too_late(options)) {
        return filchi_pool_refuse(pool, FILCH_E_TIMEOUT);
    }
    filchi_worker *worker = filchi_place_worker(pool);
    if (grouped(options)) {
        return submit_grouped(pool, worker, task, options);
    }
    if (worker != NULL) {
        return submit_own_task(worker, task, options);
    }
    size_t accepted;
    filchi_job job = job_of_task(pool, task, options);
    return submit_foreign(pool, &job, 1, options, &accepted);
}

enum { PART = 16 /* jobs on the stack of a foreign thread, claimed together */ };

static filch_status submit_foreign_many(filch_pool *pool, filch_task *const *tasks, size_t count,
                                        const filch_submit_options *options, size_t *out_accepted)
{
    filchi_job jobs[PART];
    filch_status status = FILCH_OK;
    size_t done = 0;
    while (done < count && status == FILCH_OK) {
        const size_t part = count - done < PART ? count - done : PART;
        size_t accepted;
        for (size_t i = 0; i < part; i++) {
            jobs[i] = job_of_task(pool, tasks[done + i], options);
        }
        status = submit_foreign(pool, jobs, part, options, &accepted);
        done += accepted;
        if (status != FILCH_OK) { /* the rest of this part is counted */
            (void)filchi_pool_refuse_many(pool, count - done - (part - accepted), status);
        }
    }
    *out_accepted = done;
    return status;
}

static bool tasks_valid(filch_task *const *tasks, size_t count)
{
    size_t i = 0;
    while (i < count && tasks[i] != NULL && tasks[i]->fn != NULL) {
        i++;
    }
    return i == count;
}

filch_status filch_submit_many(filch_pool *pool, filch_task *const *tasks, size_t count,
                               const filch_submit_options *options, size_t *out_accepted)
{
    if (pool == NULL || (tasks == NULL && count != 0) ||
        !filchi_submit_options_valid(pool, options) || !tasks_valid(tasks, count)) {
        return FILCH_E_INVALID;
    }
    if (filchi_pool_forked(pool)) {
        return FILCH_E_FORKED;
    }
    size_t accepted = 0;
    filch_status status;
    filchi_worker *worker = filchi_place_worker(pool);
    if (too_late(options)) {
        status = filchi_pool_refuse_many(pool, count, FILCH_E_TIMEOUT);
    } else if (worker != NULL || grouped(options)) {
        status = submit_each(pool, worker, tasks, count, options, &accepted);
    } else {
        status = submit_foreign_many(pool, tasks, count, options, &accepted);
    }
    if (out_accepted != NULL) {
        *out_accepted = accepted;
    }
    return status;
}
