/* SPDX-License-Identifier: MIT */
/* Pops on an empty deque between pushes, while a thief tries: nothing appears, nothing is lost.
 * The textbook form with unsigned indices underflows here.
 * Covers: DEQUE-2, DEQUE-3, DEQUE-5, DEQUE-6 */
#include "deque_client.h"

static void body(void)
{
    client_deque(2, 2);
    (void)model_spawn(client_thief_twice, CLIENT_THREAD(1));
    MODEL_ASSERT(!client_pop());
    (void)client_push();
    (void)client_pop();
    MODEL_ASSERT(!client_pop());
    model_join_all();
    client_finish();
}

const model_client model_clients[] = {
    { .name = "deque_empty_pops", .body = body },
    { .name = NULL },
};
