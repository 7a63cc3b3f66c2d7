/* SPDX-License-Identifier: MIT */
/* The owner fills a slot again that a thief has just emptied, or is about to: the thief has read
 * the old item before, or loses. A push that finds no room says so and changes nothing. Covers:
 * DEQUE-1, DEQUE-8, DEQUE-11 */
#include "deque_client.h"

static void one_slot(void)
{
    client_deque(1, 1);
    (void)model_spawn(client_thief, CLIENT_THREAD(1));
    MODEL_ASSERT(client_push());
    for (int tries = 0; tries < 2 && !client_push(); tries++) {}
    (void)client_pop();
    model_join_all();
    client_finish();
}

static void two_slots(void)
{
    client_deque(2, 2);
    (void)client_push();
    (void)model_spawn(client_thief_twice, CLIENT_THREAD(1));
    (void)client_push();
    (void)client_push(); /* may be full */
    (void)client_pop();
    (void)client_push();
    model_join_all();
    client_finish();
}

const model_client model_clients[] = {
    { .name = "deque_slot_reuse_one_slot", .body = one_slot },
    { .name = "deque_slot_reuse_two_slots", .body = two_slots },
    { .name = NULL },
};
