/* SPDX-License-Identifier: MIT */
/* Without the barrier: the owner goes on to its next region, or comes back, while a sleeper rings the
 * one it used before. The owner still offers at one of its next looks, and the sleeper comes.
 * Covers: LANE-1, LANE-2, LANE-4, REC-1, REC-2, REC-3, REC-7, SLEEP-1, EC-1 */
#include "records_client.h"

enum { ROOM = 3 };

static uintptr_t taken(filch_cx *cx, uintptr_t n)
{
    MODEL_ASSERT(!client_runs_on(cx, 0));
    (void)model_ghost(0, 1);
    return n;
}

static void look_until_taken(filch_cx *cx)
{
    while (model_ghost(0, 0) == 0) {
        (void)filch_join2_word(cx, client_nothing, 1, client_nothing, 2);
        model_yield();
    }
}

/* The first region has room for one fork, which is gone; the second has been made, with more. */
static void give_second_region(filchi_lane *lane)
{
    filchi_region *first = lane->regions;
    filchi_region *second = filchi_region_make(client_region_memory(ROOM), lane, first, ROOM);
    filchi_store_release_uptr(&first->next, (uintptr_t)second);
    model_name(second, sizeof(filchi_region) + ROOM * sizeof(filch_cx), "second");
}

static MODEL_FRAME void go_on(filch_cx *cx)
{
    filch_fork_handle fork[3];
    filch_fork(cx, &fork[0], client_count, 0);
    MODEL_ASSERT(client_steal_from_lane0(2));
    client_start_worker(1);
    filch_fork(cx, &fork[1], client_count, 1);
    (void)client_steal_from_lane0(2); /* so that nothing there is on offer any more */
    filch_fork(cx, &fork[2], taken, 4);
    look_until_taken(cx);
    MODEL_ASSERT(filch_join(cx, &fork[2]) == 4);
    MODEL_ASSERT(filch_join(cx, &fork[1]) == 11 && filch_join(cx, &fork[0]) == 10);
}

static void forward(void)
{
    client_begin_with(3, 1, false);
    give_second_region(client_lane(0));
    go_on(client_cx(0));
    client_finish();
}

/* Two forks in the first region; the owner has been in the next one, and looks from the first. */
static MODEL_FRAME void come_back(filch_cx *cx)
{
    filch_fork_handle fork[2];
    filch_fork(cx, &fork[0], taken, 4);
    filch_fork(cx, &fork[1], client_count, 0);
    (void)filch_join2_word(cx, client_nothing, 1, client_nothing, 2);
    MODEL_ASSERT(filch_join(cx, &fork[1]) == 10);
    look_until_taken(cx);
    MODEL_ASSERT(filch_join(cx, &fork[0]) == 4);
}

static void back(void)
{
    client_begin_with(2, 2, false);
    lanes->config.allocator = client_small_regions;
    client_silence();
    client_start_worker(1);
    come_back(client_cx(0));
    client_finish();
}

const model_client model_clients[] = {
    { .name = "records_regions_polled_forward",
      .body = forward,
      .no_spurious_wakes = true,
      .seconds = 2.5 },
    { .name = "records_regions_polled_back",
      .body = back,
      .no_spurious_wakes = true,
      .seconds = 2.5 },
    { .name = NULL },
};
