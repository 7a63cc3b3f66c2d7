/* SPDX-License-Identifier: MIT */
/* Two workers come to a loop: each is admitted with a slot of its own while there are units for it,
 * the two steal from one another and from the caller, and what the first to leave wrote reaches the
 * caller through the last. Three threads and many stores to read from: with three units this is not
 * searched to the end.
 * Covers: LOOP-1, LATCH-1, LATCH-2, LATCH-3 */
#include "loop_client.h"

static MODEL_FRAME void invite(filch_cx *cx, size_t n, unsigned most)
{
    client_loop book = client_new_loop(n);
    filch_loop options = client_grain1;
    options.participants = most;
    if (most != 0) {
        book.slots = most;
    }
    MODEL_ASSERT(filch_for(cx, n, client_inviting_body, &book, &options) == FILCH_OK);
    client_loop_check(&book, n);
}

static void run(size_t n, unsigned most)
{
    client_lanes(3);
    invite(client_cx(0), n, most);
    model_join_all();
    client_free_lanes();
}

/* More workers than units: the second is not let in. */
static void two_units(void)
{
    run(2, 0);
}

static void three_units(void)
{
    run(3, 0);
}

/* The caller wants only one of them. */
static void at_most_two(void)
{
    run(3, 2);
}

const model_client model_clients[] = {
    { .name = "loop_two_joiners_two_units", .body = two_units, .no_spurious_wakes = true },
    { .name = "loop_two_joiners_at_most_two", .body = at_most_two, .no_spurious_wakes = true },
    { .name = "loop_two_joiners_three_units",
      .body = three_units,
      .no_spurious_wakes = true,
      .seconds = 3 },
    { .name = NULL },
};
