/* SPDX-License-Identifier: MIT */
/* A worker takes two tasks as one batch, and the first does not end before the second has run: the
 * other worker, anywhere between searching and sleeping, must come and steal from the batch. Each is
 * counted as started once.
 * Covers: SLEEP-1, SLEEP-2, EC-1, DEQUE-9, DEQUE-12, INJ-2, INJ-5 */
#include "core/room.h"
#include "parts_client.h"

static uint64_t input;

static void second(filch_cx *cx, void *arg)
{
    (void)cx;
    MODEL_ASSERT(*(uint64_t *)arg == 5);
    (void)model_ghost(0, 1);
}

static void first(filch_cx *cx, void *arg)
{
    (void)cx;
    MODEL_ASSERT(*(uint64_t *)arg == 5);
    while (model_ghost(0, 0) == 0) {
        model_yield();
    }
    client_stop();
}

static void body(void)
{
    client_pool_parts(2, 2);
    pool->worker_count = 2;
    input = 5;
    MODEL_ASSERT(filch_post(pool, first, &input, 0, NULL) == FILCH_OK);
    MODEL_ASSERT(filch_post(pool, second, &input, 0, NULL) == FILCH_OK);
    client_be_two_workers();
    MODEL_ASSERT(model_ghost(0, 0) == 1);
    MODEL_ASSERT(filchi_room_depth(pool) == 0);
    client_free_parts();
}

const model_client model_clients[] = {
    { .name = "sleep_batch", .body = body, .no_spurious_wakes = true, .seconds = 2 },
    { .name = NULL },
};
