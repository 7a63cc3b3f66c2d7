/* SPDX-License-Identifier: MIT */
/* A task posts to its own pool while that is shut down: a drain runs what it posts; when the pool is
 * cancelled, the post is refused, or accepted and then run or cancelled. A task in the caller's
 * memory may be freed by its function.
 * Covers: QUIET-1, QUIET-3, CLOSE-1 */
#include "parts_client.h"

#include <stdlib.h>

enum { ACCEPTED, RAN, CANCELLED }; /* ghosts */

static filch_shutdown_mode mode;

static void child(filch_cx *cx, void *arg)
{
    (void)cx;
    free(arg);
    (void)model_ghost(RAN, 1);
}

static void end(void *arg, filch_end how)
{
    if (how == FILCH_CANCELLED) {
        free(arg);
        (void)model_ghost(CANCELLED, 1);
    }
}

static void count(filch_status status)
{
    MODEL_ASSERT(status == FILCH_OK || (status == FILCH_E_CLOSED && mode == FILCH_CANCEL));
    (void)model_ghost(ACCEPTED, status == FILCH_OK);
}

static void submitter(filch_cx *cx, void *arg)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    filch_task *task = malloc(sizeof(*task));
    (void)cx;
    (void)arg;
    *task = (filch_task)FILCH_TASK_INIT(child, task);
    options.end = end;
    const filch_status status = filch_submit(pool, task, &options);
    if (status != FILCH_OK) {
        free(task);
    }
    count(status);
}

static void last(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
    (void)model_ghost(RAN, 1);
}

static void last_end(void *arg, filch_end how)
{
    (void)arg;
    (void)model_ghost(CANCELLED, how == FILCH_CANCELLED);
}

static void poster(filch_cx *cx, void *arg)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    (void)cx;
    options.end = last_end;
    count(filch_post(pool, last, arg, 0, &options));
}

static void shut_down(filch_fn *first, filch_shutdown_mode how)
{
    filch_shutdown_report report;
    mode = how;
    client_pool_parts(1, 2);
    MODEL_ASSERT(filch_post(pool, first, NULL, 0, NULL) == FILCH_OK);
    client_start(1, filchi_worker_main);
    MODEL_ASSERT(filch_pool_shutdown(pool, how, FILCH_FOREVER, &report) == FILCH_OK);
    const uint64_t accepted = model_ghost(ACCEPTED, 0);
    const uint64_t cancelled = model_ghost(CANCELLED, 0);
    MODEL_ASSERT(accepted == model_ghost(RAN, 0) + cancelled);
    MODEL_ASSERT(how == FILCH_CANCEL || (accepted == 1 && cancelled == 0));
    MODEL_ASSERT(report.accepted == 1 + accepted && report.refused <= 1);
    MODEL_ASSERT(report.ran + report.cancelled == report.accepted);
    MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
}

static void submit_drain(void)
{
    shut_down(submitter, FILCH_DRAIN);
}

static void submit_cancel(void)
{
    shut_down(submitter, FILCH_CANCEL);
}

static void post_drain(void)
{
    shut_down(poster, FILCH_DRAIN);
}

static void post_cancel(void)
{
    shut_down(poster, FILCH_CANCEL);
}

const model_client model_clients[] = {
    { .name = "shutdown_own_submit_drain",
      .body = submit_drain,
      .no_spurious_wakes = true,
      .seconds = 1.2 },
    { .name = "shutdown_own_submit_cancel",
      .body = submit_cancel,
      .no_spurious_wakes = true,
      .seconds = 1.2 },
    { .name = "shutdown_own_post_drain",
      .body = post_drain,
      .no_spurious_wakes = true,
      .seconds = 1.2 },
    { .name = "shutdown_own_post_cancel",
      .body = post_cancel,
      .no_spurious_wakes = true,
      .seconds = 1.2 },
    { .name = NULL },
};
