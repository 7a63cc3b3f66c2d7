/* SPDX-License-Identifier: MIT */
/* A post from outside meets a worker that goes to sleep: the worker sees the task, or is woken.
 * Covers: SLEEP-1, EC-1, INJ-2, INJ-5 */
#include "parts_client.h"

static uint64_t input[2];

static void one(filch_cx *cx, void *arg)
{
    (void)cx;
    MODEL_ASSERT(*(uint64_t *)arg == 5);
    (void)model_ghost(0, 1);
}

/* Ends the worker that runs it, without the wake of a real stop. */
static void last(filch_cx *cx, void *arg)
{
    one(cx, arg);
    filchi_store_seq_cst_u32(&pool->stop, 1);
}

static void post(filch_fn *fn, unsigned number)
{
    input[number] = 5;
    MODEL_ASSERT(filch_post(pool, fn, &input[number], 0, NULL) == FILCH_OK);
}

static void finish(unsigned tasks)
{
    model_join_all();
    MODEL_ASSERT(model_ghost(0, 0) == tasks);
    MODEL_ASSERT(filchi_load_seq_cst_u64(&pool->sleep.word) == 0);
    client_free_parts();
}

static void body(void)
{
    client_pool_parts(1, 2);
    client_start(1, filchi_worker_main);
    post(last, 0);
    finish(1);
}

static void twice(void)
{
    client_pool_parts(1, 2);
    client_start(1, filchi_worker_main);
    post(one, 0);
    post(last, 1);
    finish(2);
}

const model_client model_clients[] = {
    { .name = "sleep_lost_wake", .body = body, .no_spurious_wakes = true, .seconds = 0.7 },
    { .name = "sleep_lost_wake_twice", .body = twice, .no_spurious_wakes = true, .seconds = 2.5 },
    { .name = NULL },
};
