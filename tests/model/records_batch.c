/* SPDX-License-Identifier: MIT */
/* A thief takes two records with one CAS, while their owner joins them, or another thief is at them;
 * and what it has taken so are forks of its own, which somebody may take from it. Each runs once, and
 * its owner gets its result.
 * Covers: REC-2, REC-4, REC-8 */
#include "records_client.h"

static void thief_of_two(void *arg)
{
    const unsigned worker = (unsigned)(uintptr_t)arg;
    filchi_loot *loot = &lanes->workers[worker]->loot;
    if (filchi_lane_steal(client_lane(0), 2, loot) == FILCHI_TAKE_GOT) {
        client_work(lanes->workers[worker], client_loot(worker));
    }
}

/* Three records, of which the older two are offered together. */
static MODEL_FRAME void three_forks(filch_cx *cx)
{
    filch_fork_handle handles[3];
    for (uintptr_t i = 0; i < 3; i++) {
        filch_fork(cx, &handles[i], client_count, i);
    }
    filchi_region_want(client_lane(0)->regions, 2);
    filchi_region_ring(client_lane(0)->regions, FILCHI_BELL);
    for (uintptr_t i = 3; i-- > 0;) {
        MODEL_ASSERT(filch_join(cx, &handles[i]) == i + 10 && client_runs[i] == 1);
    }
}

static void against_the_owner(void)
{
    client_begin(2, false);
    client_silence();
    (void)model_spawn(thief_of_two, CLIENT_WORKER(1));
    three_forks(client_cx(0));
    client_finish();
}

static void against_another(void)
{
    client_begin(3, false);
    client_silence();
    (void)model_spawn(thief_of_two, CLIENT_WORKER(1));
    (void)model_spawn(client_thief_of_lane0, CLIENT_WORKER(2));
    three_forks(client_cx(0));
    client_finish();
}

/* Worker 1 has two, and runs the newer one; worker 2 asks it for the other. */
static void thief_of_the_thief(void *arg)
{
    const unsigned worker = (unsigned)(uintptr_t)arg;
    filchi_loot *loot = &lanes->workers[worker]->loot;
    for (int tries = 0; tries < 2; tries++) {
        if (filchi_lane_steal(client_lane(1), 1, loot) == FILCHI_TAKE_GOT) {
            client_work(lanes->workers[worker], client_loot(worker));
            return;
        }
    }
}

static MODEL_FRAME void two_taken(filch_cx *cx)
{
    filch_fork_handle handles[2];
    for (uintptr_t i = 0; i < 2; i++) {
        filch_fork(cx, &handles[i], client_count, i);
    }
    (void)filchi_lane_settle(client_lane(0), client_lane(0)->regions, 2, FILCHI_OFFER_ALL);
    MODEL_ASSERT(filchi_lane_steal(client_lane(0), 2, &lanes->workers[1]->loot) == FILCHI_TAKE_GOT);
    (void)model_spawn(client_run_taken, CLIENT_WORKER(1));
    (void)model_spawn(thief_of_the_thief, CLIENT_WORKER(2));
    for (uintptr_t i = 2; i-- > 0;) {
        MODEL_ASSERT(filch_join(cx, &handles[i]) == i + 10 && client_runs[i] == 1);
    }
}

static void from_the_thief(void)
{
    client_begin(3, false);
    client_silence();
    two_taken(client_cx(0));
    client_finish();
}

const model_client model_clients[] = {
    { .name = "records_batch", .body = against_the_owner, .no_spurious_wakes = true },
    { .name = "records_batch_two_thieves",
      .body = against_another,
      .no_spurious_wakes = true,
      .seconds = 3 },
    { .name = "records_batch_from_the_thief",
      .body = from_the_thief,
      .no_spurious_wakes = true,
      .seconds = 3 },
    { .name = NULL },
};
