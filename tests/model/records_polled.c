/* SPDX-License-Identifier: MIT */
/* Without the barrier nothing is taken by force: an owner that hides a fork offers it at one of its
 * next looks, and a sleeper that asked for it is woken.
 * Covers: REC-1, REC-2, REC-3, REC-7, SLEEP-1, EC-1 */
#include "records_client.h"

static uintptr_t taken(filch_cx *cx, uintptr_t n)
{
    MODEL_ASSERT(!client_runs_on(cx, 0));
    (void)model_ghost(0, 1);
    return n;
}

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

static void polled(void)
{
    client_begin(2, false);
    client_silence();
    client_start_worker(1);
    fork_and_look(client_cx(0));
    client_finish();
}

const model_client model_clients[] = {
    { .name = "records_polled", .body = polled, .no_spurious_wakes = true },
    { .name = NULL },
};
