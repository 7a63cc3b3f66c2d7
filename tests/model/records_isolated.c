/* SPDX-License-Identifier: MIT */
/* A fork taken by force is as isolated as where it was made, also when its owner changes that
 * meanwhile; the thief's lane is what it was afterwards.
 * Covers: REC-2, REC-6, REC-8 */
#include "records_client.h"

static uintptr_t isolated(filch_cx *cx, uintptr_t n)
{
    MODEL_ASSERT(client_isolated(cx));
    return n;
}

static uintptr_t free_of_it(filch_cx *cx, uintptr_t n)
{
    MODEL_ASSERT(client_runs_on(cx, 0) || !client_isolated(cx));
    return n;
}

/* The older fork is not isolated, the newer one is; then the owner is as before. */
static MODEL_FRAME void both_kinds(filch_cx *cx)
{
    filch_fork_handle older;
    filch_fork_handle newer;
    filch_fork(cx, &older, free_of_it, 1);
    const bool before = filchi_spi_isolate(cx, true);
    filch_fork(cx, &newer, isolated, 2);
    MODEL_ASSERT(filch_join(cx, &newer) == 2);
    (void)filchi_spi_isolate(cx, before);
    MODEL_ASSERT(filch_join(cx, &older) == 1);
}

static void thief(void *arg)
{
    client_force_twice(arg);
    MODEL_ASSERT(!client_isolated(client_cx(1)));
}

static void run(void)
{
    client_begin(2, true);
    (void)filchi_spi_isolate(client_cx(0), false);
    client_silence();
    (void)model_spawn(thief, CLIENT_WORKER(1));
    both_kinds(client_cx(0));
    client_finish();
}

const model_client model_clients[] = {
    { .name = "records_isolated", .body = run, .no_spurious_wakes = true, .seconds = 2.5 },
    { .name = NULL },
};
