/* SPDX-License-Identifier: MIT */
/* A worker counts as asleep and goes back at once, since its latch is set; another one meanwhile
 * believes that all sleep, makes no fence, and sleeps. The first one must not hide its next fork: it
 * has rung its own bell before it counted.
 * Covers: REC-3, EC-1, SLEEP-1 */
#include "records_client.h"

static filchi_latch done;

static void back_at_once(void)
{
    filchi_work work = { NULL, NULL };
    client_begin(2, true);
    filchi_latch_init(&done);
    client_silence();
    client_start_worker(1);
    filchi_latch_set(&done);
    if (filchi_sleep_join(lanes->workers[0], &done, &work)) {
        filchi_sleep_fork_search_end(lanes);
    }
    client_fork_and_await();
    client_finish();
}

const model_client model_clients[] = {
    { .name = "records_asleep", .body = back_at_once, .no_spurious_wakes = true },
    { .name = NULL },
};
