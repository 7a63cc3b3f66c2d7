/* SPDX-License-Identifier: MIT */
/* The account near its limit: all workers' deques full are 2^32 tasks, one more than the field of
 * the tasks holds. It carries into the field of those inside, and back again when a task ends: the
 * pool does not look quiet meanwhile, is not closed by it, and is quiet in the end.
 * Covers: QUIET-1, QUIET-3, QUIET-4, CLOSE-1 */
#include "parts_client.h"

static void enter_and_end(void *arg)
{
    (void)arg;
    MODEL_ASSERT(filchi_pool_caller_enter(pool));
    filchi_pool_caller_exit(pool);
    filchi_pool_task_ended(pool);
}

/* Most tasks end in one step. */
static void body(void)
{
    client_pool_parts(1, 2);
    filchi_store_relaxed_u64(&pool->account, FILCHI_ACCOUNT_TASKS);
    (void)model_spawn(enter_and_end, NULL);
    MODEL_ASSERT(filch_pool_wait_quiet(pool, 0) == FILCH_E_TIMEOUT);
    model_join_all();
    (void)filchi_add_seq_cst_u64(&pool->account, 0 - (FILCHI_ACCOUNT_TASKS - 1));
    MODEL_ASSERT(filch_pool_wait_quiet(pool, 0) == FILCH_E_TIMEOUT);
    filchi_pool_task_ended(pool);
    MODEL_ASSERT(filch_pool_wait_quiet(pool, 0) == FILCH_OK);
    client_free_parts();
}

const model_client model_clients[] = {
    { .name = "account_near_limit", .body = body },
    { .name = NULL },
};
