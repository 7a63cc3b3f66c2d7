/* SPDX-License-Identifier: MIT */
/* A worker posts onto its own deque, or forks, while another one goes to sleep: that one's last look
 * sees it, or it is woken, and steals it.
 * Covers: SLEEP-1, EC-1, DEQUE-1, DEQUE-6, DEQUE-9 */
#include "parts_client.h"

#include <filch/fork.h>

static uint64_t input;

static void last(filch_cx *cx, void *arg)
{
    MODEL_ASSERT(filchi_lane_of(cx) == &pool->workers[1]->lane && *(uint64_t *)arg == 5);
    (void)model_ghost(0, 1);
    filchi_store_seq_cst_u32(&pool->stop, 1);
}

/* Worker 1 has a thread; the client plays worker 0. */
static void start(void)
{
    client_pool_parts(2, 2);
    filchi_worker *worker = pool->workers[1];
    pool->worker_count = 2;
    MODEL_ASSERT(filchi_thread_start(&worker->thread, filchi_worker_main, worker, 0, "w"));
}

static void finish(void)
{
    model_join_all();
    MODEL_ASSERT(model_ghost(0, 0) == 1);
    MODEL_ASSERT(filchi_load_seq_cst_u64(&pool->sleep.word) == 0);
    client_free_parts();
}

static void post(void)
{
    filchi_place place;
    start();
    filchi_place_enter(&place, pool, &pool->workers[0]->lane);
    input = 5;
    MODEL_ASSERT(filch_post(pool, last, &input, 0, NULL) == FILCH_OK);
    filchi_place_leave(&place);
    finish();
}

static uintptr_t forked(filch_cx *cx, uintptr_t word)
{
    last(cx, (void *)word);
    return word + 1;
}

/* The join waits without helping and without taking the fork back. */
static void fork(void)
{
    filch_fork_handle handle;
    start();
    input = 5;
    filch_fork(pool->workers[0]->lane.cx, &handle, forked, (uintptr_t)&input);
    finish();
}

const model_client model_clients[] = {
    { .name = "sleep_own_post", .body = post, .no_spurious_wakes = true },
    { .name = "sleep_own_fork", .body = fork, .no_spurious_wakes = true },
    { .name = NULL },
};
