/* SPDX-License-Identifier: MIT */
/* A loop inside a loop's body, and a fork inside one: their waits run nothing else, the outer loop
 * is joined first, and the lane is isolated until its outermost loop has ended.
 * Covers: LOOP-1, OFFER-1, LATCH-1, LATCH-2, LATCH-3 */
#include "loop_client.h"

typedef struct nest {
    client_loop outer;
    client_loop inner[2];
} nest;

static void outer_body(filch_cx *cx, void *ctx, filch_range range)
{
    nest *book = ctx;
    client_body(cx, &book->outer, range);
    client_loop *inner = &book->inner[range.lo];
    MODEL_ASSERT(filch_for(cx, 2, client_body, inner, &client_grain1) == FILCH_OK);
    client_loop_check(inner, 2);
    MODEL_ASSERT(client_isolated(cx));
}

static MODEL_FRAME void loop_in_loop(filch_cx *cx, size_t n)
{
    nest book = { client_new_loop(n), { client_new_loop(2), client_new_loop(2) } };
    MODEL_ASSERT(filch_for(cx, n, outer_body, &book, &client_grain1) == FILCH_OK);
    MODEL_ASSERT(!client_isolated(cx));
    client_loop_check(&book.outer, n);
}

/* The outer loop has one unit, so that only the inner one is on the board. */
static void inner_joined(void)
{
    client_lanes(2);
    (void)model_spawn(client_joiner, CLIENT_WORKER(1));
    loop_in_loop(client_cx(0), 1);
    model_join_all();
    client_free_lanes();
}

static void both_joined(void)
{
    client_lanes(2);
    (void)model_spawn(client_joiner, CLIENT_WORKER(1));
    loop_in_loop(client_cx(0), 2);
    model_join_all();
    client_free_lanes();
}

static uintptr_t in_body(filch_cx *cx, uintptr_t n)
{
    MODEL_ASSERT(client_isolated(cx));
    return n;
}

static void forking_body(filch_cx *cx, void *ctx, filch_range range)
{
    client_body(cx, ctx, range);
    const filch_pair both = filch_join2_word(cx, in_body, 1, in_body, 2);
    MODEL_ASSERT(both.first == 1 && both.second == 2 && client_isolated(cx));
}

static MODEL_FRAME void fork_in_loop(filch_cx *cx)
{
    client_loop book = client_new_loop(2);
    MODEL_ASSERT(filch_for(cx, 2, forking_body, &book, &client_grain1) == FILCH_OK);
    client_loop_check(&book, 2);
}

/* The worker finds the fork, or the loop. */
static void fork_in_body(void)
{
    client_lanes(2);
    (void)model_spawn(client_thief, CLIENT_WORKER(1));
    fork_in_loop(client_cx(0));
    model_join_all();
    client_free_lanes();
}

const model_client model_clients[] = {
    { .name = "loop_nested_inner_joined", .body = inner_joined, .no_spurious_wakes = true },
    { .name = "loop_nested_both_joined",
      .body = both_joined,
      .no_spurious_wakes = true,
      .seconds = 2.2 },
    { .name = "loop_nested_fork_in_body",
      .body = fork_in_body,
      .no_spurious_wakes = true,
      .seconds = 2.2 },
    { .name = NULL },
};
