/* SPDX-License-Identifier: MIT */
/* Without the barrier nothing is taken by force: an owner that hides a fork offers it at one of its
 * next looks, and a sleeper that asked for it is woken.
 * Covers: REC-1, REC-2, REC-3, REC-7, SLEEP-1, EC-1 */
#include "records_client.h"

static void polled(void)
{
    client_begin(2, false);
    client_silence();
    client_start_worker(1);
    client_fork_and_look(client_cx(0));
    client_finish();
}

const model_client model_clients[] = {
    { .name = "records_polled", .body = polled, .no_spurious_wakes = true },
    { .name = NULL },
};
