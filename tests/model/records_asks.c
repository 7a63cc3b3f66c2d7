/* SPDX-License-Identifier: MIT */
/* A thief that finds nothing on offer asks: the owner offers at one of its next looks, although
 * nobody sleeps.
 * Covers: REC-1, REC-2, REC-3, REC-4 */
#include "records_client.h"

static void thief(void *arg)
{
    while (!client_steal_from_lane0((unsigned)(uintptr_t)arg)) {
        model_yield();
    }
}

static void asks(void)
{
    client_begin(2, true);
    client_silence();
    (void)model_spawn(thief, CLIENT_WORKER(1));
    client_fork_and_look(client_cx(0));
    client_finish();
}

const model_client model_clients[] = {
    { .name = "records_asks", .body = asks, .no_spurious_wakes = true },
    { .name = NULL },
};
