/* SPDX-License-Identifier: MIT */
/* A child is spawned while a worker goes to sleep: the worker's last look sees it, or it is woken.
 * The owner waits inside its scope until the child has begun, so that a wake-up that is lost leaves
 * nobody to go on. The end of the scope, after that, meets the thief's end.
 * Covers: SLEEP-1, EC-1, DEQUE-1, DEQUE-9, SCOPE-1, SCOPE-2 */
#include "lanes_client.h"

static filchi_parker begun;

static void child(filch_cx *cx, void *arg)
{
    MODEL_ASSERT(client_runs_on(cx, 1));
    filchi_unpark(&begun);
    *(uint64_t *)arg += 1;
}

static MODEL_FRAME void spawn_and_wait(filch_cx *cx)
{
    filch_scope scope;
    uint64_t runs = 0; /* plain */
    filch_scope_begin(cx, &scope);
    filch_spawn(cx, &scope, child, &runs);
    MODEL_ASSERT(filchi_park(&begun, INT64_MAX));
    filch_scope_end(cx, &scope);
    MODEL_ASSERT(runs == 1);
}

static void idle(void)
{
    client_lanes(2);
    MODEL_ASSERT(filchi_parker_init(&begun));
    (void)model_spawn(client_idle_worker, CLIENT_WORKER(1));
    (void)filchi_spi_isolate(client_cx(0), true); /* its end only waits */
    spawn_and_wait(client_cx(0));
    (void)filchi_spi_isolate(client_cx(0), false);
    model_join_all();
    client_free_lanes();
}

const model_client model_clients[] = {
    { .name = "spawn_wakes_idle", .body = idle, .no_spurious_wakes = true },
    { .name = NULL },
};
