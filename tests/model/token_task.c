/* SPDX-License-Identifier: MIT */
/* The token of a task is stopped while a worker starts it: it runs or is cancelled, and ends once; the
 * token may go as soon as it has ended.
 * Covers: TOKEN-1 */
#include "parts_client.h"
#include "sync/token.h"

static filch_token *token;
static uint64_t ran, cancelled;

static void task(filch_cx *cx, void *arg)
{
    (void)filch_stopped(cx);
    (*(uint64_t *)arg)++;
}

static void end(void *arg, filch_end how)
{
    (void)arg;
    cancelled += how == FILCH_CANCELLED;
}

static void stop(void *arg)
{
    (void)arg;
    MODEL_ASSERT(filch_token_stop(token) == FILCH_OK);
}

static void post(void)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    client_pool_parts(1, 2);
    MODEL_ASSERT(filch_token_create(NULL, NULL, &token) == FILCH_OK);
    options.end = end;
    options.stop = token;
    MODEL_ASSERT(filch_post(pool, task, &ran, 0, &options) == FILCH_OK);
}

static void finish(void)
{
    MODEL_ASSERT(ran + cancelled == 1);
    MODEL_ASSERT(filch_token_destroy(token) == FILCH_OK);
    MODEL_ASSERT(filchi_account_read(pool).tasks == 0);
    client_free_parts();
}

static void meet(void)
{
    post();
    (void)model_spawn(stop, NULL);
    MODEL_ASSERT(client_run_one(0));
    model_join_all();
    finish();
}

static void before(void)
{
    post();
    stop(NULL);
    MODEL_ASSERT(client_run_one(0));
    MODEL_ASSERT(cancelled == 1);
    finish();
}

const model_client model_clients[] = {
    { .name = "token_task", .body = meet, .seconds = 0.6 },
    { .name = "token_task_before", .body = before, .seconds = 0.3 },
    { .name = NULL },
};
