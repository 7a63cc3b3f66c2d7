/* SPDX-License-Identifier: MIT */
/* Two private forks, two sleepers: whoever takes the first by force has the other sleeper woken for
 * the second. Neither ends before both have begun, and their owner never looks at them again.
 * Covers: REC-3, REC-6, SLEEP-1, SLEEP-2, EC-1 */
#include "records_client.h"

static uintptr_t meet(filch_cx *cx, uintptr_t n)
{
    MODEL_ASSERT(!client_runs_on(cx, 0));
    (void)model_ghost(0, 1);
    while (model_ghost(0, 0) != 2) {
        model_yield();
    }
    filchi_unpark(&client_begun);
    return n;
}

static MODEL_FRAME void two_forks(filch_cx *cx)
{
    filch_fork_handle older;
    filch_fork_handle newer;
    filch_fork(cx, &older, meet, 1);
    filch_fork(cx, &newer, meet, 2);
    (void)client_await(cx, 0);
    MODEL_ASSERT(filch_join(cx, &newer) == 2);
    MODEL_ASSERT(filch_join(cx, &older) == 1);
}

static void two_sleepers(void)
{
    client_begin(3, true);
    MODEL_ASSERT(filchi_parker_init(&client_begun));
    client_silence();
    client_start_worker(1);
    client_start_worker(2);
    two_forks(client_cx(0));
    client_finish();
}

const model_client model_clients[] = {
    { .name = "records_hidden_rest",
      .body = two_sleepers,
      .no_spurious_wakes = true,
      .preemptions = 1,
      .seconds = 6 },
    { .name = NULL },
};
