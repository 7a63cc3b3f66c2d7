/* SPDX-License-Identifier: MIT */
/* Regions with room for one fork: the owner goes on to the next region and comes back, while a thief
 * walks them, takes by force, or sleeps. Each fork runs once; none stays hidden.
 * Covers: LANE-1, LANE-2, LANE-3, LANE-4, REC-1, REC-2, REC-3, REC-7 */
#include "records_client.h"

static void begin(unsigned workers, bool barrier)
{
    client_begin_with(workers, 1, barrier);
    lanes->config.allocator = client_small_regions;
}

static void walks(void *arg)
{
    client_thief_of_lane0(arg);
    client_thief_of_lane0(arg);
}

static void run(model_thread *thief)
{
    begin(2, true);
    client_silence();
    (void)model_spawn(thief, CLIENT_WORKER(1));
    client_two_forks(client_cx(0));
    client_finish();
}

static void walk(void)
{
    run(walks);
}

static void force(void)
{
    run(client_force_twice);
}

/* The owner waits for the fork in its second region; the one in the first may be taken as well. */
static MODEL_FRAME void await_newer(filch_cx *cx)
{
    filch_fork_handle older;
    filch_fork(cx, &older, client_count, 0);
    const filch_pair both = filch_join2_word(cx, client_await, 3, client_take, 4);
    MODEL_ASSERT(both.first == 3 && both.second == 4);
    MODEL_ASSERT(filch_join(cx, &older) == 10 && client_runs[0] == 1);
}

static void sleep_beside(bool barrier)
{
    begin(2, barrier);
    MODEL_ASSERT(filchi_parker_init(&client_begun));
    client_start_worker(1);
    await_newer(client_cx(0));
    client_finish();
}

static void sleeper(void)
{
    sleep_beside(true);
}

static void sleeper_without_barrier(void)
{
    sleep_beside(false);
}

/* The owner has come back to the first region, whose fork it had offered and hides again. */
static MODEL_FRAME void await_older(filch_cx *cx)
{
    filch_fork_handle older;
    filch_fork(cx, &older, client_take, 4);
    (void)filch_join2_word(cx, client_nothing, 1, client_nothing, 2);
    (void)client_await(cx, 0);
    MODEL_ASSERT(filch_join(cx, &older) == 4);
}

static void came_back(void)
{
    begin(2, true);
    MODEL_ASSERT(filchi_parker_init(&client_begun));
    client_silence();
    client_start_worker(1);
    await_older(client_cx(0));
    client_finish();
}

/* Room for two: both are offered before the owner goes on to the next region, where it waits for the
 * second to be taken. */
static MODEL_FRAME void await_second(filch_cx *cx)
{
    filch_fork_handle fork[3];
    filch_fork(cx, &fork[0], client_count, 0);
    filch_fork(cx, &fork[1], client_take, 4);
    filch_fork(cx, &fork[2], client_count, 2);
    (void)client_await(cx, 0);
    MODEL_ASSERT(filch_join(cx, &fork[2]) == 12 && filch_join(cx, &fork[1]) == 4);
    MODEL_ASSERT(filch_join(cx, &fork[0]) == 10);
}

static void full(void)
{
    client_begin_with(2, 2, true);
    lanes->config.allocator = client_small_regions;
    MODEL_ASSERT(filchi_parker_init(&client_begun));
    client_silence();
    client_start_worker(1);
    await_second(client_cx(0));
    client_finish();
}

/* The fork of the first region is gone; the second one has been used before, and its bell
 * may be silent. */
static MODEL_FRAME void await_again(filch_cx *cx)
{
    filch_fork_handle older;
    filch_fork(cx, &older, client_count, 0);
    MODEL_ASSERT(client_steal_from_lane0(1));
    client_start_worker(1);
    (void)filch_join2_word(cx, client_nothing, 1, client_nothing, 2);
    const filch_pair both = filch_join2_word(cx, client_await, 3, client_take, 4);
    MODEL_ASSERT(both.first == 3 && both.second == 4);
    MODEL_ASSERT(filch_join(cx, &older) == 10);
}

static void again(void)
{
    begin(2, true);
    MODEL_ASSERT(filchi_parker_init(&client_begun));
    await_again(client_cx(0));
    client_finish();
}

const model_client model_clients[] = {
    { .name = "records_regions_walk", .body = walk, .no_spurious_wakes = true },
    { .name = "records_regions_force", .body = force, .no_spurious_wakes = true },
    { .name = "records_regions_sleeper",
      .body = sleeper,
      .no_spurious_wakes = true,
      .seconds = 2.5 },
    { .name = "records_regions_sleeper_without_barrier",
      .body = sleeper_without_barrier,
      .no_spurious_wakes = true },
    { .name = "records_regions_came_back",
      .body = came_back,
      .no_spurious_wakes = true,
      .seconds = 2.5 },
    { .name = "records_regions_full", .body = full, .no_spurious_wakes = true, .seconds = 2.5 },
    { .name = "records_regions_again", .body = again, .no_spurious_wakes = true },
    { .name = NULL },
};
