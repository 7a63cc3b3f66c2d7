/* SPDX-License-Identifier: MIT */
/* All and any while their inputs end, each on a thread of its own: they end once, as they should, and are
 * freed by the last. */
#include <filch/future.h>

#include "future/future.h"
#include "model.h"

static filch_promise *promises[2];
static filch_future *inputs[2];
static filch_future *whole;

static void make(void)
{
    for (int i = 0; i < 2; i++) {
        MODEL_ASSERT(filch_promise_create(0, NULL, &promises[i], &inputs[i]) == FILCH_OK);
        model_name(inputs[i], sizeof(filch_promise), i == 0 ? "input0" : "input1");
    }
}

static void release_inputs(void)
{
    filch_future_release(inputs[0]);
    filch_future_release(inputs[1]);
}

static void end_one(void *arg)
{
    const uintptr_t i = (uintptr_t)arg;
    MODEL_ASSERT(filch_promise_fail(promises[i], i == 0 ? FILCH_E_FULL : FILCH_E_BUSY) == FILCH_OK);
    MODEL_ASSERT(filch_promise_drop(promises[i]) == FILCH_OK);
}

static void expect(void)
{
    size_t index = 9;
    const filch_status status = filch_future_wait(whole, FILCH_FOREVER, NULL, NULL, 0);
    MODEL_ASSERT(filch_future_index(whole, &index) == FILCH_OK && index < 2);
    MODEL_ASSERT(status == (index == 0 ? FILCH_E_FULL : FILCH_E_BUSY));
}

static void all(void)
{
    make();
    MODEL_ASSERT(filch_when_all(inputs, 2, NULL, &whole) == FILCH_OK);
    (void)model_spawn(end_one, (void *)(uintptr_t)0);
    (void)model_spawn(end_one, (void *)(uintptr_t)1);
    expect();
    MODEL_ASSERT(filch_future_ready(inputs[0]) && filch_future_ready(inputs[1]));
    release_inputs();
    filch_future_release(whole);
    model_join_all();
}

static void any(void)
{
    make();
    MODEL_ASSERT(filch_when_any(inputs, 2, NULL, &whole) == FILCH_OK);
    release_inputs();
    (void)model_spawn(end_one, (void *)(uintptr_t)0);
    (void)model_spawn(end_one, (void *)(uintptr_t)1);
    expect();
    filch_future_release(whole);
    model_join_all();
}

/* While it is made. */
static void registered(void)
{
    make();
    (void)model_spawn(end_one, (void *)(uintptr_t)0);
    (void)model_spawn(end_one, (void *)(uintptr_t)1);
    MODEL_ASSERT((model_choose(2) == 0 ? filch_when_all : filch_when_any)(inputs, 2, NULL,
                                                                          &whole) == FILCH_OK);
    release_inputs();
    filch_future_release(whole);
    model_join_all();
}

/* A wait inside a worker looks through it meanwhile. */
static void searched(void)
{
    make();
    MODEL_ASSERT(filch_when_all(inputs, 2, NULL, &whole) == FILCH_OK);
    release_inputs();
    (void)model_spawn(end_one, (void *)(uintptr_t)0);
    MODEL_ASSERT(!filchi_future_help(whole));
    end_one((void *)(uintptr_t)1);
    expect();
    filch_future_release(whole);
    model_join_all();
}

const model_client model_clients[] = {
    { .name = "future_all", .body = all, .no_spurious_wakes = true },
    { .name = "future_any", .body = any, .no_spurious_wakes = true },
    { .name = "future_combine", .body = registered, .no_spurious_wakes = true, .seconds = 2 },
    { .name = "future_searched", .body = searched, .no_spurious_wakes = true, .seconds = 0.8 },
    { .name = NULL },
};
