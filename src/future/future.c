/* SPDX-License-Identifier: MIT */
/* The counted object, its end, promises, and waiting. README.md, "The end" and "Waiting". */
#include "future/future.h"

#include "base/alloc.h"
#include "base/check.h"

#include <string.h>

enum { ALIGN = 16 /* for any object */ };

static bool add_up(size_t *sum, size_t bytes)
{
    const bool fits = bytes <= SIZE_MAX / 4 && *sum <= SIZE_MAX / 4;
    *sum += fits ? (bytes + ALIGN - 1) / ALIGN * ALIGN : 0;
    return fits;
}

filch_future *filchi_future_make(const filch_allocator *allocator, filchi_future_kind kind,
                                 size_t head, size_t extra, size_t value_bytes, void **out_extra)
{
    size_t value_at = 0;
    size_t extra_at = 0;
    if (!add_up(&extra_at, head) || (value_at = extra_at, !add_up(&value_at, extra))) {
        return NULL;
    }
    size_t block_bytes = value_at;
    if (!add_up(&block_bytes, value_bytes) || !filchi_fork_watch()) {
        return NULL;
    }
    filch_future *future = filchi_alloc_small(allocator, block_bytes);
    if (future == NULL) {
        return NULL;
    }
    memset(future, 0, block_bytes);
    if (!filchi_mutex_init(&future->lock)) {
        filchi_free(allocator, future, block_bytes);
        return NULL;
    }
    filchi_store_relaxed_u64(&future->references, 1); /* relaxed: nobody else has it */
    future->kind = kind;
    future->generation = filchi_fork_generation();
    future->bytes = value_bytes;
    future->value = (char *)future + value_at;
    future->block_bytes = block_bytes;
    future->allocator = *allocator;
    filchi_list_init(&future->watches);
    filchi_list_init(&future->waiters);
    *out_extra = (char *)future + extra_at;
    return future;
}

bool filchi_future_forked(const filch_future *future)
{
    return future->generation != filchi_fork_generation();
}

void filchi_future_free(filch_future *future)
{
    if (!filchi_future_forked(future)) { /* there a thread that is gone may hold it */
        filchi_mutex_destroy(&future->lock);
    }
    const filch_allocator allocator = future->allocator;
    filchi_free(&allocator, future, future->block_bytes);
}

filch_future *filch_future_retain(filch_future *future)
{
    if (future != NULL) {
        /* relaxed: the caller's own reference keeps it */
        (void)filchi_add_relaxed_u64(&future->references, 1);
    }
    return future;
}

void filch_future_release(filch_future *future)
{
    /* [FUTURE-3] acq_rel, pairs with FUTURE-3: what each holder did comes before it is freed. */
    if (future != NULL && filchi_add_acq_rel_u64(&future->references, (uint64_t)-1) == 1) {
        filchi_future_free(future);
    }
}

static bool has_ended(const filch_future *future)
{
    /* [FUTURE-1] acquire, pairs with FUTURE-2: status and value are there when the end is seen. */
    return filchi_load_acquire_u32(&future->ended) != 0;
}

int filch_future_ready(const filch_future *future)
{
    return future != NULL && has_ended(future);
}

/* The end. */

typedef struct waiter {
    filchi_link link;
    filchi_parker *parker;
    filchi_token_wait stop;
} waiter;

void filchi_future_end(filch_future *future, filch_status status, filchi_link *due)
{
    filchi_mutex_lock(&future->lock);
    future->status = status;
    /* [FUTURE-2] release, pairs with FUTURE-1: as there. */
    filchi_store_release_u32(&future->ended, 1);
    /* they take the lock before they leave */
    for (filchi_link *link = future->waiters.next; link != &future->waiters; link = link->next) {
        filchi_unpark(FILCHI_CONTAINER(link, waiter, link)->parker);
    }
    while (!filchi_list_empty(&future->watches)) {
        filchi_link *link = future->watches.next;
        filchi_list_remove(link);
        filchi_list_push_back(due, link);
    }
    filchi_mutex_unlock(&future->lock);
}

