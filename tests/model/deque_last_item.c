/* SPDX-License-Identifier: MIT */
/* The owner pops and a thief steals while one or two items are left: each item goes to one of them,
 * and its payload with it. The owner's second pop meets a thief that has read an old top.
 * Covers: DEQUE-1, DEQUE-2, DEQUE-3, DEQUE-4, DEQUE-5, DEQUE-6, DEQUE-8 */
#include "deque_client.h"

static void one_item(void)
{
    client_deque(2, 2);
    (void)model_spawn(client_thief, CLIENT_THREAD(1));
    (void)client_push();
    (void)client_pop();
    model_join_all();
    client_finish();
}

static void two_items(void)
{
    client_deque(2, 2);
    (void)model_spawn(client_thief_twice, CLIENT_THREAD(1));
    (void)client_push();
    (void)client_push();
    (void)client_pop();
    (void)client_pop();
    model_join_all();
    client_finish();
}

const model_client model_clients[] = {
    { .name = "deque_last_item", .body = one_item },
    { .name = "deque_last_two_items", .body = two_items },
    { .name = NULL },
};
