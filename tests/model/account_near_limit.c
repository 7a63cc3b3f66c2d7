/* SPDX-License-Identifier: MIT */
/* A door by which so many tasks have come that the next one wraps its field: the pool does not look
 * quiet while that one is pending, the callers are not disturbed, and it is quiet in the end.
 * Covers: QUIET-3, QUIET-4, QUIET-5, DOOR-1, DOOR-2, DOOR-3 */
#include "parts_client.h"

static void enter_and_end(void *arg)
{
    (void)arg;
    MODEL_ASSERT(filchi_pool_caller_enter(pool));
    filchi_pool_caller_exit(pool);
    filchi_pool_tasks_ended(pool, 1);
}

static void body(void)
{
    client_pool_parts(1, 2);
    filchi_door *door = &pool->doors[0];
    const uint64_t all = UINT64_MAX / FILCHI_DOOR_TASK;
    filchi_store_relaxed_u64(&door->in, all * FILCHI_DOOR_TASK);
    filchi_store_relaxed_u64(&door->ended, all - 1);
    (void)model_spawn(enter_and_end, NULL);
    MODEL_ASSERT(filch_pool_wait_quiet(pool, 0) == FILCH_E_TIMEOUT);
    model_join_all();
    MODEL_ASSERT(filch_pool_wait_quiet(pool, 0) == FILCH_E_TIMEOUT);
    const filchi_pending left = filchi_account_read(pool);
    MODEL_ASSERT(left.tasks == 1 && left.callers == 0);
    filchi_pool_tasks_ended(pool, 1);
    MODEL_ASSERT(filch_pool_wait_quiet(pool, 0) == FILCH_OK);
    client_free_parts();
}

const model_client model_clients[] = {
    { .name = "account_near_limit", .body = body },
    { .name = NULL },
};
