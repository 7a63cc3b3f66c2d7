/* SPDX-License-Identifier: MIT */
/* The end of a search meets an owner that relied on it: it settles, sees the searcher, and hides its
 * next fork. Either it sees that nobody searches any more, or the searcher sees that its bell is not
 * bare. The sleeper has no thread: what counts is whether it is woken.
 * Covers: REC-1, SLEEP-1, SLEEP-2 */
#include "records_client.h"

static void end_search(void *arg)
{
    (void)arg;
    filchi_sleep_search_end(lanes);
}

static void end_search_in_join(void *arg)
{
    (void)arg;
    filchi_sleep_fork_search_end(lanes);
}

static void run(model_thread *end, uint64_t unit)
{
    filch_fork_handle handle;
    client_begin(2, true);
    filchi_worker *sleeper = lanes->workers[1];
    filchi_eventcount_prepare(&lanes->sleep.idle, &sleeper->waiter, FILCHI_SLEEP_IDLE);
    (void)filchi_add_relaxed_u64(&lanes->sleep.word, unit);
    (void)model_spawn(end, NULL);
    client_silence();
    filch_fork(client_cx(0), &handle, client_nothing, 5);
    model_join_all();
    MODEL_ASSERT(filchi_waiter_woken(&sleeper->waiter));
    MODEL_ASSERT(filch_join(client_cx(0), &handle) == 5);
    filchi_store_relaxed_u64(&lanes->sleep.word, 0);
    client_finish();
}

static void search(void)
{
    run(end_search, FILCHI_SLEEP_SEARCHING);
}

static void search_in_join(void)
{
    run(end_search_in_join, FILCHI_SLEEP_FORK_SEARCHING);
}

/* The same, and what it hides it has offered before: it has come back from its next region. */
static void came_back(void)
{
    filch_fork_handle handle;
    client_begin_with(2, 1, true);
    lanes->config.allocator = client_small_regions;
    filchi_worker *sleeper = lanes->workers[1];
    filchi_eventcount_prepare(&lanes->sleep.idle, &sleeper->waiter, FILCHI_SLEEP_IDLE);
    filchi_sleep_search_begin(lanes);
    (void)model_spawn(end_search, NULL);
    filch_fork(client_cx(0), &handle, client_nothing, 5);
    client_silence();
    model_join_all();
    MODEL_ASSERT(filchi_waiter_woken(&sleeper->waiter));
    MODEL_ASSERT(filch_join(client_cx(0), &handle) == 5);
    filchi_store_relaxed_u64(&lanes->sleep.word, 0);
    client_finish();
}

/* An owner that has one fork on offer and one hidden does not call its bell bare. */
static void half(void)
{
    filch_fork_handle handle[2];
    client_begin(2, true);
    filchi_worker *sleeper = lanes->workers[1];
    filchi_region *region = client_lane(0)->regions;
    filch_fork(client_cx(0), &handle[0], client_nothing, 5);
    filchi_eventcount_prepare(&lanes->sleep.idle, &sleeper->waiter, FILCHI_SLEEP_IDLE);
    filchi_region_ring(region, FILCHI_BELL);
    filch_fork(client_cx(0), &handle[1], client_nothing, 6);
    MODEL_ASSERT(filchi_region_bell(region) == FILCHI_BELL);
    MODEL_ASSERT(filch_join(client_cx(0), &handle[1]) == 6);
    MODEL_ASSERT(filch_join(client_cx(0), &handle[0]) == 5);
    MODEL_ASSERT(
        filchi_eventcount_cancel(&lanes->sleep.idle, &sleeper->waiter, 0 - FILCHI_SLEEP_IDLE));
    client_finish();
}

/* All has been looked at since the owner settled last: the end of a search wakes nobody. */
static void bare(void)
{
    client_begin(3, true);
    filchi_worker *sleeper = lanes->workers[1];
    client_silence();
    MODEL_ASSERT(!client_look(2, true));
    filchi_region_ring(client_lane(2)->regions, FILCHI_BELL_BARE);
    filchi_eventcount_prepare(&lanes->sleep.idle, &sleeper->waiter, FILCHI_SLEEP_IDLE);
    filchi_sleep_search_begin(lanes);
    filchi_sleep_search_end(lanes);
    MODEL_ASSERT(
        filchi_eventcount_cancel(&lanes->sleep.idle, &sleeper->waiter, 0 - FILCHI_SLEEP_IDLE));
    client_finish();
}

const model_client model_clients[] = {
    { .name = "records_hands_on", .body = search, .no_spurious_wakes = true, .seconds = 0.7 },
    { .name = "records_hands_on_in_join",
      .body = search_in_join,
      .no_spurious_wakes = true,
      .seconds = 0.7 },
    { .name = "records_hands_on_came_back",
      .body = came_back,
      .no_spurious_wakes = true,
      .seconds = 0.7 },
    { .name = "records_hands_on_half", .body = half, .no_spurious_wakes = true, .seconds = 0.3 },
    { .name = "records_hands_on_bare", .body = bare, .no_spurious_wakes = true, .seconds = 0.3 },
    { .name = NULL },
};
