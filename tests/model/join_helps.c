/* SPDX-License-Identifier: MIT */
/* A join whose child is with a thief runs other forks meanwhile, or sleeps; a fork that is made
 * while it sleeps wakes it. Here the thief's child does not end before its own fork has been taken
 * by the joiner, so a wake-up that is lost leaves nobody to go on. A join makes 16 rounds of tries before
 * it sleeps, each of which may be interrupted: complete at 0 or 1 pre-emptions only in the usual time.
 * Covers: SLEEP-1, EC-1, DEQUE-1, DEQUE-9, LATCH-3, LATCH-4 */
#include "lanes_client.h"

static filchi_parker taken; /* gets a token when the grandchild has begun */
static filchi_parker never; /* gets none */

static uintptr_t nothing(filch_cx *cx, uintptr_t n)
{
    (void)cx;
    return n;
}

static uintptr_t grandchild(filch_cx *cx, uintptr_t n)
{
    MODEL_ASSERT(client_runs_on(cx, 0) && client_lane(0)->help_depth == 1);
    filchi_unpark(&taken);
    return n + 1;
}

/* Until lane 0 sleeps in its join: the deadline passes when nobody else can run. That saves the
 * search the many tries before the sleep. */
static void wait_for_sleeper(void)
{
    MODEL_ASSERT(!filchi_park(&never, filchi_clock_ns() + 1000000));
}

static uintptr_t wait_for_taker(filch_cx *cx, uintptr_t n)
{
    (void)cx;
    MODEL_ASSERT(filchi_park(&taken, INT64_MAX));
    wait_for_sleeper();
    return n;
}

static uintptr_t child(filch_cx *cx, uintptr_t n)
{
    wait_for_sleeper();
    const filch_pair both = filch_join2_word(cx, wait_for_taker, n, grandchild, n);
    MODEL_ASSERT(both.first == n && both.second == n + 1);
    return 1;
}

static void run(filch_word_fn *with)
{
    client_lanes(2);
    MODEL_ASSERT(filchi_parker_init(&taken) && filchi_parker_init(&never));
    filch_fork_handle fork;
    filch_fork(client_cx(0), &fork, with, 4);
    client_steal_and_run(1);
    MODEL_ASSERT(filch_join(client_cx(0), &fork) == 1);
    model_join_all();
    client_free_lanes();
}

static void woken_for_fork(void)
{
    run(child);
}

/* The sleeper is woken, and finds that the fork has been taken back, or that the child has ended. */
static uintptr_t taken_back(filch_cx *cx, uintptr_t n)
{
    wait_for_sleeper();
    (void)filch_join2_word(cx, nothing, n, nothing, n);
    return 1;
}

static void woken_for_nothing(void)
{
    run(taken_back);
}

/* The same, and it sleeps again before the child ends. */
static uintptr_t taken_back_and_waits(filch_cx *cx, uintptr_t n)
{
    (void)taken_back(cx, n);
    wait_for_sleeper();
    return 1;
}

static const filchi_job mine;

static void sleeps_again(void)
{
    run(taken_back_and_waits);
}

/* Joins that wait for one another's children, each started later than the frame that waits. A task
 * that is run inside a wait does not see the label of the lane's own task, which has it again
 * afterwards. */
static uintptr_t nest(filch_cx *cx, uintptr_t n)
{
    const filchi_lane *lane = filchi_lane_of(cx);
    MODEL_ASSERT(lane == client_lane(1) || (lane->running == NULL) == (lane->help_depth != 0));
    if (n == 0) {
        return 0;
    }
    const filch_pair both = filch_join2_word(cx, nothing, n, nest, n - 1);
    return both.first + both.second;
}

static MODEL_FRAME void nest_in_frame(filch_cx *cx)
{
    filchi_lane *lane = filchi_lane_of(cx);
    lane->running = &mine;
    MODEL_ASSERT(nest(cx, 2) == 3);
    MODEL_ASSERT(lane->running == &mine);
    lane->running = NULL;
}

static void leapfrog(void)
{
    client_lanes(2);
    (void)model_spawn(client_thief, CLIENT_WORKER(1));
    nest_in_frame(client_cx(0));
    model_join_all();
    client_free_lanes();
}

const model_client model_clients[] = {
    { .name = "join_helps_woken_for_fork",
      .body = woken_for_fork,
      .no_spurious_wakes = true,
      .no_early_timeouts = true,
      .seconds = 1.2 },
    { .name = "join_helps_woken_for_nothing",
      .body = woken_for_nothing,
      .no_spurious_wakes = true,
      .no_early_timeouts = true,
      .seconds = 1.2 },
    { .name = "join_helps_sleeps_again",
      .body = sleeps_again,
      .no_spurious_wakes = true,
      .no_early_timeouts = true,
      .seconds = 1.2 },
    { .name = "join_helps_leapfrog", .body = leapfrog, .no_spurious_wakes = true },
    { .name = NULL },
};
