/* SPDX-License-Identifier: MIT */
/* The last task ends while somebody goes to sleep until the pool is quiet: the waiter sees it, or is
 * woken, and then sees what the tasks wrote. Its frame is gone when the wait returns.
 * Covers: QUIET-1, QUIET-2, QUIET-3, QUIET-6, EC-1 */
#include "parts_client.h"

static uint64_t output[2];

static void task(filch_cx *cx, void *arg)
{
    (void)cx;
    (*(uint64_t *)arg)++;
}

static void runner(void *arg)
{
    client_run((unsigned)(uintptr_t)arg);
}

static void prepare(unsigned tasks)
{
    client_pool_parts(tasks, 2);
    for (unsigned i = 0; i < tasks; i++) {
        MODEL_ASSERT(filch_post(pool, task, &output[i], 0, NULL) == FILCH_OK);
    }
    for (unsigned i = 0; i < tasks; i++) {
        (void)model_spawn(runner, (void *)(uintptr_t)i);
    }
}

static void finish(void)
{
    model_join_all();
    MODEL_ASSERT(filchi_load_seq_cst_u64(&pool->quiet_waiters) == 0);
    const filchi_pending left = filchi_account_read(pool);
    MODEL_ASSERT(left.tasks == 0 && left.callers == 0);
    client_free_parts();
}

static void one_task(void)
{
    prepare(1);
    MODEL_ASSERT(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_OK);
    MODEL_ASSERT(output[0] == 1);
    finish();
}

static void two_tasks(void)
{
    prepare(2);
    MODEL_ASSERT(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_OK);
    MODEL_ASSERT(output[0] == 1 && output[1] == 1);
    finish();
}

/* What the end of a cancelled task writes is seen as well. */
static void end(void *arg, filch_end how)
{
    MODEL_ASSERT(how == FILCH_CANCELLED);
    (*(uint64_t *)arg)++;
}

static void cancelled(void)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.end = end;
    client_pool_parts(1, 2);
    MODEL_ASSERT(filch_post(pool, task, &output[0], 0, &options) == FILCH_OK);
    filchi_store_relaxed_u32(&pool->closing, FILCHI_CANCELLED);
    (void)model_spawn(runner, NULL);
    MODEL_ASSERT(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_OK);
    MODEL_ASSERT(output[0] == 1);
    finish();
}

static void waiter(void *arg)
{
    (void)arg;
    MODEL_ASSERT(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_OK);
    MODEL_ASSERT(output[0] == 1);
}

static void two_waiters(void)
{
    prepare(1);
    (void)model_spawn(waiter, NULL);
    waiter(NULL);
    finish();
}

/* With a deadline: quiet, or late; late is no promise about the task. */
static void deadline(void)
{
    prepare(1);
    const filch_status status = filch_pool_wait_quiet(pool, 2000000000);
    MODEL_ASSERT(status == FILCH_OK || status == FILCH_E_TIMEOUT);
    if (status == FILCH_OK) {
        MODEL_ASSERT(output[0] == 1);
    }
    finish();
}

const model_client model_clients[] = {
    { .name = "quiet_wake", .body = one_task, .no_spurious_wakes = true, .seconds = 0.7 },
    { .name = "quiet_wake_two_tasks", .body = two_tasks, .no_spurious_wakes = true },
    { .name = "quiet_wake_cancelled",
      .body = cancelled,
      .no_spurious_wakes = true,
      .seconds = 0.7 },
    { .name = "quiet_wake_two_waiters", .body = two_waiters, .no_spurious_wakes = true },
    { .name = "quiet_wake_deadline", .body = deadline, .no_spurious_wakes = true, .seconds = 0.7 },
    { .name = NULL },
};
