/* SPDX-License-Identifier: MIT */
/* The owner publishes and looks whether somebody sleeps; a thread that wants to sleep says so and
 * looks at the deque: one of them sees the other. A look that finds the deque not empty is followed
 * by a steal that meets the item or a thief that was quicker.
 * Covers: DEQUE-1, DEQUE-9 */
#include "deque_client.h"

static filchi_atomic_u32 sleeping;

static void sleeper(void *arg)
{
    filchi_store_seq_cst_u32(&sleeping, 1);
    const bool empty = filchi_deque_looks_empty(deque);
    if (empty) {
        (void)model_ghost(0, 1); /* would sleep */
    } else {
        MODEL_ASSERT(client_steal((unsigned)(uintptr_t)arg) == FILCH_STEAL_GOT);
    }
}

static void body(void)
{
    client_deque(1, 1);
    const unsigned thread = model_spawn(sleeper, CLIENT_THREAD(1));
    (void)client_push();
    const bool seen = filchi_load_seq_cst_u32(&sleeping) == 1;
    model_join(thread);
    MODEL_ASSERT(seen || model_ghost(0, 0) == 0);
    client_finish();
}

const model_client model_clients[] = {
    { .name = "deque_last_look", .body = body },
    { .name = NULL },
};
