/* SPDX-License-Identifier: MIT */
/* Inside a loop's body a wait runs nothing, and a fork that is made there is as isolated when a
 * thief runs it; the thief's lane is what it was afterwards. A scope's children likewise.
 * Covers: LATCH-1, LATCH-2, LATCH-3, SCOPE-1, SCOPE-2 */
#include "lanes_client.h"

static uintptr_t nothing(filch_cx *cx, uintptr_t n)
{
    (void)cx;
    return n;
}

/* If the thief made it, lane 0 waits, and must not be who runs it. */
static uintptr_t grandchild(filch_cx *cx, uintptr_t of_thief)
{
    MODEL_ASSERT(client_isolated(cx));
    MODEL_ASSERT(!of_thief || client_runs_on(cx, 1));
    return of_thief;
}

static uintptr_t child(filch_cx *cx, uintptr_t n)
{
    MODEL_ASSERT(client_isolated(cx));
    (void)filch_join2_word(cx, nothing, n, grandchild, client_runs_on(cx, 1));
    return n + 1;
}

static void child_void(filch_cx *cx, void *arg)
{
    *(uintptr_t *)arg = child(cx, 4);
}

static MODEL_FRAME void fork_isolated(filch_cx *cx)
{
    const filch_pair both = filch_join2_word(cx, nothing, 3, child, 4);
    MODEL_ASSERT(both.second == 5);
}

static MODEL_FRAME void scope_isolated(filch_cx *cx)
{
    filch_scope scope;
    uintptr_t result = 0;
    filch_scope_begin(cx, &scope);
    filch_spawn(cx, &scope, child_void, &result);
    filch_scope_end(cx, &scope);
    MODEL_ASSERT(result == 5);
}

static void thief(void *arg)
{
    client_thief(arg);
    MODEL_ASSERT(!client_isolated(client_cx(1)));
}

static void run(void (*fork_in_frame)(filch_cx *cx))
{
    client_lanes(2);
    (void)model_spawn(thief, CLIENT_WORKER(1));
    const bool before = filchi_spi_isolate(client_cx(0), true);
    fork_in_frame(client_cx(0));
    (void)filchi_spi_isolate(client_cx(0), before);
    model_join_all();
    client_free_lanes();
}

static void fork_body(void)
{
    run(fork_isolated);
}

static void scope_body(void)
{
    run(scope_isolated);
}

const model_client model_clients[] = {
    { .name = "join_isolated_fork", .body = fork_body, .no_spurious_wakes = true },
    { .name = "join_isolated_scope", .body = scope_body, .no_spurious_wakes = true },
    { .name = NULL },
};
