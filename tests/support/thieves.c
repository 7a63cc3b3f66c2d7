/* SPDX-License-Identifier: MIT */
/* Threads that steal: see thieves.h. */
#include "support/thieves.h"

#include <sched.h>

static void steal_until_told(test_thieves *team, unsigned index)
{
    size_t stolen = 0;
    size_t lost = 0;
    while (!atomic_load_explicit(&team->stop, memory_order_relaxed)) {
        filch_item item = { 0, 0 };
        filch_steal_result result = filch_deque_steal(team->deque, &item);
        if (result == FILCH_STEAL_GOT) {
            team->got(team->ctx, index, item);
            stolen++;
        } else if (result == FILCH_STEAL_LOST) {
            lost++;
        } else {
            TEST_CHECK(result == FILCH_STEAL_EMPTY);
            sched_yield();
        }
    }
    atomic_fetch_add(&team->stolen, stolen);
    atomic_fetch_add(&team->lost, lost);
}

static void *thief_main(void *arg)
{
    test_thieves *team = arg;
    unsigned index = atomic_fetch_add(&team->running, 1);
    steal_until_told(team, index);
    return NULL;
}

void test_thieves_start(test_thieves *team, filch_deque *deque, unsigned count,
                        test_thieves_fn *got, void *ctx)
{
    team->deque = deque;
    team->got = got;
    team->ctx = ctx;
    team->count = count;
    atomic_init(&team->running, 0);
    atomic_init(&team->stop, false);
    atomic_init(&team->stolen, 0);
    atomic_init(&team->lost, 0);
    for (unsigned i = 0; i < count; i++) {
        test_thread_start(&team->threads[i], thief_main, team);
    }
    test_await(&team->running, count);
}

void test_thieves_stop(test_thieves *team)
{
    atomic_store(&team->stop, true);
    for (unsigned i = 0; i < team->count; i++) {
        test_thread_join(team->threads[i]);
    }
}
