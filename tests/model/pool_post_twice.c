/* SPDX-License-Identifier: MIT */
/* One worker, two posts: a worker that was woken once goes to sleep again with its counts in order,
 * so the second post wakes it too. A count that is taken down in the wrong field of the word borrows
 * from its neighbour, and the pool goes deaf.
 * Covers: SLEEP-1, SLEEP-2, EC-1 */
#include "pool_client.h"

enum { GHOST_RUN };

static void task(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
    (void)model_ghost(GHOST_RUN, 1);
}

static void twice(void)
{
    filch_pool *pool = client_pool(1);
    MODEL_ASSERT(filch_post(pool, task, NULL, 0, NULL) == FILCH_OK);
    MODEL_ASSERT(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_OK);
    MODEL_ASSERT(filch_post(pool, task, NULL, 0, NULL) == FILCH_OK);
    MODEL_ASSERT(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_OK);
    MODEL_ASSERT(model_ghost(GHOST_RUN, 0) == 2);
    client_end(pool, FILCH_DRAIN);
}

const model_client model_clients[] = {
    { .name = "pool_post_twice", .body = twice, .no_spurious_wakes = true, .seconds = 3 },
    { .name = NULL },
};
