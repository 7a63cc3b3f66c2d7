/* SPDX-License-Identifier: MIT */
/* A thief takes a private fork by force while its owner joins it, and forks again in the same place:
 * each fork runs once, with its own argument, and what its owner wrote before.
 * Covers: REC-1, REC-2, REC-3, REC-5, REC-6, REC-8 */
#include "records_client.h"

static uint64_t note[CLIENT_RUNS]; /* plain */

static uintptr_t counted(filch_cx *cx, uintptr_t n)
{
    MODEL_ASSERT(note[n] == n + 100);
    return client_count(cx, n);
}

static MODEL_FRAME void fork_once(uintptr_t n)
{
    note[n] = n + 100;
    const filch_pair both = filch_join2_word(client_cx(0), client_nothing, 1, counted, n);
    MODEL_ASSERT(both.first == 1 && both.second == n + 10 && client_runs[n] == 1);
}

/* THE race: the owner's claim against the thief's. */
static void join(void)
{
    client_begin(2, true);
    client_silence();
    (void)model_spawn(client_force, CLIENT_WORKER(1));
    fork_once(0);
    client_finish();
}

/* The thief has looked at one fork, and finds another one in its place. */
static void again(void)
{
    client_begin(2, true);
    client_silence();
    (void)model_spawn(client_force, CLIENT_WORKER(1));
    fork_once(0);
    fork_once(1);
    fork_once(2);
    client_finish();
}

/* Each is taken, one after the other in the same place: each join waits for its own. */
static uintptr_t wait_for_thief(filch_cx *cx, uintptr_t n)
{
    (void)cx;
    while (model_ghost(0, 0) <= n) {
        model_yield();
    }
    return n;
}

static uintptr_t taken(filch_cx *cx, uintptr_t n)
{
    (void)model_ghost(0, 1);
    return client_count(cx, n);
}

static MODEL_FRAME void fork_for_thief(uintptr_t n)
{
    const filch_pair both = filch_join2_word(client_cx(0), wait_for_thief, n, taken, n);
    MODEL_ASSERT(both.first == n && both.second == n + 10 && client_runs[n] == 1);
}

static void takes_both(void *arg)
{
    while (model_ghost(0, 0) < 2) {
        if (!client_steal_from_lane0((unsigned)(uintptr_t)arg)) {
            client_force(arg);
            model_yield();
        }
    }
}

static void twice(void)
{
    client_begin(2, true);
    client_silence();
    (void)model_spawn(takes_both, CLIENT_WORKER(1));
    fork_for_thief(0);
    fork_for_thief(1);
    client_finish();
}

static MODEL_FRAME void fork_void(void)
{
    uint64_t runs[2] = { 0, 0 };
    filch_join2(client_cx(0), client_count_void, &runs[0], client_count_void, &runs[1]);
    MODEL_ASSERT(runs[0] == 1 && runs[1] == 1);
}

static void join2(void)
{
    client_begin(2, true);
    client_silence();
    (void)model_spawn(client_force, CLIENT_WORKER(1));
    fork_void();
    fork_void();
    client_finish();
}

/* By handle, two at a time: the thief takes the older one, then perhaps the newer one. */
static MODEL_FRAME void two_handles(filch_cx *cx)
{
    filch_fork_handle older;
    filch_fork_handle newer;
    note[0] = 100;
    filch_fork(cx, &older, counted, 0);
    note[1] = 101;
    filch_fork(cx, &newer, counted, 1);
    MODEL_ASSERT(filch_join(cx, &newer) == 11 && client_runs[1] == 1);
    note[2] = 102;
    filch_fork(cx, &newer, counted, 2);
    MODEL_ASSERT(filch_join(cx, &newer) == 12 && client_runs[2] == 1);
    MODEL_ASSERT(filch_join(cx, &older) == 10 && client_runs[0] == 1);
}

static void handles(void)
{
    client_begin(2, true);
    client_silence();
    (void)model_spawn(client_force_twice, CLIENT_WORKER(1));
    two_handles(client_cx(0));
    client_finish();
}

const model_client model_clients[] = {
    { .name = "records_forced_join", .body = join, .no_spurious_wakes = true },
    { .name = "records_forced_again", .body = again, .no_spurious_wakes = true },
    { .name = "records_forced_twice", .body = twice, .no_spurious_wakes = true },
    { .name = "records_forced_join2", .body = join2, .no_spurious_wakes = true },
    { .name = "records_forced_handles",
      .body = handles,
      .no_spurious_wakes = true,
      .seconds = 2.5 },
    { .name = NULL },
};
