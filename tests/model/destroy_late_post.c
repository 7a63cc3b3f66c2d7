/* SPDX-License-Identifier: MIT */
/* A task that a foreign thread posted tells another one that it runs, which then destroys the pool
 * while the poster is still on its way out of its call. The poster's last touch of the pool comes
 * before its end.
 * Covers: QUIET-3, DOOR-1, DOOR-2, DOOR-3 */
#include "parts_client.h"

static uint64_t input;
static uint64_t output;

static void task(filch_cx *cx, void *arg)
{
    (void)cx;
    MODEL_ASSERT(*(uint64_t *)arg == 5);
    output++;
}

static void poster(void *arg)
{
    (void)arg;
    input = 5;
    MODEL_ASSERT(filch_post(pool, task, &input, 0, NULL) == FILCH_OK);
}

/* The client plays the only worker: once it has run the task, the post has been accepted. */
static void post(void)
{
    client_pool_parts(1, 2);
    (void)model_spawn(poster, NULL);
    client_run(0);
    MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
    MODEL_ASSERT(output == 1);
    model_join_all();
}

const model_client model_clients[] = {
    { .name = "destroy_late_post", .body = post },
    { .name = NULL },
};
