/* SPDX-License-Identifier: MIT */
/* The stop of a pool meets a worker that goes to sleep: it sees the flag, or is woken. Those that
 * sleep already, idle or in a join, are woken.
 * Covers: STOP-1, STOP-2, EC-1 */
#include "parts_client.h"

static void shut_down(void)
{
    filch_shutdown_report report;
    MODEL_ASSERT(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, &report) == FILCH_OK);
    MODEL_ASSERT(report.accepted == 0 && report.ran == 0 && report.cancelled == 0);
}

static void one_worker(void)
{
    client_pool_parts(1, 2);
    client_start(1, filchi_worker_main);
    shut_down();
    MODEL_ASSERT(filchi_load_seq_cst_u64(&pool->sleep.word) == 0);
    MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
}

/* Workers 1 and 2 sleep, and have no thread: what counts is whether they are woken. */
static void sleepers(void)
{
    client_pool_parts(3, 2);
    client_start(1, filchi_worker_main);
    filchi_waiter *idle = &pool->workers[1]->waiter;
    filchi_waiter *joining = &pool->workers[2]->waiter;
    filchi_eventcount_prepare(&pool->sleep.idle, idle, FILCHI_SLEEP_IDLE);
    filchi_eventcount_prepare(&pool->sleep.joining, joining, FILCHI_SLEEP_JOINING);
    shut_down();
    MODEL_ASSERT(filchi_waiter_woken(idle) && filchi_waiter_woken(joining));
    MODEL_ASSERT(filchi_load_seq_cst_u64(&pool->sleep.word) ==
                 FILCHI_SLEEP_SEARCHING + FILCHI_SLEEP_FORK_SEARCHING);
    MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
}

const model_client model_clients[] = {
    { .name = "stop_park", .body = one_worker, .no_spurious_wakes = true },
    { .name = "stop_park_sleepers", .body = sleepers, .no_spurious_wakes = true },
    { .name = NULL },
};
