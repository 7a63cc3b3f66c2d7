/* SPDX-License-Identifier: MIT */
/* A thief reads a child's record in the owner's arena late; meanwhile the owner, at the end of its
 * scope, helps with a task that allocates from the same arena. The record must not be given away
 * before its child has ended. And it is given away then: the next scope uses the memory again,
 * while the thief may still be on its way out.
 * Covers: SCOPE-1, SCOPE-2 */
#include "lanes_client.h"

static uint64_t runs[3]; /* plain */

static void leaf(filch_cx *cx, void *arg)
{
    (void)cx;
    runs[(uintptr_t)arg]++;
}

static MODEL_FRAME void scope_of_one(filch_cx *cx, uintptr_t n)
{
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    filch_spawn(cx, &scope, leaf, (void *)n);
    filch_scope_end(cx, &scope);
    MODEL_ASSERT(runs[n] == 1);
}

/* Lane 1 has a fork outstanding that spawns, and takes the child of lane 0 meanwhile, as a join
 * that helps would. */
static uintptr_t spawns(filch_cx *cx, uintptr_t n)
{
    scope_of_one(cx, n);
    return n;
}

static uintptr_t takes(filch_cx *cx, uintptr_t n)
{
    (void)cx;
    return client_steal(1) ? n : 0;
}

static void other_lane(void *arg)
{
    (void)arg;
    (void)filch_join2_word(client_cx(1), takes, 1, spawns, 1);
}

static void owner_helps(void)
{
    client_lanes(2);
    (void)model_spawn(other_lane, NULL);
    scope_of_one(client_cx(0), 0);
    model_join_all();
    MODEL_ASSERT(runs[1] == 1);
    client_free_lanes();
}

static void used_again(void)
{
    client_lanes(2);
    (void)model_spawn(client_thief, CLIENT_WORKER(1));
    scope_of_one(client_cx(0), 0);
    scope_of_one(client_cx(0), 1);
    model_join_all();
    MODEL_ASSERT(filchi_arena_here(&client_lane(0)->arena).used == 0);
    client_free_lanes();
}

const model_client model_clients[] = {
    { .name = "scope_records_stay_owner_helps", .body = owner_helps, .no_spurious_wakes = true },
    { .name = "scope_records_stay_used_again", .body = used_again, .no_spurious_wakes = true },
    { .name = NULL },
};
