/* SPDX-License-Identifier: MIT */
/* What the clients about continuations share: a pool by hand, a promise, and a worker to play. */
#ifndef MODEL_FUTURE_CLIENT_H
#define MODEL_FUTURE_CLIENT_H

#include <filch/future.h>

#include "future/future.h"
#include "parts_client.h"

static filch_promise *promise;
static filch_future *input;
static filch_future *result;
static uint64_t client_ran, client_ended; /* plain: who sees the end sees them */

static inline void client_promise(void)
{
    MODEL_ASSERT(filch_promise_create(sizeof(int), NULL, &promise, &input) == FILCH_OK);
    model_name(input, sizeof(filch_promise), "input");
}

static inline void client_set(void *arg)
{
    const int value = 5;
    (void)arg;
    MODEL_ASSERT(filch_promise_set(promise, &value, sizeof(value)) == FILCH_OK);
    MODEL_ASSERT(filch_promise_drop(promise) == FILCH_OK);
}

static inline filch_status client_next(filch_cx *cx, void *data, filch_status status,
                                       const void *value, void *out)
{
    (void)cx;
    (void)data;
    client_ran++;
    *(int *)out = status == FILCH_OK ? *(const int *)value + 1 : -1;
    return FILCH_OK;
}

static inline filch_status client_task(filch_cx *cx, void *data, void *out)
{
    (void)cx;
    (void)data;
    client_ran++;
    *(int *)out = 6;
    return FILCH_OK;
}

static inline void client_end(void *data, filch_end how)
{
    (void)data;
    (void)how;
    client_ended++;
}

static inline void client_then(void)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.end = client_end;
    MODEL_ASSERT(filch_future_then(input, pool, client_next, NULL, 0, sizeof(int), &options,
                                   &result) == FILCH_OK);
    model_name(result, sizeof(filchi_future_task), "result");
}

/* Play worker `index`: one loose task, if there is one. */
static inline bool client_loose_one(unsigned index)
{
    filchi_work work;
    filchi_worker *worker = pool->workers[index];
    if (!filchi_groups_take(worker, &work)) {
        return false;
    }
    filchi_lane_run(&worker->lane, worker->lane.cx, work);
    return true;
}

static inline void client_run_loose(void *index)
{
    while (!client_loose_one((unsigned)(uintptr_t)index)) {
        model_yield();
    }
}

static inline filch_status client_wait_result(void)
{
    int value = 0;
    const filch_status status =
        filch_future_wait(result, FILCH_FOREVER, NULL, &value, sizeof(value));
    MODEL_ASSERT(value == (status == FILCH_OK ? 6 : 0));
    MODEL_ASSERT(client_ran == (status == FILCH_OK) && client_ended == 1);
    return status;
}

#endif
