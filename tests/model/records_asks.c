/* SPDX-License-Identifier: MIT */
/* A thief that finds nothing on offer asks: the owner offers at one of its next looks, although
 * nobody sleeps.
 * Covers: REC-1, REC-2, REC-3, REC-4 */
#include "records_client.h"

static uintptr_t taken(filch_cx *cx, uintptr_t n)
{
    MODEL_ASSERT(!client_runs_on(cx, 0));
    (void)model_ghost(0, 1);
    return n;
}

static void thief(void *arg)
{
    while (!client_steal_from_lane0((unsigned)(uintptr_t)arg)) {
        model_yield();
    }
}

/* The newer forks are not for the thief: it takes the oldest. */
static MODEL_FRAME void fork_and_look(filch_cx *cx)
{
    filch_fork_handle handle;
    filch_fork(cx, &handle, taken, 4);
    while (model_ghost(0, 0) == 0) {
        (void)filch_join2_word(cx, client_nothing, 1, client_nothing, 2);
        model_yield();
    }
    MODEL_ASSERT(filch_join(cx, &handle) == 4);
}

static void asks(void)
{
    client_begin(2, true);
    client_silence();
    (void)model_spawn(thief, CLIENT_WORKER(1));
    fork_and_look(client_cx(0));
    client_finish();
}

const model_client model_clients[] = {
    { .name = "records_asks", .body = asks, .no_spurious_wakes = true },
    { .name = NULL },
};
