/* SPDX-License-Identifier: MIT */
/* A foreign thread waits for a group whose tasks workers run, and destroys it at once: it sees what the
 * tasks wrote, nobody touches the group any more, and no end is missed. */
#include "group_client.h"

static void one_worker(void)
{
    client_group(1, 4, 0);
    client_post(0);
    client_post(1);
    (void)model_spawn(client_group_all, (void *)(uintptr_t)0);
    MODEL_ASSERT(client_wait(NULL) == FILCH_OK);
    MODEL_ASSERT(client_ran[0] == 1 && client_ran[1] == 1);
    client_group_end();
}

static void two_workers(void)
{
    client_group(2, 4, 0);
    client_post(0);
    client_post(1);
    (void)model_spawn(client_group_all, (void *)(uintptr_t)0);
    (void)model_spawn(client_group_all, (void *)(uintptr_t)1);
    MODEL_ASSERT(client_wait(NULL) == FILCH_OK);
    MODEL_ASSERT(client_ran[0] == 1 && client_ran[1] == 1);
    client_group_end();
}

/* The end, and the stop of the wait's token, at once; a deadline beside. */
static filch_token *token;

static void stop(void *arg)
{
    (void)arg;
    MODEL_ASSERT(filch_token_stop(token) == FILCH_OK);
}

static void stopped(void)
{
    client_group(1, 4, 0);
    MODEL_ASSERT(filch_token_create(NULL, NULL, &token) == FILCH_OK);
    client_post(0);
    (void)model_spawn(stop, NULL);
    (void)model_spawn(client_group_all, (void *)(uintptr_t)0);
    const filch_status status = client_wait(token);
    MODEL_ASSERT(status == FILCH_OK || status == FILCH_E_STOPPED);
    MODEL_ASSERT(client_wait(NULL) == FILCH_OK);
    MODEL_ASSERT(client_ran[0] == 1);
    model_join_all();
    MODEL_ASSERT(filch_token_destroy(token) == FILCH_OK);
    client_group_end();
}

/* Nobody runs it: only the stop ends the wait. */
static void stopped_alone(void)
{
    client_group(1, 4, 0);
    MODEL_ASSERT(filch_token_create(NULL, NULL, &token) == FILCH_OK);
    client_post(0);
    (void)model_spawn(stop, NULL);
    MODEL_ASSERT(client_wait(token) == FILCH_E_STOPPED);
    client_group_all(0);
    model_join_all();
    MODEL_ASSERT(filch_token_destroy(token) == FILCH_OK);
    MODEL_ASSERT(client_wait(NULL) == FILCH_OK);
    client_group_end();
}

/* A deadline that may pass at any moment: who leaves is not touched any more. */
static MODEL_FRAME filch_status wait_until(filch_time until)
{
    return filch_group_wait(group, until, NULL, NULL);
}

static void late(void)
{
    client_group(1, 4, 0);
    client_post(0);
    (void)model_spawn(client_group_all, (void *)(uintptr_t)0);
    const filch_status status = wait_until(2000000000);
    MODEL_ASSERT(status == FILCH_OK || status == FILCH_E_TIMEOUT);
    MODEL_ASSERT(client_wait(NULL) == FILCH_OK);
    MODEL_ASSERT(client_ran[0] == 1);
    client_group_end();
}

/* One posts into a group that another waits for: no task is left behind, none gets lost between rounds. */
static void poster(void *arg)
{
    client_post((uintptr_t)arg);
    client_group_all(0);
}

static void next_round(void)
{
    client_group(1, 4, 0);
    (void)model_spawn(poster, (void *)(uintptr_t)0);
    MODEL_ASSERT(client_wait(NULL) == FILCH_OK);
    model_join_all();
    MODEL_ASSERT(client_wait(NULL) == FILCH_OK);
    MODEL_ASSERT(client_ran[0] == 1);
    client_group_end();
}

const model_client model_clients[] = {
    { .name = "group_wait", .body = one_worker, .no_spurious_wakes = true },
    { .name = "group_wait_two_workers", .body = two_workers, .no_spurious_wakes = true },
    { .name = "group_wait_stopped", .body = stopped, .no_spurious_wakes = true, .seconds = 2 },
    { .name = "group_wait_stopped_alone", .body = stopped_alone, .no_spurious_wakes = true },
    { .name = "group_wait_late", .body = late, .no_spurious_wakes = true },
    { .name = "group_wait_next_round", .body = next_round, .no_spurious_wakes = true },
    { .name = NULL },
};
