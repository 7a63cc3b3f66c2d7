/* SPDX-License-Identifier: MIT */
/* A whole pool with two workers and a root that forks: the fork is stolen or not, the joining worker
 * helps, sleeps or finds it done; results are visible, and the frames of the forks may be reused.
 * Covers: DEQUE-1, DEQUE-9, LATCH-1, LATCH-2, LATCH-3, LATCH-4, SCOPE-1, SCOPE-2, SLEEP-1, SLEEP-2 */
#include "pool_client.h"

static uintptr_t add_one(filch_cx *cx, uintptr_t n)
{
    (void)cx;
    return n + 1;
}

static uintptr_t root_join2(filch_cx *cx, uintptr_t n)
{
    const filch_pair both = filch_join2_word(cx, add_one, n, add_one, n + 10);
    return both.first + both.second;
}

static void join2(void)
{
    uintptr_t value = 0;
    filch_pool *pool = client_pool(2);
    MODEL_ASSERT(filch_run_word(pool, root_join2, 1, &value) == FILCH_OK && value == 14);
    client_end(pool, FILCH_DRAIN);
}

static uint64_t done[2];

static void child(filch_cx *cx, void *arg)
{
    (void)cx;
    done[(uintptr_t)arg]++;
}

static uintptr_t root_scope(filch_cx *cx, uintptr_t n)
{
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    filch_spawn(cx, &scope, child, (void *)0);
    filch_spawn(cx, &scope, child, (void *)1);
    filch_scope_end(cx, &scope);
    return n + done[0] + done[1];
}

static void scope(void)
{
    uintptr_t value = 0;
    filch_pool *pool = client_pool(2);
    MODEL_ASSERT(filch_run_word(pool, root_scope, 1, &value) == FILCH_OK && value == 3);
    client_end(pool, FILCH_DRAIN);
}

const model_client model_clients[] = {
    { .name = "pool_fork_join2", .body = join2, .no_spurious_wakes = true, .seconds = 3 },
    { .name = "pool_fork_scope", .body = scope, .no_spurious_wakes = true, .seconds = 3 },
    { .name = NULL },
};
