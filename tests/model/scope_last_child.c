/* SPDX-License-Identifier: MIT */
/* The last child ends while the owner begins to wait: the end of the scope returns when all children
 * have run, sees what they wrote, and the frame with the scope may be left at once; only one thief
 * may think that it is the last.
 * Covers: SCOPE-1, SCOPE-2, LATCH-1, LATCH-2, LATCH-3 */
#include "lanes_client.h"

static uint64_t runs[2]; /* plain */

static void child(filch_cx *cx, void *arg)
{
    (void)cx;
    *(uint64_t *)arg += 1;
}

static MODEL_FRAME void scope_of(filch_cx *cx, unsigned children)
{
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    for (unsigned i = 0; i < children; i++) {
        filch_spawn(cx, &scope, child, &runs[i]);
    }
    filch_scope_end(cx, &scope);
    for (unsigned i = 0; i < children; i++) {
        MODEL_ASSERT(runs[i] == 1);
    }
}

static void one_child(void)
{
    client_lanes(2);
    (void)model_spawn(client_thief, CLIENT_WORKER(1));
    scope_of(client_cx(0), 1);
    model_join_all();
    client_free_lanes();
}

static void twice(void *arg)
{
    client_thief(arg);
    client_thief(arg);
}

static void two_children(void)
{
    client_lanes(2);
    (void)model_spawn(twice, CLIENT_WORKER(1));
    scope_of(client_cx(0), 2);
    model_join_all();
    client_free_lanes();
}

/* Both children have been stolen, and three threads end: what the first thief wrote reaches the
 * owner through the second, who alone is the last. */
static MODEL_FRAME void scope_of_stolen(filch_cx *cx)
{
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    for (unsigned i = 0; i < 2; i++) {
        filch_spawn(cx, &scope, child, &runs[i]);
        client_steal_and_run(i + 1);
    }
    filch_scope_end(cx, &scope);
    MODEL_ASSERT(runs[0] == 1 && runs[1] == 1);
}

static void two_thieves(void)
{
    client_lanes(3);
    (void)filchi_spi_isolate(client_cx(0), true); /* its end only waits: fewer steps */
    scope_of_stolen(client_cx(0));
    (void)filchi_spi_isolate(client_cx(0), false);
    model_join_all();
    client_free_lanes();
}

const model_client model_clients[] = {
    { .name = "scope_last_child_one_child", .body = one_child, .no_spurious_wakes = true },
    { .name = "scope_last_child_two_children", .body = two_children, .no_spurious_wakes = true },
    { .name = "scope_last_child_two_thieves", .body = two_thieves, .no_spurious_wakes = true },
    { .name = NULL },
};
