/* SPDX-License-Identifier: MIT */
/* A continuation is registered while its input ends, runs once, and its pool may be destroyed as soon as
 * the result is seen; or the pool closes meanwhile. */
#include "future_client.h"

static void end_of_pool(void)
{
    model_join_all();
    MODEL_ASSERT(filchi_account_read(pool).tasks == 0);
    client_free_parts();
}

static void registered(void)
{
    client_pool_parts(1, 2);
    client_promise();
    (void)model_spawn(client_set, NULL);
    client_then();
    filch_future_release(input);
    model_join_all();
    client_run_loose((void *)(uintptr_t)0);
    MODEL_ASSERT(client_wait_result() == FILCH_OK);
    filch_future_release(result);
    end_of_pool();
}

/* Worker 0 runs it while we wait; setter and worker may be anywhere when we let go. */
static void waited_for(void)
{
    client_pool_parts(1, 2);
    client_promise();
    client_then();
    filch_future_release(input);
    (void)model_spawn(client_run_loose, (void *)(uintptr_t)0);
    (void)model_spawn(client_set, NULL);
    MODEL_ASSERT(client_wait_result() == FILCH_OK);
    MODEL_ASSERT(!filchi_groups_left(&pool->groups)); /* nothing is in the way of a destroy */
    filch_future_release(result);
    end_of_pool();
}

/* A real worker; the pool is destroyed as soon as the result is there. */
static void destroyed(void)
{
    client_pool_parts(1, 2);
    client_promise();
    client_then();
    filch_future_release(input);
    client_start(1, filchi_worker_main);
    (void)model_spawn(client_set, NULL);
    MODEL_ASSERT(client_wait_result() == FILCH_OK);
    MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
    filch_future_release(result);
    model_join_all();
}

/* The pool closes while the input is set: the continuation runs or ends as closed, once; and then nothing
 * is in the way of a destroy. */
static void closed(void)
{
    client_pool_parts(1, 2);
    client_promise();
    client_then();
    filch_future_release(input);
    (void)model_spawn(client_set, NULL);
    while (filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_NOW, NULL) != FILCH_OK) {
        if (!client_loose_one(0)) {
            model_yield();
        }
    }
    const filch_status status = client_wait_result();
    MODEL_ASSERT(status == FILCH_OK || status == FILCH_E_CLOSED);
    MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
    filch_future_release(result);
    model_join_all();
}

const model_client model_clients[] = {
    { .name = "future_then", .body = registered, .no_spurious_wakes = true },
    { .name = "future_then_waited_for", .body = waited_for, .no_spurious_wakes = true },
    { .name = "future_then_destroyed", .body = destroyed, .no_spurious_wakes = true, .seconds = 2 },
    { .name = "future_then_closed", .body = closed, .no_spurious_wakes = true, .seconds = 2 },
    { .name = NULL },
};
