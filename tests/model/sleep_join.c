/* SPDX-License-Identifier: MIT */
/* A worker sleeps in a join: its latch wakes it, or a fork that somebody publishes, and neither is
 * missed. The token of the other one does no harm later.
 * Covers: SLEEP-1, EC-1, EC-2, LATCH-2, LATCH-3, LATCH-4, DEQUE-1, DEQUE-9, OFFER-1, OFFER-2 */
#include "parts_client.h"

#include <filch/fork.h>

static filchi_latch latch;
static uint64_t result;

static void setter(void *arg)
{
    (void)arg;
    result = 5;
    filchi_latch_set(&latch);
}

static uintptr_t forked(filch_cx *cx, uintptr_t word)
{
    (void)cx;
    return word;
}

static filch_fork_handle handle;

/* Plays worker 0. */
static void forker(void *arg)
{
    (void)arg;
    filch_fork(pool->workers[0]->lane.cx, &handle, forked, 1);
}

static void prepare(void)
{
    client_pool_parts(2, 2);
    pool->worker_count = 2;
    filchi_latch_init(&latch);
}

static void finish(void)
{
    model_join_all();
    MODEL_ASSERT(filchi_load_seq_cst_u64(&pool->sleep.word) == 0);
    client_free_parts();
}

/* What join.c does, without its rounds of fruitless tries. */
static void wait_for_latch(void)
{
    filchi_work work = { NULL, NULL };
    filchi_worker *worker = pool->workers[1];
    while (!filchi_latch_is_set(&latch)) {
        if (!filchi_steal_fork(worker, &work) && filchi_sleep_join(worker, &latch, &work)) {
            filchi_sleep_fork_search_end(pool);
        }
    }
    MODEL_ASSERT(result == 5);
}

/* The latch alone. */

static void by_latch(void)
{
    prepare();
    (void)model_spawn(setter, NULL);
    wait_for_latch();
    finish();
}

/* Until there is a fork, or an open loop; the latch is then free for the next sleep. */
static void wait_for_fork(void)
{
    filchi_work work = { NULL, NULL };
    filchi_worker *worker = pool->workers[1];
    while (!filchi_steal_fork(worker, &work)) {
        if (filchi_sleep_join(worker, &latch, &work)) {
            filchi_sleep_fork_search_end(pool);
        }
        MODEL_ASSERT(filchi_load_relaxed_uptr(&latch.state) == FILCHI_LATCH_OPEN);
    }
}

static void by_fork(void)
{
    prepare();
    (void)model_spawn(forker, NULL);
    wait_for_fork();
    finish();
}

/* Both, one after the other; whatever woke it, the latch is then waited for, and the tokens that are
 * left make a later park return early once. */
static void fork_and_set(void *arg)
{
    forker(arg);
    setter(arg);
}

static void by_both(void)
{
    prepare();
    (void)model_spawn(fork_and_set, NULL);
    wait_for_latch();
    finish();
}

/* An open loop. */
static filchi_offer offer;

static filchi_admission admit(filchi_offer *self)
{
    (void)self;
    return FILCHI_ADMITTED_LAST;
}

static void opener(void *arg)
{
    (void)arg;
    offer.admit = admit;
    filchi_list_init(&offer.link);
    filchi_offer_open(pool, &offer);
}

static void by_offer(void)
{
    prepare();
    (void)model_spawn(opener, NULL);
    wait_for_fork();
    finish();
}

const model_client model_clients[] = {
    { .name = "sleep_join_latch", .body = by_latch, .no_spurious_wakes = true, .seconds = 0.7 },
    { .name = "sleep_join_fork", .body = by_fork, .no_spurious_wakes = true, .seconds = 0.7 },
    { .name = "sleep_join_both", .body = by_both, .no_spurious_wakes = true },
    { .name = "sleep_join_offer", .body = by_offer, .no_spurious_wakes = true, .seconds = 0.7 },
    { .name = NULL },
};
