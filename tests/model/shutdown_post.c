/* SPDX-License-Identifier: MIT */
/* A post from outside meets a shutdown: it is refused, or accepted and then run or cancelled, once,
 * and the report agrees.
 * Covers: CLOSE-1, CLOSE-2, DOOR-1, DOOR-2, DOOR-3, QUIET-1, QUIET-2, QUIET-3, QUIET-4, QUIET-6,
 * QUIET-7 */
#include "parts_client.h"

enum { RAN, CANCELLED, REFUSED }; /* ghosts */

static uint64_t input;

static void task(filch_cx *cx, void *arg)
{
    (void)cx;
    MODEL_ASSERT(*(uint64_t *)arg == 5);
    MODEL_ASSERT(model_ghost(RAN, 1) == 1);
}

static void end(void *arg, filch_end how)
{
    MODEL_ASSERT(*(uint64_t *)arg == 5);
    if (how == FILCH_CANCELLED) {
        MODEL_ASSERT(model_ghost(CANCELLED, 1) == 1);
    }
}

static void poster(void *arg)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    (void)arg;
    options.end = end;
    input = 5;
    const filch_status status = filch_post(pool, task, &input, 0, &options);
    MODEL_ASSERT(status == FILCH_OK || status == FILCH_E_CLOSED);
    (void)model_ghost(REFUSED, status != FILCH_OK);
}

static void judge(filch_shutdown_mode mode, const filch_shutdown_report *report)
{
    const uint64_t ran = model_ghost(RAN, 0);
    const uint64_t cancelled = model_ghost(CANCELLED, 0);
    const uint64_t refused = model_ghost(REFUSED, 0);
    MODEL_ASSERT(ran + cancelled + refused == 1);
    MODEL_ASSERT(mode == FILCH_CANCEL || cancelled == 0);
    MODEL_ASSERT(report->ran == ran && report->cancelled == cancelled);
    MODEL_ASSERT(report->accepted == ran + cancelled);
    MODEL_ASSERT(report->refused <= refused); /* it may be counted after the report */
}

static void finish(filch_shutdown_mode mode, const filch_shutdown_report *report)
{
    model_join_all();
    judge(mode, report);
    MODEL_ASSERT(filchi_injector_looks_empty(&pool->injector));
    MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
}

static void nobody(void *arg)
{
    (void)arg;
}

/* The closer plays the worker while its shutdown is late; the worker's thread is there to be
 * joined. */
static void shut_down(filch_shutdown_mode mode)
{
    filch_shutdown_report report;
    client_pool_parts(1, 2);
    client_start(1, nobody);
    (void)model_spawn(poster, NULL);
    while (filch_pool_shutdown(pool, mode, 0, &report) != FILCH_OK) {
        if (!client_run_one(0)) {
            model_yield();
        }
    }
    finish(mode, &report);
}

static void drain(void)
{
    shut_down(FILCH_DRAIN);
}

static void cancel(void)
{
    shut_down(FILCH_CANCEL);
}

/* What has not started when the pool is cancelled is not run. */
static void cancel_first(void)
{
    client_pool_parts(1, 2);
    poster(NULL);
    MODEL_ASSERT(filch_pool_shutdown(pool, FILCH_CANCEL, 0, NULL) == FILCH_E_TIMEOUT);
    client_run(0);
    MODEL_ASSERT(model_ghost(RAN, 0) == 0 && model_ghost(CANCELLED, 0) == 1);
    MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
}

/* With the worker's own loop. */
static void drain_loop(void)
{
    filch_shutdown_report report;
    client_pool_parts(1, 2);
    client_start(1, filchi_worker_main);
    (void)model_spawn(poster, NULL);
    MODEL_ASSERT(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, &report) == FILCH_OK);
    finish(FILCH_DRAIN, &report);
}

/* After the close no entry counts, and the closer has waited for those before. */
static void enter(void)
{
    if (filchi_pool_caller_enter(pool)) {
        (void)model_ghost(RAN, 1); /* what the closer must have waited for */
        filchi_pool_tasks_ended(pool, 1);
        filchi_pool_caller_exit(pool);
    }
}

static void enter_twice(void *arg)
{
    (void)arg;
    enter();
    enter();
}

static void close_entry(void)
{
    client_pool_parts(1, 2);
    (void)model_spawn(enter_twice, NULL);
    MODEL_ASSERT(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, NULL) == FILCH_OK);
    const uint64_t inside = model_ghost(RAN, 0);
    model_join_all();
    MODEL_ASSERT(model_ghost(RAN, 0) == inside);
    const filchi_pending left = filchi_account_read(pool);
    MODEL_ASSERT(left.tasks == 0 && left.callers == 0);
    MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
}

const model_client model_clients[] = {
    { .name = "shutdown_post_drain", .body = drain, .no_spurious_wakes = true, .seconds = 0.7 },
    { .name = "shutdown_post_cancel", .body = cancel, .no_spurious_wakes = true, .seconds = 0.7 },
    { .name = "shutdown_post_cancel_first", .body = cancel_first, .seconds = 0.5 },
    { .name = "shutdown_post_loop", .body = drain_loop, .no_spurious_wakes = true, .seconds = 3.5 },
    { .name = "shutdown_close_entry",
      .body = close_entry,
      .no_spurious_wakes = true,
      .seconds = 0.7 },
    { .name = NULL },
};
