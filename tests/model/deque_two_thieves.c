/* SPDX-License-Identifier: MIT */
/* Two thieves and the owner want the same items: never two of them get one.
 * Covers: DEQUE-2, DEQUE-3, DEQUE-4, DEQUE-5, DEQUE-6, DEQUE-8 */
#include "deque_client.h"

static void one_item(void)
{
    client_deque(2, 2);
    (void)client_push();
    (void)model_spawn(client_thief, CLIENT_THREAD(1));
    (void)model_spawn(client_thief, CLIENT_THREAD(2));
    (void)client_pop();
    model_join_all();
    client_finish();
}

/* A thief that has seen the first thief's top must not believe an old bottom. */
static void two_items(void)
{
    client_deque(2, 2);
    (void)client_push();
    (void)client_push();
    (void)model_spawn(client_thief, CLIENT_THREAD(1));
    (void)model_spawn(client_thief, CLIENT_THREAD(2));
    (void)client_pop();
    model_join_all();
    client_finish();
}

const model_client model_clients[] = {
    { .name = "deque_two_thieves_one_item", .body = one_item },
    { .name = "deque_two_thieves_two_items", .body = two_items },
    { .name = NULL },
};
