/* SPDX-License-Identifier: MIT */
/* A whole pool: it is made, gets tasks from foreign threads while its workers may be anywhere
 * between searching and sleeping, drains, and is destroyed. Each task runs once, what the poster
 * wrote is visible to it, what it wrote is visible after the shutdown, and nobody touches the pool
 * after destroy. Too large to be searched far; random and PCT do most of the work.
 * Covers: SLEEP-1, SLEEP-2, STOP-1, STOP-2, QUIET-1, QUIET-2, QUIET-3, QUIET-4, CLOSE-1, EC-1 */
#include "pool_client.h"

static uint64_t input[2], output[2];

static void task(filch_cx *cx, void *arg)
{
    const uint64_t *from = arg;
    (void)cx;
    MODEL_ASSERT(*from == 5);
    output[from - input]++;
}

static void post(filch_pool *pool, unsigned number)
{
    input[number] = 5;
    MODEL_ASSERT(filch_post(pool, task, &input[number], 0, NULL) == FILCH_OK);
}

static void one_worker(void)
{
    filch_pool *pool = client_pool(1);
    post(pool, 0);
    client_end(pool, FILCH_DRAIN);
    MODEL_ASSERT(output[0] == 1);
}

static void two_workers(void)
{
    filch_pool *pool = client_pool(2);
    post(pool, 0);
    post(pool, 1);
    client_end(pool, FILCH_DRAIN);
    MODEL_ASSERT(output[0] == 1 && output[1] == 1);
}

static filch_pool *shared_pool;

static void late_poster(void *arg)
{
    (void)arg;
    input[1] = 5;
    const filch_status status = filch_post(shared_pool, task, &input[1], 0, NULL);
    MODEL_ASSERT(status == FILCH_OK || status == FILCH_E_CLOSED);
    (void)model_ghost(0, status == FILCH_OK);
}

/* A post meets the shutdown: accepted and run, or refused. */
static void during_shutdown(void)
{
    shared_pool = client_pool(1);
    const unsigned poster = model_spawn(late_poster, NULL);
    MODEL_ASSERT(filch_pool_shutdown(shared_pool, FILCH_DRAIN, FILCH_FOREVER, NULL) == FILCH_OK);
    model_join(poster);
    MODEL_ASSERT(output[1] == model_ghost(0, 0));
    MODEL_ASSERT(filch_pool_destroy(shared_pool) == FILCH_OK);
}

const model_client model_clients[] = {
    { .name = "pool_post_one_worker", .body = one_worker, .no_spurious_wakes = true },
    { .name = "pool_post_two_workers",
      .body = two_workers,
      .no_spurious_wakes = true,
      .seconds = 3 },
    { .name = "pool_post_during_shutdown", .body = during_shutdown, .no_spurious_wakes = true },
    { .name = NULL },
};
