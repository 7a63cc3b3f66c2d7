/* SPDX-License-Identifier: MIT */
/* A pool is destroyed as soon as it is quiet: its worker may still be on its way out of the last
 * task, waking those who wait for quiet.
 * Covers: QUIET-1, QUIET-2, QUIET-3, STOP-1, STOP-2 */
#include "parts_client.h"

static uint64_t output;

static void task(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
    output++;
}

static void body(void)
{
    client_pool_parts(1, 2);
    MODEL_ASSERT(filch_post(pool, task, NULL, 0, NULL) == FILCH_OK);
    client_start(1, filchi_worker_main);
    MODEL_ASSERT(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_OK);
    MODEL_ASSERT(output == 1);
    MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
}

/* The drain of the destroy itself waits for the task. */
static void drain(void)
{
    client_pool_parts(1, 2);
    MODEL_ASSERT(filch_post(pool, task, NULL, 0, NULL) == FILCH_OK);
    client_start(1, filchi_worker_main);
    MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
    MODEL_ASSERT(output == 1);
}

const model_client model_clients[] = {
    { .name = "destroy_after_quiet", .body = body, .no_spurious_wakes = true },
    { .name = "destroy_drains", .body = drain, .no_spurious_wakes = true },
    { .name = NULL },
};
