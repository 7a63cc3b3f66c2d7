/* SPDX-License-Identifier: MIT */
/* Each index of a loop runs exactly once, whoever takes units from the front of its range and
 * whoever steals the back half of it at the same time; a slot has one holder. The caller sees what
 * the bodies wrote, and the frames of the loop and of its caller may be left at once.
 * Covers: LOOP-1, LATCH-1, LATCH-2, LATCH-3 */
#include "loop_client.h"

static void run(size_t n)
{
    client_lanes(2);
    (void)model_spawn(client_joiner, CLIENT_WORKER(1));
    client_for(client_cx(0), n);
    model_join_all();
    client_free_lanes();
}

static void two_units(void)
{
    run(2);
}

static void three_units(void)
{
    run(3);
}

const model_client model_clients[] = {
    { .name = "loop_each_once_two_units", .body = two_units, .no_spurious_wakes = true },
    { .name = "loop_each_once_three_units",
      .body = three_units,
      .no_spurious_wakes = true,
      .seconds = 2.5 },
    { .name = NULL },
};
