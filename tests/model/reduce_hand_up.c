/* SPDX-License-Identifier: MIT */
/* Two participants of a reduction meet at a node: who comes second combines both values, the left one
 * with the right one, and sees what the first wrote; the caller gets the whole, and every value is
 * freed once, by the caller, after the last participant has left.
 * Covers: REDUCE-1, LOOP-1 */
#include "loop_client.h"

typedef struct text { /* of the indices that were folded, in order */
    uint64_t digits;
    uint64_t count;
} text;

static void fold(filch_cx *cx, void *ctx, filch_range range, void *value)
{
    text *t = value;
    (void)cx;
    (void)ctx;
    for (size_t i = range.lo; i < range.hi; i++) {
        t->digits = t->digits * 10 + i + 1;
        t->count++;
    }
}

static void combine(void *ctx, void *left, const void *right)
{
    text *to = left;
    const text *from = right;
    (void)ctx;
    for (uint64_t i = 0; i < from->count; i++) {
        to->digits *= 10;
    }
    to->digits += from->digits;
    to->count += from->count;
}

static MODEL_FRAME void reduce(filch_cx *cx, size_t n, uint64_t digits)
{
    filch_reducer reducer = FILCH_REDUCER_INIT;
    text whole = { 0, 0 };
    reducer.value_bytes = sizeof(whole);
    reducer.fold = fold;
    reducer.combine = combine;
    MODEL_ASSERT(filch_reduce(cx, n, &reducer, NULL, &whole, &client_grain1) == FILCH_OK);
    MODEL_ASSERT(whole.count == n && whole.digits == digits);
}

static void run(size_t n, uint64_t digits)
{
    client_lanes(2);
    (void)model_spawn(client_joiner, CLIENT_WORKER(1));
    reduce(client_cx(0), n, digits);
    model_join_all();
    client_free_lanes();
}

static void two_leaves(void)
{
    run(2, 12);
}

static void three_leaves(void)
{
    run(3, 123);
}

const model_client model_clients[] = {
    { .name = "reduce_hand_up_two", .body = two_leaves, .no_spurious_wakes = true, .seconds = 2 },
    { .name = "reduce_hand_up_three",
      .body = three_leaves,
      .no_spurious_wakes = true,
      .seconds = 2 },
    { .name = NULL },
};
