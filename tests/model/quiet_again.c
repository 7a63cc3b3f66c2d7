/* SPDX-License-Identifier: MIT */
/* The pool is quiet for a moment and has another task when the waiter looks: it goes back to sleep
 * at once, however fast it is, and the worker that woke it comes back from the wake and runs the
 * task.
 * Covers: QUIET-2, QUIET-3, EC-1 */
#include "parts_client.h"

/* What a foreign post does to the account, and its worker. */
static void enter(void *arg)
{
    (void)arg;
    MODEL_ASSERT(filchi_pool_caller_enter(pool));
    (void)model_ghost(0, 1);
    filchi_pool_caller_exit(pool);
}

static void end_two(void *arg)
{
    (void)arg;
    filchi_pool_task_ended(pool);
    while (model_ghost(0, 0) == 0) {
        model_yield();
    }
    filchi_pool_task_ended(pool);
}

static void body(void)
{
    client_pool_parts(1, 2);
    filchi_store_relaxed_u64(&pool->account, FILCHI_ACCOUNT_TASK);
    (void)model_spawn(end_two, NULL);
    (void)model_spawn(enter, NULL);
    MODEL_ASSERT(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_OK);
    model_join_all();
    client_free_parts();
}

const model_client model_clients[] = {
    { .name = "quiet_again", .body = body, .no_spurious_wakes = true, .seconds = 3 },
    { .name = NULL },
};
