/* SPDX-License-Identifier: MIT */
/* A group is cancelled by a foreign thread, or by a task that fails, while workers take its tasks and
 * others post: each task ends once, and who waits learns of the end. */
#include "group_client.h"

static void cancel(void *arg)
{
    size_t cancelled = 0;
    (void)arg;
    MODEL_ASSERT(filch_group_cancel(group, &cancelled) == FILCH_OK);
    (void)model_ghost(0, (uint64_t)cancelled);
}

static void meet(void)
{
    client_group(1, 4, 0);
    client_post(0);
    client_post(1);
    (void)model_spawn(cancel, NULL);
    (void)model_spawn(client_group_all, (void *)(uintptr_t)0);
    const filch_status first = client_wait(NULL);
    MODEL_ASSERT(client_ran[0] <= 1 && client_ran[1] <= 1);
    model_join_all();
    MODEL_ASSERT(client_ran[0] + client_ran[1] + model_ghost(0, 0) == 2);
    MODEL_ASSERT((first == FILCH_E_CANCELLED) || client_ran[0] + client_ran[1] == 2);
    MODEL_ASSERT(filchi_load_relaxed_u64(&pool->groups.cancelled) == model_ghost(0, 0));
    client_group_end();
}

/* The pool may go as soon as the group has ended, while the canceller returns. */
static void destroyed(void)
{
    client_group(1, 4, 0);
    client_post(0);
    (void)model_spawn(cancel, NULL);
    MODEL_ASSERT(client_wait(NULL) == FILCH_E_CANCELLED);
    while (filch_group_destroy(group) != FILCH_OK) {
        model_yield();
    }
    MODEL_ASSERT(filch_pool_destroy(pool) ==
                 FILCH_OK); /* with a shutdown, which waits for callers */
    model_join_all();
}

static void fail(filch_cx *cx, void *arg)
{
    (void)arg;
    MODEL_ASSERT(filch_fail(cx, FILCH_E_FULL) == FILCH_OK);
}

static void poster(void *arg)
{
    const filch_status status = client_post_as((uintptr_t)arg, FILCH_FULL_REJECT, NULL);
    MODEL_ASSERT(status == FILCH_OK || status == FILCH_E_CANCELLED);
    (void)model_ghost(1, status == FILCH_E_CANCELLED);
}

static void fail_fast(void)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    client_group(1, 4, FILCH_GROUP_FAIL_FAST);
    options.group = group;
    MODEL_ASSERT(filch_post(pool, fail, NULL, 0, &options) == FILCH_OK);
    client_post(0);
    (void)model_spawn(poster, (void *)(uintptr_t)1);
    client_group_all(0);
    model_join_all();
    client_group_all(0);
    MODEL_ASSERT(client_wait(NULL) == FILCH_E_FULL);
    MODEL_ASSERT(client_ran[0] == 0 && client_ran[1] == 0);
    client_group_end();
}

/* A cancelled group is closed until a wait has returned. */
static void again(void)
{
    client_group(1, 4, 0);
    client_post(0);
    cancel(NULL);
    MODEL_ASSERT(client_post_as(1, FILCH_FULL_BLOCK, NULL) == FILCH_E_CANCELLED);
    MODEL_ASSERT(client_wait(NULL) == FILCH_E_CANCELLED);
    client_post(1);
    client_group_all(0);
    MODEL_ASSERT(client_wait(NULL) == FILCH_OK);
    MODEL_ASSERT(client_ran[0] == 0 && client_ran[1] == 1);
    client_group_end();
}

const model_client model_clients[] = {
    { .name = "group_cancel", .body = meet, .no_spurious_wakes = true, .seconds = 2 },
    { .name = "group_cancel_destroyed", .body = destroyed, .no_spurious_wakes = true },
    { .name = "group_cancel_fail_fast", .body = fail_fast, .no_spurious_wakes = true },
    { .name = "group_cancel_again", .body = again, .seconds = 0.3 },
    { .name = NULL },
};