void filchi_future_do_due(filchi_link *due)
{
    while (!filchi_list_empty(due)) {
        filchi_watch *watch = FILCHI_CONTAINER(due->next, filchi_watch, link);
        filchi_list_remove(&watch->link);
        watch->fire(watch, due);
    }
}

void filchi_future_end_all(filch_future *future, filch_status status)
{
    filchi_link due;
    filchi_list_init(&due);
    filchi_future_end(future, status, &due);
    filchi_future_do_due(&due);
}

void filchi_future_watch(filch_future *future, filchi_watch *watch, filchi_link *due)
{
    filchi_mutex_lock(&future->lock);
    filchi_list_push_back(has_ended(future) ? due : &future->watches, &watch->link);
    filchi_mutex_unlock(&future->lock);
}

/* Promises. */

filch_status filch_promise_create(size_t bytes, const filch_allocator *allocator,
                                  filch_promise **out_promise, filch_future **out_future)
{
    if (out_promise == NULL || out_future == NULL || !filchi_allocator_valid(allocator)) {
        return FILCH_E_INVALID;
    }
    const filch_allocator *source = allocator != NULL ? allocator : &filchi_libc_allocator;
    void *extra;
    filch_future *future =
        filchi_future_make(source, FILCHI_FUTURE_PROMISE, sizeof(filch_promise), 0, bytes, &extra);
    if (future == NULL) {
        return FILCH_E_NOMEM;
    }
    *out_promise = FILCHI_CONTAINER(future, filch_promise, future);
    *out_future = filch_future_retain(future);
    return FILCH_OK;
}

/* The first to claim it ends it. */
static bool claim(filch_promise *promise)
{
    filchi_mutex_lock(&promise->future.lock);
    const bool first = !promise->claimed;
    promise->claimed = true;
    filchi_mutex_unlock(&promise->future.lock);
    return first;
}

filch_status filch_promise_set(filch_promise *promise, const void *value, size_t bytes)
{
    if (promise == NULL || promise->future.bytes != bytes || (value == NULL && bytes != 0)) {
        return FILCH_E_INVALID;
    }
    if (filchi_future_forked(&promise->future)) {
        return FILCH_E_FORKED;
    }
    if (!claim(promise)) {
        return FILCH_E_SET;
    }
    if (bytes != 0) {
        memcpy(promise->future.value, value, bytes);
    }
    filchi_future_end_all(&promise->future, FILCH_OK);
    return FILCH_OK;
}

filch_status filch_promise_fail(filch_promise *promise, filch_status status)
{
    if (promise == NULL || status == FILCH_OK) {
        return FILCH_E_INVALID;
    }
    if (filchi_future_forked(&promise->future)) {
        return FILCH_E_FORKED;
    }
    if (!claim(promise)) {
        return FILCH_E_SET;
    }
    filchi_future_end_all(&promise->future, status);
    return FILCH_OK;
}

filch_status filch_promise_drop(filch_promise *promise)
{
    if (promise == NULL) {
        return FILCH_OK;
    }
    filch_future *future = &promise->future;
    if (!filchi_future_forked(future)) {
        filchi_mutex_lock(&future->lock);
        const bool again = promise->dropped;
        promise->dropped = true;
        filchi_mutex_unlock(&future->lock);
        FILCHI_RULE(!again, "a promise is not used after it was dropped");
        if (again) {
            return FILCH_E_INVALID;
        }
        if (claim(promise)) {
            filchi_future_end_all(future, FILCH_E_DROPPED);
        }
    }
    filch_future_release(future);
    return FILCH_OK;
}

/* Waiting. */

static filch_status take(const filch_future *future, void *out_value)
{
    if (future->status == FILCH_OK && out_value != NULL) {
        memcpy(out_value, future->value, future->bytes);
    }
    return future->status;
}

