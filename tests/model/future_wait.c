/* SPDX-License-Identifier: MIT */
/* One sets a future while another waits for it, looks, leaves, or lets go of the last handle: the value
 * is seen, no wake-up is lost, and whoever is last frees what nobody touches any more.
 * Covers: FUTURE-1, FUTURE-2, FUTURE-3 */
#include <filch/future.h>

#include "future/future.h"
#include "model.h"

static filch_promise *promise;
static filch_future *future;
static filch_token *token;

static void make(void)
{
    MODEL_ASSERT(filch_promise_create(sizeof(int), NULL, &promise, &future) == FILCH_OK);
    model_name(future, sizeof(filch_promise), "future");
}

static void set(void *arg)
{
    const int value = 5;
    (void)arg;
    MODEL_ASSERT(filch_promise_set(promise, &value, sizeof(value)) == FILCH_OK);
    MODEL_ASSERT(filch_promise_drop(promise) == FILCH_OK);
}

static void drop(void *arg)
{
    (void)arg;
    MODEL_ASSERT(filch_promise_drop(promise) == FILCH_OK);
}

static MODEL_FRAME filch_status wait_until(filch_time until, filch_token *stop)
{
    int value = 0;
    const filch_status status = filch_future_wait(future, until, stop, &value, sizeof(value));
    MODEL_ASSERT(value == (status == FILCH_OK ? 5 : 0));
    return status;
}

static void parked(void)
{
    make();
    (void)model_spawn(set, NULL);
    MODEL_ASSERT(wait_until(FILCH_FOREVER, NULL) == FILCH_OK);
    filch_future_release(future);
    model_join_all();
}

static void wait_too(void *arg)
{
    (void)arg;
    MODEL_ASSERT(wait_until(FILCH_FOREVER, NULL) == FILCH_E_DROPPED);
    filch_future_release(future);
}

static void two_wait(void)
{
    make();
    (void)filch_future_retain(future);
    (void)model_spawn(wait_too, NULL);
    (void)model_spawn(drop, NULL);
    wait_too(NULL);
    model_join_all();
}

/* Nobody waits: one load says that the value is there. */
static void looked(void)
{
    int value = 0;
    make();
    (void)model_spawn(set, NULL);
    if (filch_future_ready(future)) {
        MODEL_ASSERT(filch_future_read(future, &value, sizeof(value)) == FILCH_OK && value == 5);
    } else {
        const filch_status status = filch_future_read(future, &value, sizeof(value));
        MODEL_ASSERT(status == FILCH_OK || status == FILCH_E_TIMEOUT);
    }
    filch_future_release(future);
    model_join_all();
}

static void let_go(void)
{
    make();
    (void)model_spawn(set, NULL);
    filch_future_release(future);
    model_join_all();
}

static void late(void)
{
    make();
    (void)model_spawn(set, NULL);
    const filch_status status = wait_until(2000000000, NULL);
    MODEL_ASSERT(status == FILCH_OK || status == FILCH_E_TIMEOUT);
    filch_future_release(future);
    model_join_all();
}

static void stop(void *arg)
{
    (void)arg;
    MODEL_ASSERT(filch_token_stop(token) == FILCH_OK);
}

static void stopped(void)
{
    make();
    MODEL_ASSERT(filch_token_create(NULL, NULL, &token) == FILCH_OK);
    (void)model_spawn(stop, NULL);
    MODEL_ASSERT(wait_until(FILCH_FOREVER, token) == FILCH_E_STOPPED);
    model_join_all();
    MODEL_ASSERT(filch_token_destroy(token) == FILCH_OK);
    set(NULL);
    filch_future_release(future);
}

/* Two set it: one is told that it was late, and the value is the other's. */
static void set_once(void *arg)
{
    const int value = 5;
    (void)arg;
    const filch_status status = filch_promise_set(promise, &value, sizeof(value));
    MODEL_ASSERT(status == FILCH_OK || status == FILCH_E_SET);
    (void)model_ghost(0, status == FILCH_OK);
}

static void two_set(void)
{
    make();
    (void)model_spawn(set_once, NULL);
    set_once(NULL);
    MODEL_ASSERT(wait_until(FILCH_FOREVER, NULL) == FILCH_OK);
    model_join_all();
    MODEL_ASSERT(model_ghost(0, 0) == 1);
    drop(NULL);
    filch_future_release(future);
}

const model_client model_clients[] = {
    { .name = "future_wait", .body = parked, .seconds = 0.8 },
    { .name = "future_wait_two", .body = two_wait, .no_spurious_wakes = true },
    { .name = "future_looked_at", .body = looked, .seconds = 0.5 },
    { .name = "future_let_go", .body = let_go, .seconds = 0.5 },
    { .name = "future_wait_late", .body = late, .no_spurious_wakes = true },
    { .name = "future_wait_stopped", .body = stopped, .no_spurious_wakes = true },
    { .name = "future_set_twice", .body = two_set, .seconds = 0.8 },
    { .name = NULL },
};
