/* SPDX-License-Identifier: MIT */
/* Two shutdowns at once: one does it, the other one is told that the pool is busy, or that it is done;
 * the workers are joined once.
 * Covers: CLOSE-1, STOP-1, STOP-2 */
#include "parts_client.h"

static void closer(void *arg)
{
    const filch_shutdown_mode mode = arg != NULL ? FILCH_CANCEL : FILCH_DRAIN;
    const filch_status status = filch_pool_shutdown(pool, mode, FILCH_FOREVER, NULL);
    MODEL_ASSERT(status == FILCH_OK || status == FILCH_E_BUSY);
    if (status == FILCH_OK) {
        MODEL_ASSERT(pool->stopped);
        (void)model_ghost(0, 1);
    }
}

static void two(void *mode)
{
    client_pool_parts(1, 2);
    client_start(1, filchi_worker_main);
    const unsigned other = model_spawn(closer, mode);
    closer(NULL);
    model_join(other);
    MODEL_ASSERT(model_ghost(0, 0) >= 1);
    MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
}

static void drains(void)
{
    two(NULL);
}

static void drain_and_cancel(void)
{
    two(&pool);
}

/* A shutdown that is late leaves the pool closed; the next one, which cancels, ends it. The task
 * that holds it up ends while the first one leaves its place among the waiters. */
static void task(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
}

static void runner(void *arg)
{
    (void)arg;
    client_run(0);
}

static void late(void)
{
    client_pool_parts(1, 2);
    MODEL_ASSERT(filch_post(pool, task, NULL, 0, NULL) == FILCH_OK);
    (void)model_spawn(runner, NULL);
    const filch_status status = filch_pool_shutdown(pool, FILCH_DRAIN, 2000000000, NULL);
    MODEL_ASSERT(status == FILCH_OK || status == FILCH_E_TIMEOUT);
    MODEL_ASSERT(pool->stopped == (status == FILCH_OK));
    MODEL_ASSERT(filch_post(pool, task, NULL, 0, NULL) == FILCH_E_CLOSED);
    MODEL_ASSERT(filch_pool_shutdown(pool, FILCH_CANCEL, FILCH_FOREVER, NULL) == FILCH_OK);
    model_join_all();
    MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
}

const model_client model_clients[] = {
    { .name = "shutdown_two_drains", .body = drains, .no_spurious_wakes = true, .seconds = 1 },
    { .name = "shutdown_drain_and_cancel",
      .body = drain_and_cancel,
      .no_spurious_wakes = true,
      .seconds = 1 },
    { .name = "shutdown_late", .body = late, .no_spurious_wakes = true, .seconds = 1 },
    { .name = NULL },
};
