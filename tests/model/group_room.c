/* SPDX-License-Identifier: MIT */
/* A full group: who waits for room gets it, or leaves when the group is cancelled or its token stopped;
 * what is dropped ends once. */
#include "group_client.h"

static filch_token *token;

static void full(void)
{
    client_group(1, 1, 0);
    client_post(0);
    MODEL_ASSERT(filch_token_create(NULL, NULL, &token) == FILCH_OK);
}

static void blocked(void *arg)
{
    const filch_status status = client_post_as((uintptr_t)arg, FILCH_FULL_BLOCK, token);
    (void)model_ghost(0, status == FILCH_OK);
    (void)model_ghost(1, status == FILCH_E_STOPPED);
    (void)model_ghost(2, status == FILCH_E_CANCELLED);
}

static void finish(void)
{
    model_join_all();
    client_group_all(0);
    (void)client_wait(NULL);
    MODEL_ASSERT(filch_token_destroy(token) == FILCH_OK);
    client_group_end();
}

static void taken(void)
{
    full();
    (void)model_spawn(blocked, (void *)(uintptr_t)1);
    MODEL_ASSERT(client_group_one(0));
    model_join_all();
    MODEL_ASSERT(model_ghost(0, 0) == 1);
    client_group_all(0);
    MODEL_ASSERT(client_ran[0] == 1 && client_ran[1] == 1);
    finish();
}

static void stopped(void)
{
    full();
    (void)model_spawn(blocked, (void *)(uintptr_t)1);
    MODEL_ASSERT(filch_token_stop(token) == FILCH_OK);
    model_join_all();
    MODEL_ASSERT(model_ghost(1, 0) == 1);
    finish();
}

static void cancelled(void)
{
    full();
    (void)model_spawn(blocked, (void *)(uintptr_t)1);
    MODEL_ASSERT(filch_group_cancel(group, NULL) == FILCH_OK);
    model_join_all();
    MODEL_ASSERT(model_ghost(2, 0) == 1);
    MODEL_ASSERT(client_ran[0] == 0 && client_ran[1] == 0);
    finish();
}

static void dropper(void *arg)
{
    MODEL_ASSERT(client_post_as((uintptr_t)arg, FILCH_FULL_DROP_OLDEST, NULL) == FILCH_OK);
}

static void dropped(void)
{
    full();
    (void)model_spawn(dropper, (void *)(uintptr_t)1);
    (void)client_group_one(0);
    model_join_all();
    client_group_all(0);
    const uint64_t drops = filchi_load_relaxed_u64(&pool->groups.dropped);
    MODEL_ASSERT(client_ran[0] + client_ran[1] + drops == 2 && client_ran[0] <= 1);
    finish();
}

/* The group is empty and to be destroyed, but for a thread that was woken for room and is on its way. */
static void destroyed(void)
{
    full();
    (void)model_spawn(blocked, (void *)(uintptr_t)1);
    while (filchi_load_relaxed_u64(&pool->room_waits) == 0) {
        model_yield();
    }
    while (filch_group_destroy(group) != FILCH_OK) {
        if (!client_group_one(0)) {
            model_yield();
        }
    }
    model_join_all();
    MODEL_ASSERT(client_ran[0] == 1 && client_ran[1] == 1);
    MODEL_ASSERT(filch_token_destroy(token) == FILCH_OK);
    client_free_parts();
}

const model_client model_clients[] = {
    { .name = "group_room", .body = taken, .no_spurious_wakes = true },
    { .name = "group_room_stopped", .body = stopped, .no_spurious_wakes = true },
    { .name = "group_room_cancelled", .body = cancelled, .no_spurious_wakes = true },
    { .name = "group_room_dropped", .body = dropped, .no_spurious_wakes = true },
    { .name = "group_room_destroyed", .body = destroyed, .no_spurious_wakes = true },
    { .name = NULL },
};
