/* SPDX-License-Identifier: MIT */
/* A task from outside posts another one, and does not end before that has run: two
 * workers anywhere between searching and sleeping, and both must come, the second as a thief.
 * Covers: SLEEP-1, SLEEP-2, EC-1, DEQUE-1, DEQUE-9, INJ-2, INJ-5 */
#include "parts_client.h"

static uint64_t input;

static void child(filch_cx *cx, void *arg)
{
    (void)cx;
    MODEL_ASSERT(*(uint64_t *)arg == 5);
    (void)model_ghost(0, 1);
}

static void parent(filch_cx *cx, void *arg)
{
    (void)cx;
    *(uint64_t *)arg = 5;
    MODEL_ASSERT(filch_post(pool, child, arg, 0, NULL) == FILCH_OK);
    while (model_ghost(0, 0) == 0) {
        model_yield();
    }
    client_stop();
}

static void body(void)
{
    client_pool_parts(2, 2);
    pool->worker_count = 2;
    MODEL_ASSERT(filch_post(pool, parent, &input, 0, NULL) == FILCH_OK);
    client_be_two_workers();
    MODEL_ASSERT(model_ghost(0, 0) == 1);
    client_free_parts();
}

const model_client model_clients[] = {
    { .name = "sleep_post_steal", .body = body, .no_spurious_wakes = true, .seconds = 5 },
    { .name = NULL },
};
