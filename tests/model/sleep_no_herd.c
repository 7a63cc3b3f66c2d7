/* SPDX-License-Identifier: MIT */
/* Two posts at once and two sleeping workers: one of them is woken, and hands on later. A search for
 * forks does not count as one for tasks; a search for anything does for both.
 * Covers: SLEEP-1 */
#include "parts_client.h"

#include <filch/fork.h>

/* Neither worker has a thread: what counts is whether it is woken. */
static void prepare(void)
{
    client_pool_parts(2, 2);
    for (unsigned i = 0; i < 2; i++) {
        filchi_eventcount_prepare(&pool->sleep.idle, &pool->workers[i]->waiter, FILCHI_SLEEP_IDLE);
    }
}

static bool woken(unsigned number)
{
    return filchi_waiter_woken(&pool->workers[number]->waiter);
}

static void task(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
}

static void post(void *arg)
{
    (void)arg;
    MODEL_ASSERT(filch_post(pool, task, NULL, 0, NULL) == FILCH_OK);
}

static void finish(void)
{
    while (client_run_one(0)) {}
    client_free_parts();
}

static void two_posts(void)
{
    prepare();
    (void)model_spawn(post, NULL);
    post(NULL);
    model_join_all();
    MODEL_ASSERT(woken(1) && !woken(0)); /* the newest */
    MODEL_ASSERT(filchi_load_seq_cst_u64(&pool->sleep.word) ==
                 FILCHI_SLEEP_SEARCHING + FILCHI_SLEEP_IDLE);
    finish();
}

static uintptr_t forked(filch_cx *cx, uintptr_t word)
{
    (void)cx;
    return word;
}

static void fork_search(void)
{
    filch_fork_handle handle;
    prepare();
    (void)filchi_add_relaxed_u64(&pool->sleep.word, FILCHI_SLEEP_FORK_SEARCHING);
    filch_fork(pool->workers[0]->lane.cx, &handle, forked, 1);
    MODEL_ASSERT(!woken(0) && !woken(1));
    post(NULL);
    MODEL_ASSERT(woken(1) && !woken(0));
    finish();
}

const model_client model_clients[] = {
    { .name = "sleep_no_herd", .body = two_posts, .seconds = 1 },
    { .name = "sleep_no_herd_fork_search", .body = fork_search, .seconds = 0.5 },
    { .name = NULL },
};
