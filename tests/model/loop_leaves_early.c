/* SPDX-License-Identifier: MIT */
/* A worker that is off duty leaves a loop after a unit, with the rest of its range: the others, at
 * last the caller, run that; each index once.
 * Covers: LOOP-1, LATCH-1, LATCH-2, LATCH-3 */
#include "loop_client.h"

/* In the first unit worker 1 comes in, and is sent off duty. */
static void shrinking_body(filch_cx *cx, void *ctx, filch_range range)
{
    if (range.lo == 0) {
        filchi_store_relaxed_u32(&lanes->active, 1);
    }
    client_inviting_body(cx, ctx, range);
}

static MODEL_FRAME void loop_in_frame(size_t n)
{
    client_loop book = client_new_loop(n);
    MODEL_ASSERT(filch_for(client_cx(0), n, shrinking_body, &book, &client_grain1) == FILCH_OK);
    client_loop_check(&book, n);
}

static void leaves(void)
{
    client_lanes(2);
    loop_in_frame(4);
    model_join_all();
    client_free_lanes();
}

const model_client model_clients[] = {
    { .name = "loop_leaves_early", .body = leaves, .no_spurious_wakes = true, .seconds = 3 },
    { .name = NULL },
};
