/* SPDX-License-Identifier: MIT */
/* A worker waits for a future: it finds what it can run whenever that becomes a task, runs it once with
 * whoever else would, and its pool is still there. The client plays worker 0. */
#include "future_client.h"

static MODEL_FRAME void wait_as_worker(void)
{
    filchi_place place;
    filchi_place_enter(&place, pool, &pool->workers[0]->lane);
    MODEL_ASSERT(client_wait_result() == FILCH_OK);
    filchi_place_leave(&place);
}

/* What is left of a task that was claimed: its entry in the queue, which runs nothing. */
static void run_rest(void)
{
    model_join_all();
    while (client_loose_one(0)) {}
    MODEL_ASSERT(client_ran == 1 && client_ended == 1);
    filchi_account_ran_dry(pool->workers[0]);
    MODEL_ASSERT(filchi_account_read(pool).tasks == 0);
    client_free_parts();
}

static void begin_alone(void)
{
    client_pool_parts(1, 2);
    client_promise();
    client_then();
    filch_future_release(input);
}

/* The only worker sleeps, or is about to, when the continuation is posted. */
static void posted(void)
{
    begin_alone();
    (void)model_spawn(client_set, NULL);
    wait_as_worker();
    model_join_all();
    filch_future_release(result);
    run_rest();
}

/* Likewise, and the pool is destroyed as soon as the result is there: the setter may still be posting. */
static void posted_and_destroyed(void)
{
    begin_alone();
    (void)model_spawn(client_set, NULL);
    wait_as_worker();
    filch_future_release(result);
    while (filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_NOW, NULL) != FILCH_OK) {
        if (!client_loose_one(0)) {
            model_yield();
        }
    }
    MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
    model_join_all();
}

/* The same below an all: what it waits for is found through it. */
static void posted_below(void)
{
    filch_future *all = NULL;
    filchi_place place;
    begin_alone();
    MODEL_ASSERT(filch_when_all(&result, 1, NULL, &all) == FILCH_OK);
    (void)model_spawn(client_set, NULL);
    filchi_place_enter(&place, pool, &pool->workers[0]->lane);
    MODEL_ASSERT(filch_future_wait(all, FILCH_FOREVER, NULL, NULL, 0) == FILCH_OK);
    filchi_place_leave(&place);
    model_join_all();
    filch_future_release(all);
    filch_future_release(result);
    run_rest();
}

/* Worker 1 takes it from the queue while worker 0 helps. */
static void two_claim(void)
{
    client_pool_parts(2, 2);
    client_promise();
    client_set(NULL);
    client_then();
    filch_future_release(input);
    (void)model_spawn(client_run_loose, (void *)(uintptr_t)1);
    wait_as_worker();
    filch_future_release(result);
    run_rest();
}

static void take_job(void *arg)
{
    (void)arg;
    client_run(1);
}

static void two_claim_async(void)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    client_pool_parts(2, 2);
    options.end = client_end;
    MODEL_ASSERT(filch_async(pool, client_task, NULL, 0, sizeof(int), &options, &result) ==
                 FILCH_OK);
    (void)model_spawn(take_job, NULL);
    wait_as_worker();
    filch_future_release(result);
    run_rest();
}

const model_client model_clients[] = {
    { .name = "future_help", .body = posted, .no_spurious_wakes = true },
    { .name = "future_help_destroyed", .body = posted_and_destroyed, .no_spurious_wakes = true },
    { .name = "future_help_below", .body = posted_below, .no_spurious_wakes = true },
    { .name = "future_help_two_claim", .body = two_claim, .no_spurious_wakes = true },
    { .name = "future_help_two_claim_async", .body = two_claim_async, .no_spurious_wakes = true },
    { .name = NULL },
};
