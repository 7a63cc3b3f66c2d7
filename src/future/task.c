/* SPDX-License-Identifier: MIT */
/* Futures that a task ends: detached ones and continuations. README.md, "Tasks". */
#include "future/future.h"

#include "base/alloc.h"

#include <string.h>

static filchi_future_task *task_of(filch_future *future)
{
    return FILCHI_CONTAINER(future, filchi_future_task, future);
}

/* Its claimer: no task, no data, no input any more; then the end. What a continuation holds of its pool
 * goes first, since whoever sees the end may destroy the pool. */
static void finish(filchi_future_task *task, filch_status status, filch_end how, filchi_link *due)
{
    filch_future *future = &task->future;
    if (task->end != NULL) {
        task->end(task->data, how);
    }
    filchi_mutex_lock(&future->lock);
    filch_future *input = task->input;
    task->input = NULL;
    task->runner = 0;
    filchi_mutex_unlock(&future->lock);
    filch_future_release(input);
    if (task->then != NULL) {
        filchi_spi_let_go(task->pool);
    }
    filchi_future_end(future, status, due);
}

static void finish_all(filchi_future_task *task, filch_status status, filch_end how)
{
    filchi_link due;
    filchi_list_init(&due);
    finish(task, status, how, &due);
    filchi_future_do_due(&due);
}

/* Under the lock. */
static void claim_for(filchi_future_task *task, uintptr_t runner)
{
    task->stage = FILCHI_FUTURE_CLAIMED;
    task->runner = runner;
}

bool filchi_future_claim_to_help(filchi_future_task *task)
{
    const bool claimed =
        task->stage == FILCHI_FUTURE_READY && filchi_spi_own_cx(task->pool) != NULL;
    if (claimed) {
        claim_for(task, filchi_thread_self());
    }
    return claimed;
}

/* From the queue. */
static bool claim(filchi_future_task *task)
{
    filchi_mutex_lock(&task->future.lock);
    const bool first = task->stage != FILCHI_FUTURE_CLAIMED;
    if (first) {
        claim_for(task, filchi_thread_self());
    }
    filchi_mutex_unlock(&task->future.lock);
    return first;
}

static void call(filch_cx *cx, void *object)
{
    filchi_future_task *task = object;
    filch_status status;
    if (task->then == NULL) {
        status = task->async(cx, task->data, task->future.value);
    } else {
        /* ended, and seen so by who posted us or by the lock of the claim */
        const filch_future *input = task->input;
        const bool valued = input->status == FILCH_OK && input->bytes != 0;
        status = task->then(cx, task->data, input->status, valued ? input->value : NULL,
                            task->future.value);
    }
    finish_all(task, status, FILCH_RAN);
}

static filch_end how_to_end(const filchi_future_task *task)
{
    if (filchi_token_stopped(task->stop) || filchi_spi_cancelling(task->pool)) {
        return FILCH_CANCELLED;
    }
    return filchi_too_late(task->start_by) ? FILCH_LATE : FILCH_RAN;
}

static void finish_unstarted(filchi_future_task *task, filch_end how)
{
    finish_all(task,
               how == FILCH_DROPPED ? FILCH_E_DROPPED
               : how == FILCH_LATE  ? FILCH_E_TIMEOUT
                                    : FILCH_E_CANCELLED,
               how);
}

/* With its own token and label, which the entry in the queue does not have: it may be taken out long
 * after the future has ended, and the token is gone. */
static void run(filch_cx *cx, filchi_future_task *task)
{
    const filch_end how = how_to_end(task);
    if (how == FILCH_RAN) {
        filchi_spi_run(cx, call, task, task->label, task->stop);
    } else {
        finish_unstarted(task, how);
    }
}

void filchi_future_run_claimed(filchi_future_task *task)
{
    filch_cx *cx = filchi_spi_own_cx(task->pool);
    const bool isolated = filchi_spi_isolate(cx, true);
    run(cx, task);
    (void)filchi_spi_isolate(cx, isolated);
}

/* The entry in the queue. */

static void run_entry(filch_cx *cx, void *object)
{
    filchi_future_task *task = object;
    if (claim(task)) {
        run(cx, task);
    }
}

