/* SPDX-License-Identifier: MIT */
/* A worker waits for a group: it runs what has not started, also what comes while it sleeps, and is woken
 * by the last end. It runs each task once, with another worker beside. */
#include "group_client.h"

/* The client is worker 0 in a task of its own. */
static void as_worker(void)
{
    filchi_place place;
    filchi_lane *lane = &pool->workers[0]->lane;
    filchi_place_enter(&place, pool, lane);
    MODEL_ASSERT(client_wait(NULL) == FILCH_OK);
    filchi_place_leave(&place);
}

static void shared(void)
{
    client_group(2, 4, 0);
    client_post(0);
    client_post(1);
    (void)model_spawn(client_group_all, (void *)(uintptr_t)1);
    as_worker();
    MODEL_ASSERT(client_ran[0] == 1 && client_ran[1] == 1);
    client_group_end();
}

/* Only the one who sleeps can run it: the task is posted, and its poster does not come back before. */
static void post_and_await(void *arg)
{
    filchi_work *work = arg;
    client_post(1);
    while (filchi_load_seq_cst_u64(&pool->groups.waiting) != 0) {
        model_yield();
    }
    work->run(pool->workers[1]->lane.cx, work->object);
}

static void woken_for_a_task(void)
{
    filchi_work work;
    client_group(2, 4, 0);
    client_post(0);
    MODEL_ASSERT(filchi_groups_take(pool->workers[1], &work));
    (void)model_spawn(post_and_await, &work);
    as_worker();
    MODEL_ASSERT(client_ran[0] == 1 && client_ran[1] == 1);
    client_group_end();
}

/* A task of the group that waits for it would wait for itself; beside, it may. */
static void wait_for_itself(filch_cx *cx, void *arg)
{
    client_task(cx, arg);
    MODEL_ASSERT(filch_group_wait(group, FILCH_FOREVER, NULL, NULL) == FILCH_E_ON_WORKER);
}

static void itself(void)
{
    filchi_place place;
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    client_group(1, 4, 0);
    options.group = group;
    MODEL_ASSERT(filch_post(pool, wait_for_itself, NULL, 0, &options) == FILCH_OK);
    as_worker();
    filchi_place_enter(&place, pool, &pool->workers[0]->lane);
    MODEL_ASSERT(client_wait(NULL) == FILCH_OK);
    filchi_place_leave(&place);
    MODEL_ASSERT(client_ran[0] == 1);
    client_group_end();
}

const model_client model_clients[] = {
    { .name = "group_helper", .body = shared, .no_spurious_wakes = true },
    { .name = "group_helper_woken", .body = woken_for_a_task, .no_spurious_wakes = true },
    { .name = "group_helper_itself", .body = itself, .seconds = 0.3 },
    { .name = NULL },
};
