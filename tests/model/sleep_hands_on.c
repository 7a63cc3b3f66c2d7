/* SPDX-License-Identifier: MIT */
/* Two posts, one worker that searches and one that sleeps: the posters rely on the searcher, which
 * takes one of the tasks and, as the last one to end its search, has the sleeper woken for the
 * other. It must not keep it for later: the task it runs may last for ever, so here it does not end
 * before the sleeper was woken.
 * Covers: SLEEP-1, SLEEP-2 */
#include "parts_client.h"

#include <filch/fork.h>

/* Worker 1 sleeps, and has no thread: what counts is whether it is woken. */
static void prepare(size_t queue_tasks)
{
    client_pool_parts(2, queue_tasks);
    filchi_sleep *sleep = &pool->sleep;
    filchi_eventcount_prepare(&sleep->idle, &pool->workers[1]->waiter, FILCHI_SLEEP_IDLE);
}

static bool sleeper_woken(void)
{
    return filchi_waiter_woken(&pool->workers[1]->waiter);
}

static void task(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
}

static void poster(void *arg)
{
    (void)arg;
    MODEL_ASSERT(filch_post(pool, task, NULL, 0, NULL) == FILCH_OK);
}

static void finish(void)
{
    while (client_run_one(0)) {}
    client_free_parts();
}

/* The end of a search, step by step: the searcher holds its task already. */
static void search_end(void)
{
    prepare(2);
    filchi_sleep_search_begin(pool);
    (void)model_spawn(poster, NULL);
    filchi_sleep_search_end(pool);
    model_join_all();
    MODEL_ASSERT(sleeper_woken());
    finish();
}

/* A searcher that ends while another goes on hands nothing on: the other one does. */
static void ender(void *arg)
{
    (void)arg;
    filchi_sleep_search_end(pool);
}

static void two_searchers(void)
{
    prepare(2);
    filchi_sleep_search_begin(pool);
    filchi_sleep_search_begin(pool);
    (void)model_spawn(poster, NULL);
    (void)model_spawn(ender, NULL);
    filchi_sleep_search_end(pool);
    model_join_all();
    MODEL_ASSERT(sleeper_woken());
    MODEL_ASSERT(filchi_load_seq_cst_u64(&pool->sleep.word) == FILCHI_SLEEP_SEARCHING);
    finish();
}

/* A fork in place of a task, published by worker 0. */
static uintptr_t forked(filch_cx *cx, uintptr_t word)
{
    (void)cx;
    return word;
}

static filch_fork_handle handle;

static void forker(void *arg)
{
    (void)arg;
    filch_fork(pool->workers[0]->lane.cx, &handle, forked, 1);
}

static void fork(void)
{
    prepare(2);
    pool->worker_count = 2;
    filchi_sleep_search_begin(pool);
    (void)model_spawn(forker, NULL);
    filchi_sleep_search_end(pool);
    model_join_all();
    MODEL_ASSERT(sleeper_woken());
    finish();
}

/* Who was woken in a join, and searches for forks, hands on as well, here to another join. */
static void fork_in_join(void)
{
    client_pool_parts(2, 2);
    filchi_sleep *sleep = &pool->sleep;
    filchi_eventcount_prepare(&sleep->joining, &pool->workers[1]->waiter, FILCHI_SLEEP_JOINING);
    (void)filchi_add_relaxed_u64(&sleep->word, FILCHI_SLEEP_FORK_SEARCHING);
    pool->worker_count = 2;
    (void)model_spawn(forker, NULL);
    filchi_sleep_fork_search_end(pool);
    model_join_all();
    MODEL_ASSERT(sleeper_woken());
    finish();
}

/* The worker's own loop. The posts find it anywhere between its start and its sleep. */
static void long_task(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
    (void)model_ghost(0, 1);
    while (!sleeper_woken()) {
        model_yield();
    }
    filchi_store_seq_cst_u32(&pool->stop, 1);
}

static void loop(void)
{
    prepare(2);
    client_start(1, filchi_worker_main);
    MODEL_ASSERT(filch_post(pool, long_task, NULL, 0, NULL) == FILCH_OK);
    MODEL_ASSERT(filch_post(pool, long_task, NULL, 0, NULL) == FILCH_OK);
    model_join_all();
    MODEL_ASSERT(model_ghost(0, 0) == 1);
    finish();
}

const model_client model_clients[] = {
    { .name = "sleep_hands_on", .body = search_end, .seconds = 0.6 },
    { .name = "sleep_hands_on_two_searchers", .body = two_searchers, .seconds = 0.6 },
    { .name = "sleep_hands_on_fork", .body = fork, .seconds = 0.6 },
    { .name = "sleep_hands_on_fork_in_join", .body = fork_in_join, .seconds = 0.6 },
    { .name = "sleep_hands_on_loop", .body = loop, .no_spurious_wakes = true },
    { .name = NULL },
};