static void end_entry(void *object, filch_end how)
{
    filchi_future_task *task = object;
    if (how != FILCH_RAN && claim(task)) {
        finish_unstarted(task, how);
    }
    filch_future_release(&task->future);
}

/* Making them. */

static bool options_valid(const filch_pool *pool, const filch_submit_options *options)
{
    return filchi_spi_options_valid(pool, options) && (options == NULL || options->group == NULL);
}

/* Two references: the caller's, and the entry's. */
static filchi_future_task *make(filch_pool *pool, const void *data, size_t bytes,
                                size_t result_bytes, const filch_submit_options *options)
{
    void *copy;
    filch_future *future =
        filchi_future_make(filchi_spi_allocator(pool), FILCHI_FUTURE_TASK,
                           sizeof(filchi_future_task), bytes, result_bytes, &copy);
    if (future == NULL) {
        return NULL;
    }
    filchi_future_task *task = task_of(filch_future_retain(future));
    task->pool = pool;
    task->entry.fn = run_entry;
    task->entry.arg = task;
    task->data = bytes != 0 ? memcpy(copy, data, bytes) : (void *)(uintptr_t)data;
    if (options != NULL) {
        task->end = options->end;
        task->label = options->label;
        task->stop = options->stop;
        task->start_by = options->start_by;
    }
    return task;
}

filch_status filch_async(filch_pool *pool, filch_async_fn *fn, const void *data, size_t bytes,
                         size_t result_bytes, const filch_submit_options *options,
                         filch_future **out_future)
{
    static const filch_submit_options defaults = FILCH_SUBMIT_OPTIONS_INIT;
    if (pool == NULL || fn == NULL || out_future == NULL || (data == NULL && bytes != 0) ||
        !options_valid(pool, options)) {
        return FILCH_E_INVALID;
    }
    if (filchi_spi_forked(pool)) {
        return FILCH_E_FORKED;
    }
    filchi_future_task *task = make(pool, data, bytes, result_bytes, options);
    if (task == NULL) {
        return FILCH_E_NOMEM;
    }
    task->async = fn;
    task->stage = FILCHI_FUTURE_READY;
    filch_submit_options entry = options != NULL ? *options : defaults;
    entry.end = end_entry;
    entry.stop = NULL;
    const filch_status status = filch_submit(pool, &task->entry, &entry);
    if (status != FILCH_OK) {
        filchi_future_free(&task->future);
        return status;
    }
    *out_future = &task->future;
    return FILCH_OK;
}

/* The input has ended. Once it is accepted the pool is there until the post is done, even if a helper
 * claims and ends the task in between. */
static void fire(filchi_watch *watch, filchi_link *due)
{
    filchi_future_task *task = FILCHI_CONTAINER(watch, filchi_future_task, watch);
    filch_future *future = &task->future;
    filchi_loose loose;
    if (filchi_loose_enter(&loose, task->pool) != FILCH_OK) {
        finish(task, FILCH_E_CLOSED, FILCH_CANCELLED, due);
        filch_future_release(future);
        return;
    }
    filchi_mutex_lock(&future->lock);
    task->stage = FILCHI_FUTURE_READY;
    filchi_mutex_unlock(&future->lock);
    filchi_loose_post(&loose, &task->entry, end_entry, task->label, task->start_by);
}

filch_status filch_future_then(filch_future *future, filch_pool *pool, filch_then_fn *fn,
                               const void *data, size_t bytes, size_t result_bytes,
                               const filch_submit_options *options, filch_future **out_future)
{
    if (future == NULL || pool == NULL || fn == NULL || out_future == NULL ||
        (data == NULL && bytes != 0) || !options_valid(pool, options)) {
        return FILCH_E_INVALID;
    }
    if (filchi_spi_forked(pool) || filchi_future_forked(future)) {
        return FILCH_E_FORKED;
    }
    filchi_future_task *task = make(pool, data, bytes, result_bytes, options);
    if (task == NULL) {
        return FILCH_E_NOMEM;
    }
    filchi_link due;
    filchi_list_init(&due);
    task->then = fn;
    task->input = filch_future_retain(future);
    task->watch.fire = fire;
    filchi_spi_hold(pool);
    *out_future = &task->future;
    filchi_future_watch(future, &task->watch, &due);
    filchi_future_do_due(&due);
    return FILCH_OK;
}
