/* SPDX-License-Identifier: MIT */
/* A token is never lost, brings what its giver wrote, and its giver does not touch the parker after
 * the parked thread has it.
 * Covers: PARK-1, PARK-2, PARK-4 */
#include "park_client.h"

static void one_token(void)
{
    client_parker();
    (void)model_spawn(client_tell, NULL);
    MODEL_ASSERT(filchi_park(parker, INT64_MAX));
    MODEL_ASSERT(message == 7);
    client_free_parker();
    model_join_all();
}

static filchi_atomic_u32 rounds;

static void tell_again(void *arg)
{
    client_tell(arg);
    while (filchi_load_acquire_u32(&rounds) == 0) {}
    message = 8;
    client_unpark(arg);
}

/* Twice in a row on one parker. */
static void two_tokens(void)
{
    client_parker();
    (void)model_spawn(tell_again, NULL);
    MODEL_ASSERT(filchi_park(parker, INT64_MAX));
    MODEL_ASSERT(message == 7);
    filchi_store_release_u32(&rounds, 1);
    MODEL_ASSERT(filchi_park(parker, INT64_MAX));
    MODEL_ASSERT(message == 8);
    model_join_all();
    client_free_parker();
}

/* Two givers: at least one token, at most two; the second park has a deadline. */
static void two_givers(void)
{
    client_parker();
    (void)model_spawn(client_unpark, NULL);
    (void)model_spawn(client_unpark, NULL);
    MODEL_ASSERT(filchi_park(parker, INT64_MAX));
    (void)filchi_park(parker, 2000000000);
    model_join_all();
    client_free_parker();
}

const model_client model_clients[] = {
    { .name = "park_one_token", .body = one_token },
    { .name = "park_two_tokens", .body = two_tokens },
    { .name = "park_two_givers", .body = two_givers },
    { .name = NULL },
};
