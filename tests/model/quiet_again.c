/* SPDX-License-Identifier: MIT */
/* The pool is quiet for a moment and has another task when the waiter looks: it goes back to sleep
 * at once, however fast it is, and the worker that woke it comes back from the wake and runs the
 * task.
 * Covers: QUIET-2, QUIET-4, QUIET-5, EC-1 */
#include "parts_client.h"

/* What a foreign post does to the account, and its worker, which has the task from the poster. */
static filchi_atomic_u32 entered;

static void enter(void *arg)
{
    (void)arg;
    MODEL_ASSERT(filchi_pool_caller_enter(pool));
    filchi_store_release_u32(&entered, 1);
    filchi_pool_caller_exit(pool);
}

static void end_two(void *arg)
{
    (void)arg;
    filchi_pool_tasks_ended(pool, 1);
    while (filchi_load_acquire_u32(&entered) == 0) {
        model_yield();
    }
    filchi_pool_tasks_ended(pool, 1);
}

static void body(void)
{
    client_pool_parts(1, 2);
    filchi_store_relaxed_u32(&entered, 0);
    filchi_store_relaxed_u64(&pool->doors[0].in, FILCHI_DOOR_TASK);
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
