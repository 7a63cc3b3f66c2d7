/* SPDX-License-Identifier: MIT */
/* A post to a group meets a worker that goes to sleep: the worker sees the task, or is woken.
 * Covers: SLEEP-1, EC-1, GROUP-1, GROUP-2 */
#include "group_client.h"

static void last(filch_cx *cx, void *arg)
{
    client_task(cx, arg);
    filchi_store_seq_cst_u32(&pool->stop, 1);
}

static void post_last(void)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.group = group;
    MODEL_ASSERT(filch_post(pool, last, NULL, 0, &options) == FILCH_OK);
}

static void from_outside(void)
{
    client_group(1, 2, 0);
    client_start(1, filchi_worker_main);
    post_last();
    model_join_all();
    MODEL_ASSERT(client_ran[0] == 1);
    MODEL_ASSERT(filchi_load_seq_cst_u64(&pool->sleep.word) == 0);
    client_group_end();
}

/* Worker 1 has a thread; the client plays worker 0, which posts its own. */
static void from_a_worker(void)
{
    filchi_place place;
    client_group(2, 2, 0);
    filchi_worker *worker = pool->workers[1];
    MODEL_ASSERT(filchi_thread_start(&worker->thread, filchi_worker_main, worker, 0, "w"));
    filchi_place_enter(&place, pool, &pool->workers[0]->lane);
    post_last();
    filchi_place_leave(&place);
    model_join_all();
    MODEL_ASSERT(client_ran[0] == 1);
    MODEL_ASSERT(filchi_load_seq_cst_u64(&pool->sleep.word) == 0);
    client_group_end();
}

const model_client model_clients[] = {
    { .name = "group_lost_wake", .body = from_outside, .no_spurious_wakes = true },
    { .name = "group_lost_wake_own", .body = from_a_worker, .no_spurious_wakes = true },
    { .name = NULL },
};
