/* SPDX-License-Identifier: MIT */
/* A loop is opened while a worker goes to sleep, idle or in a join: the worker's last look sees it
 * on the board, or its owner sees the worker and wakes it. The owner waits until somebody has come,
 * so that a wake-up that is lost leaves nobody to go on.
 * Covers: OFFER-1, OFFER-2, SLEEP-1, EC-1 */
#include "loop_client.h"

static filchi_parker come;

/* The caller waits in its first unit for the worker. */
static void meet(filch_cx *cx, void *ctx, filch_range range)
{
    client_body(cx, ctx, range);
    if (client_runs_on(cx, 1)) {
        filchi_unpark(&come);
    } else if (range.lo == 0) {
        MODEL_ASSERT(filchi_park(&come, INT64_MAX));
    }
}

static MODEL_FRAME void loop_of_two(filch_cx *cx)
{
    client_loop book = client_new_loop(2);
    MODEL_ASSERT(filch_for(cx, 2, meet, &book, &client_grain1) == FILCH_OK);
    client_loop_check(&book, 2);
}

static void begin(void)
{
    client_lanes(2);
    MODEL_ASSERT(filchi_parker_init(&come));
}

static void idle(void)
{
    begin();
    (void)model_spawn(client_idle_worker, CLIENT_WORKER(1));
    loop_of_two(client_cx(0));
    model_join_all();
    client_free_lanes();
}

static filchi_latch done; /* of a fork that lane 1 waits for; never set */

/* As join.c waits, but without a pause before it sleeps; until it has joined the loop. */
static void joining_worker(void *arg)
{
    const unsigned worker = (unsigned)(uintptr_t)arg;
    client_wait_in_join(worker, &done);
}

static void in_join(void)
{
    begin();
    filchi_latch_init(&done);
    (void)model_spawn(joining_worker, CLIENT_WORKER(1));
    loop_of_two(client_cx(0));
    model_join_all();
    client_free_lanes();
}

const model_client model_clients[] = {
    { .name = "loop_wakes_idle", .body = idle, .no_spurious_wakes = true, .seconds = 3 },
    { .name = "loop_wakes_in_join", .body = in_join, .no_spurious_wakes = true },
    { .name = NULL },
};
