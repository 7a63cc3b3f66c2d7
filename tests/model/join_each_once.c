/* SPDX-License-Identifier: MIT */
/* A fork runs once: the owner pops it, or a thief has it and the join waits. The record that a pop
 * gives is the newest, whichever of the older ones thieves have.
 * Covers: DEQUE-2, DEQUE-3, DEQUE-4, DEQUE-8 */
#include "lanes_client.h"

static uint64_t runs[3]; /* plain: two runs at once are a race */

static uintptr_t count(filch_cx *cx, uintptr_t n)
{
    (void)cx;
    runs[n]++;
    return n + 10;
}

static MODEL_FRAME void one_fork(filch_cx *cx)
{
    const filch_pair both = filch_join2_word(cx, count, 0, count, 1);
    MODEL_ASSERT(both.first == 10 && both.second == 11);
    MODEL_ASSERT(runs[0] == 1 && runs[1] == 1);
}

static MODEL_FRAME void two_forks(filch_cx *cx)
{
    filch_fork_handle older;
    filch_fork_handle newer;
    filch_fork(cx, &older, count, 0);
    filch_fork(cx, &newer, count, 1);
    MODEL_ASSERT(filch_join(cx, &newer) == 11);
    MODEL_ASSERT(runs[1] == 1);
    MODEL_ASSERT(filch_join(cx, &older) == 10);
    MODEL_ASSERT(runs[0] == 1);
}

static void twice(void *arg)
{
    client_thief(arg);
    client_thief(arg);
}

static void two_forks_one_thief(void)
{
    client_lanes(2);
    (void)model_spawn(twice, CLIENT_WORKER(1));
    two_forks(client_cx(0));
    model_join_all();
    client_free_lanes();
}

static void one_fork_two_thieves(void)
{
    client_lanes(3);
    (void)model_spawn(client_thief_of_lane0, CLIENT_WORKER(1));
    (void)model_spawn(client_thief_of_lane0, CLIENT_WORKER(2));
    one_fork(client_cx(0));
    model_join_all();
    client_free_lanes();
}

/* A deque that has room for two: the third fork runs at once, or in its turn if a thief made room;
 * its join must know which. */
static MODEL_FRAME void three_forks(filch_cx *cx)
{
    filch_fork_handle fork[3];
    for (uintptr_t i = 0; i < 3; i++) {
        filch_fork(cx, &fork[i], count, i);
    }
    for (uintptr_t i = 3; i-- > 0;) {
        MODEL_ASSERT(filch_join(cx, &fork[i]) == i + 10);
        MODEL_ASSERT(runs[i] == 1);
    }
}

static void no_room(void)
{
    client_lanes_with(2, 2);
    lanes->config.allocator = client_no_memory;
    (void)model_spawn(client_thief, CLIENT_WORKER(1));
    three_forks(client_cx(0));
    model_join_all();
    client_free_lanes();
}

const model_client model_clients[] = {
    { .name = "join_each_once_two_forks", .body = two_forks_one_thief, .no_spurious_wakes = true },
    { .name = "join_each_once_two_thieves",
      .body = one_fork_two_thieves,
      .no_spurious_wakes = true },
    { .name = "join_each_once_no_room", .body = no_room, .no_spurious_wakes = true },
    { .name = NULL },
};
