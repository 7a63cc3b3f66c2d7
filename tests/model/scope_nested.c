/* SPDX-License-Identifier: MIT */
/* Children that spawn children, a scope inside a scope, and scopes without memory: each child runs
 * once, before the end of its scope. With children that spawn it takes some 5 s to be complete.
 * Covers: SCOPE-1, SCOPE-2, DEQUE-1 */
#include "lanes_client.h"

static uint64_t runs[4]; /* plain */

static void leaf(filch_cx *cx, void *arg)
{
    (void)cx;
    runs[(uintptr_t)arg]++;
}

static void branch(filch_cx *cx, void *arg)
{
    filch_scope scope;
    leaf(cx, arg);
    filch_scope_begin(cx, &scope);
    filch_spawn(cx, &scope, leaf, (void *)2);
    filch_scope_end(cx, &scope);
    MODEL_ASSERT(runs[2] == 1);
}

static MODEL_FRAME void tree(filch_cx *cx)
{
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    filch_spawn(cx, &scope, branch, (void *)0);
    filch_scope_end(cx, &scope);
    MODEL_ASSERT(runs[0] == 1 && runs[2] == 1);
}

static void child_scope(void)
{
    client_lanes(2);
    (void)model_spawn(client_thief, CLIENT_WORKER(1));
    tree(client_cx(0));
    model_join_all();
    client_free_lanes();
}

/* The inner scope takes its own children and leaves the outer one's where they are. */
static MODEL_FRAME void inner_scope(filch_cx *cx)
{
    filch_scope outer;
    filch_scope inner;
    filch_scope_begin(cx, &outer);
    filch_spawn(cx, &outer, leaf, (void *)0);
    filch_scope_begin(cx, &inner);
    filch_spawn(cx, &inner, leaf, (void *)1);
    filch_scope_end(cx, &inner);
    MODEL_ASSERT(runs[1] == 1);
    filch_spawn(cx, &outer, leaf, (void *)2);
    filch_scope_end(cx, &outer);
    MODEL_ASSERT(runs[0] == 1 && runs[1] == 1 && runs[2] == 1);
}

static void inner(void)
{
    client_lanes(2);
    (void)model_spawn(client_thief, CLIENT_WORKER(1));
    inner_scope(client_cx(0));
    model_join_all();
    client_free_lanes();
}

/* No memory for records, or for a larger deque: the child runs inside its spawn. */
static MODEL_FRAME void three_children(filch_cx *cx)
{
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    for (uintptr_t i = 0; i < 3; i++) {
        filch_spawn(cx, &scope, leaf, (void *)i);
    }
    filch_scope_end(cx, &scope);
    MODEL_ASSERT(runs[0] == 1 && runs[1] == 1 && runs[2] == 1);
}

static void no_memory(void)
{
    client_lanes_with(2, 2);
    lanes->config.allocator = client_no_memory;
    (void)model_spawn(client_thief, CLIENT_WORKER(1));
    three_children(client_cx(0));
    model_join_all();
    client_free_lanes();
}

const model_client model_clients[] = {
    { .name = "scope_nested_child_scope",
      .body = child_scope,
      .no_spurious_wakes = true,
      .seconds = 2 },
    { .name = "scope_nested_inner", .body = inner, .no_spurious_wakes = true },
    { .name = "scope_nested_no_memory", .body = no_memory, .no_spurious_wakes = true },
    { .name = NULL },
};