static bool width_fits(const filch_future *future, const void *out_value, size_t bytes)
{
    return out_value != NULL ? bytes == future->bytes : bytes == 0;
}

filch_status filch_future_read(filch_future *future, void *out_value, size_t bytes)
{
    if (future == NULL || !width_fits(future, out_value, bytes)) {
        return FILCH_E_INVALID;
    }
    return has_ended(future) ? take(future, out_value) : FILCH_E_TIMEOUT;
}

filch_status filch_future_index(const filch_future *future, size_t *out_index)
{
    if (future == NULL || out_index == NULL || future->kind < FILCHI_FUTURE_ALL) {
        return FILCH_E_INVALID;
    }
    if (!has_ended(future)) {
        return FILCH_E_TIMEOUT;
    }
    *out_index = future->index;
    return FILCH_OK;
}

static void wake_stopped(filchi_token_wait *wait)
{
    filchi_unpark(FILCHI_CONTAINER(wait, waiter, stop)->parker);
}

/* Until the end, the deadline or the stop. Every waker leaves a token; we look again after each. */
static filch_status wait_for_end(filch_future *future, filch_time until, const filch_token *stop,
                                 filchi_parker *parker)
{
    filchi_helper helper;
    filchi_helper_init(&helper, parker);
    filch_status status = FILCH_OK;
    while (status == FILCH_OK && !has_ended(future)) {
        if (filchi_token_stopped(stop)) {
            status = FILCH_E_STOPPED;
        } else if (until != FILCH_FOREVER && filchi_clock_ns() >= until) {
            status = FILCH_E_TIMEOUT;
        } else {
            filchi_helper_enlist(&helper); /* before the look, so that no task is overlooked */
            if (!filchi_future_help(future) && !has_ended(future)) {
                filchi_helper_park(&helper, until);
            }
        }
    }
    filchi_helper_leave(&helper);
    return status;
}

static bool runs_here(filch_future *future)
{
    if (future->kind != FILCHI_FUTURE_TASK) {
        return false;
    }
    filchi_mutex_lock(&future->lock);
    const uintptr_t runner = FILCHI_CONTAINER(future, filchi_future_task, future)->runner;
    filchi_mutex_unlock(&future->lock);
    return runner == filchi_thread_self();
}

static filch_status wait_parked(filch_future *future, filch_time until, filch_token *stop)
{
    filchi_parker own;
    filchi_parker *parker = filchi_helper_parker();
    const bool foreign = parker == NULL;
    if (foreign && !filchi_parker_init(&own)) {
        return FILCH_E_NOMEM;
    }
    waiter self = { .parker = foreign ? &own : parker };
    const bool entered = filchi_token_enter(stop, &self.stop, wake_stopped);
    filchi_mutex_lock(&future->lock);
    filchi_list_push_back(&future->waiters, &self.link);
    filchi_mutex_unlock(&future->lock);
    const filch_status status = wait_for_end(future, until, stop, self.parker);
    filchi_mutex_lock(&future->lock);
    filchi_list_remove(&self.link);
    filchi_mutex_unlock(&future->lock);
    if (entered) {
        filchi_token_leave(stop, &self.stop);
    }
    if (foreign) {
        filchi_parker_destroy(&own);
    }
    return status;
}

filch_status filch_future_wait(filch_future *future, filch_time until, filch_token *stop,
                               void *out_value, size_t bytes)
{
    if (future == NULL || !width_fits(future, out_value, bytes)) {
        return FILCH_E_INVALID;
    }
    if (filchi_future_forked(future)) {
        return FILCH_E_FORKED;
    }
    if (has_ended(future)) {
        return take(future, out_value);
    }
    if (runs_here(future)) {
        return FILCH_E_ON_WORKER;
    }
    (void)filch_future_retain(future);
    filch_status status = wait_parked(future, until, stop);
    if (status == FILCH_OK) {
        status = take(future, out_value);
    }
    filch_future_release(future);
    return status;
}
