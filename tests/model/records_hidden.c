/* SPDX-License-Identifier: MIT */
/* No hidden work: a fork that its owner keeps private and never looks at again is taken by force as
 * long as anybody sleeps. The owner waits until its fork has been taken, so that one that stays
 * hidden leaves nobody to go on.
 * Covers: REC-1, REC-2, REC-3, REC-5, REC-6, REC-8, SLEEP-1, SLEEP-2, EC-1 */
#include "records_client.h"

static void from_a_sleeper(void)
{
    client_begin(2, true);
    client_silence();
    client_start_worker(1);
    client_fork_and_await();
    client_finish();
}

static filchi_latch done; /* never set */

static void joiner(void *arg)
{
    (void)arg;
    client_wait_in_join(1, &done);
}

static void from_a_joiner(void)
{
    client_begin(2, true);
    filchi_latch_init(&done);
    client_silence();
    (void)model_spawn(joiner, NULL);
    client_fork_and_await();
    client_finish();
}

/* Worker 1 searches, and asks the owner for work; then it finds something else and goes. Worker 2
 * sleeps since before, or begins to. */
static void leaves(void *arg)
{
    (void)arg;
    const bool got =
        filchi_lane_steal(client_lane(0), 1, &lanes->workers[1]->loot) == FILCHI_TAKE_GOT;
    filchi_sleep_search_end(lanes);
    if (got) {
        client_work(lanes->workers[1], client_loot(1));
    }
}

static void from_a_searcher(void)
{
    client_begin(3, true);
    filchi_sleep_search_begin(lanes); /* worker 1 */
    client_start_worker(2);
    client_silence();
    (void)model_spawn(leaves, NULL);
    client_fork_and_await();
    client_finish();
}

/* Worker 1 takes by force, while the owner joins: the owner silences its bell in vain, since the
 * fork is gone, and must ring it again for worker 2. */
static void after_a_loss(void)
{
    client_begin(3, true);
    client_silence();
    client_start_worker(2);
    (void)model_spawn(client_force, CLIENT_WORKER(1));
    client_silence();
    client_fork_and_await();
    client_finish();
}

/* Worker 1 asks at the same time as worker 2 goes to sleep: the owner, which stops a bell that both
 * have rung, sees both. */
static void after_a_thief(void)
{
    filch_fork_handle handle;
    client_begin(3, true);
    client_silence();
    filch_fork(client_cx(0), &handle, client_nothing, 5);
    client_start_worker(2);
    (void)model_spawn(client_thief_of_lane0, CLIENT_WORKER(1));
    MODEL_ASSERT(filch_join(client_cx(0), &handle) == 5);
    client_fork_and_await();
    client_finish();
}

const model_client model_clients[] = {
    { .name = "records_hidden_from_a_sleeper", .body = from_a_sleeper, .no_spurious_wakes = true },
    { .name = "records_hidden_from_a_joiner", .body = from_a_joiner, .no_spurious_wakes = true },
    { .name = "records_hidden_from_a_searcher",
      .body = from_a_searcher,
      .no_spurious_wakes = true,
      .seconds = 3 },
    { .name = "records_hidden_after_a_loss",
      .body = after_a_loss,
      .no_spurious_wakes = true,
      .seconds = 4 },
    { .name = "records_hidden_after_a_thief",
      .body = after_a_thief,
      .no_spurious_wakes = true,
      .seconds = 4 },
    { .name = NULL },
};
