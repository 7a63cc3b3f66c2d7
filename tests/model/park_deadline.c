/* SPDX-License-Identifier: MIT */
/* A deadline and a token at the same time: park says which it was, and if it says "no token", the
 * token is still there for the next one.
 * Covers: PARK-3, PARK-4 */
#include "park_client.h"

static void body(void)
{
    client_parker();
    (void)model_spawn(client_tell, NULL);
    if (!filchi_park(parker, 2000000000)) {
        MODEL_ASSERT(filchi_park(parker, INT64_MAX));
    }
    MODEL_ASSERT(message == 7);
    client_free_parker();
    model_join_all();
}

/* A deadline in the past only looks; negative ones are in the past. */
static void past(void)
{
    client_parker();
    (void)model_spawn(client_tell, NULL);
    const bool first = filchi_park(parker, -1);
    const bool second = !first && filchi_park(parker, 0);
    if (first || second) {
        MODEL_ASSERT(message == 7);
    } else {
        MODEL_ASSERT(filchi_park(parker, INT64_MAX));
    }
    client_free_parker();
    model_join_all();
}

const model_client model_clients[] = {
    { .name = "park_deadline", .body = body },
    { .name = "park_deadline_past", .body = past },
    { .name = NULL },
};
