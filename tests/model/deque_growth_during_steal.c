/* SPDX-License-Identifier: MIT */
/* The owner's push needs a larger buffer while a thief is anywhere in its steal: the thief finds
 * its item in the old buffer or in the new one, and neither is freed under it. Covers: DEQUE-7,
 * DEQUE-10, DEQUE-11 */
#include "deque_client.h"

static void one_thief(void)
{
    client_deque(1, 4);
    (void)client_push();
    (void)model_spawn(client_thief_twice, CLIENT_THREAD(1));
    MODEL_ASSERT(client_push());
    MODEL_ASSERT(client_push());
    (void)client_pop();
    model_join_all();
    client_finish();
}

/* The second thief reads the new buffer, the first one may be late in the old one. */
static void two_thieves(void)
{
    client_deque(1, 2);
    (void)client_push();
    (void)model_spawn(client_thief, CLIENT_THREAD(1));
    (void)model_spawn(client_thief, CLIENT_THREAD(2));
    MODEL_ASSERT(client_push());
    model_join_all();
    client_finish();
}

/* Without memory for the larger buffer the push fails and the items stay. */
static void no_memory(void)
{
    filch_deque *made = NULL;
    if (filch_deque_create(1, 4, NULL, &made) != FILCH_OK) {
        MODEL_ASSERT(made == NULL);
        return;
    }
    deque = made;
    (void)client_push();
    (void)model_spawn(client_thief, CLIENT_THREAD(1));
    (void)client_push();
    (void)client_push();
    model_join_all();
    client_finish();
}

const model_client model_clients[] = {
    { .name = "deque_growth_one_thief", .body = one_thief },
    { .name = "deque_growth_two_thieves", .body = two_thieves },
    { .name = "deque_growth_no_memory", .body = no_memory, .allocation_may_fail = true },
    { .name = NULL },
};
