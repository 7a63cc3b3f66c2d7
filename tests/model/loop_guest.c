/* SPDX-License-Identifier: MIT */
/* A foreign thread's loop: it is a guest with a lane of its own for that time, counted as pending
 * until it leaves, and its last touch of the pool is the subtraction of itself: who sees the account
 * empty may free the pool. Its forks run on the spot. A worker's lane of another pool is isolated
 * meanwhile and as before afterwards.
 * Covers: LOOP-1, LATCH-1, LATCH-2, LATCH-3, QUIET-2, QUIET-4, QUIET-5, DOOR-1, DOOR-2, DOOR-3 */
#include "loop_client.h"

static uintptr_t twice(filch_cx *cx, uintptr_t n)
{
    MODEL_ASSERT(client_isolated(cx));
    return n * 2;
}

static void guest_body(filch_cx *cx, void *ctx, filch_range range)
{
    client_body(cx, ctx, range);
    const filch_pair both = filch_join2_word(cx, twice, 1, twice, 2);
    MODEL_ASSERT(both.first == 2 && both.second == 4);
}

static MODEL_FRAME void guest_for(filch_range_fn *body)
{
    client_loop book = client_new_loop(2);
    MODEL_ASSERT(filch_for_on(lanes, 2, body, &book, &client_grain1) == FILCH_OK);
    client_loop_check(&book, 2);
    MODEL_ASSERT(filchi_thread_local_get() == NULL);
}

static void joined(void)
{
    client_lanes(2);
    (void)model_spawn(client_joiner, CLIENT_WORKER(1));
    guest_for(guest_body);
    const filchi_pending left = filchi_account_read(lanes);
    MODEL_ASSERT(left.tasks == 0 && left.callers == 0);
    model_join_all();
    client_free_lanes();
}

static filchi_parker inside;

static void tell_body(filch_cx *cx, void *ctx, filch_range range)
{
    client_body(cx, ctx, range);
    filchi_unpark(&inside);
}

static void guest(void *arg)
{
    (void)arg;
    guest_for(tell_body);
}

/* The pool ends as soon as nobody is inside. */
static void pool_freed(void)
{
    client_lanes(2);
    MODEL_ASSERT(filchi_parker_init(&inside));
    (void)model_spawn(guest, NULL);
    MODEL_ASSERT(filchi_park(&inside, INT64_MAX));
    MODEL_ASSERT(filchi_pool_wait_account(lanes, FILCH_FOREVER) == FILCH_OK);
    client_free_lanes();
    model_join_all();
}

/* Lane 0 belongs to another pool than the one it is a guest of. */
static filchi_lane *own;

static void own_lane_body(filch_cx *cx, void *ctx, filch_range range)
{
    client_body(cx, ctx, range);
    if (filchi_lane_of(cx)->worker == NULL) {
        MODEL_ASSERT(filchi_lane_isolated(own) && filchi_place_own_lane() == own);
        MODEL_ASSERT(filchi_place_inside(own->pool) && filchi_place_inside(lanes));
    }
}

static void of_another_pool(void)
{
    filchi_place place;
    client_lanes(2);
    filch_pool *const other = lanes;
    own = client_lane(0);
    client_lanes(2);
    (void)model_spawn(client_joiner, CLIENT_WORKER(1));
    filchi_place_enter(&place, other, own);
    client_loop book = client_new_loop(2);
    MODEL_ASSERT(filch_for_on(lanes, 2, own_lane_body, &book, &client_grain1) == FILCH_OK);
    client_loop_check(&book, 2);
    MODEL_ASSERT(!filchi_lane_isolated(own) && filchi_place_own_lane() == own);
    MODEL_ASSERT(filchi_place_inside(other) && !filchi_place_inside(lanes));
    filchi_place_leave(&place);
    model_join_all();
    client_free_lanes();
    lanes = other;
    client_free_lanes();
}

const model_client model_clients[] = {
    { .name = "loop_guest_joined", .body = joined, .no_spurious_wakes = true, .seconds = 2.2 },
    { .name = "loop_guest_pool_freed", .body = pool_freed, .no_spurious_wakes = true },
    { .name = "loop_guest_of_another_pool", .body = of_another_pool, .no_spurious_wakes = true },
    { .name = NULL },
};
