/* SPDX-License-Identifier: MIT */
/* A pool is abandoned while its last task ends: the destroy frees it, or hands it to a thread that frees
 * it after that task and after the owner's last touch. */
#include "parts_client.h"

static void last_task(void *worker)
{
    (void)worker;
    (void)model_ghost(0, 1);
    filchi_pool_tasks_ended(pool, 1);
}

static void abandoned(void)
{
    filch_shutdown_report report;
    client_pool_parts(1, 2);
    filchi_store_relaxed_u64(&pool->doors[0].in, FILCHI_DOOR_TASK);
    client_start(1, last_task);
    const filch_status status = filch_pool_shutdown(pool, FILCH_ABANDON, FILCH_NOW, &report);
    MODEL_ASSERT(status == FILCH_OK || status == FILCH_E_TIMEOUT);
    MODEL_ASSERT(status != FILCH_OK || model_ghost(0, 0) == 1);
    MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
    model_join_all();
    MODEL_ASSERT(model_ghost(0, 0) == 1);
}

const model_client model_clients[] = {
    { .name = "abandon_hand_over", .body = abandoned, .no_spurious_wakes = true },
    { .name = NULL },
};
