/* SPDX-License-Identifier: MIT */
/* The pool's account of what is pending: who is inside, what has not ended, and who waits for all
 * of it. A foreign thread's last touch of the pool is the subtraction of itself; a pool is freed
 * only when nobody is inside. */
#include "base/check.h"
#include "core/pool.h"

/* Every public call on a pool begins here. */
bool filchi_pool_forked(const filch_pool *pool)
{
    FILCHI_RULE(pool->alive == FILCHI_POOL_ALIVE, "a pool is not used after it was destroyed");
    return pool->generation != filchi_fork_generation();
}

bool filchi_pool_stopping(const filch_pool *pool)
{
    /* [STOP-1] seq_cst, pairs with STOP-2: a worker that goes to sleep after the stop sees it. */
    return filchi_load_seq_cst_u32(&pool->stop) != 0;
}

bool filchi_pool_cancelling(const filch_pool *pool)
{
    /* relaxed: a task that slips through runs, as if it had been started before */
    return (filchi_load_relaxed_u64(&pool->account) & FILCHI_ACCOUNT_CANCEL) != 0;
}

bool filchi_pool_closed(const filch_pool *pool)
{
    /* relaxed: a moment's view; under `gate` a shutdown that comes later ends the pause itself */
    return (filchi_load_relaxed_u64(&pool->account) & FILCHI_ACCOUNT_CLOSED) != 0;
}

void filchi_pool_task_ended(filch_pool *pool)
{
    filchi_pool_tasks_ended(pool, 1);
}

void filchi_pool_tasks_ended(filch_pool *pool, uint32_t tasks)
{
    /* [QUIET-1] seq_cst, pairs with QUIET-3: what the task wrote is visible to whoever sees the
     * pool quiet. */
    const uint64_t before = filchi_add_seq_cst_u64(&pool->account, 0 - tasks * FILCHI_ACCOUNT_TASK);
    if ((before & FILCHI_ACCOUNT_TASKS) != tasks * FILCHI_ACCOUNT_TASK) {
        return;
    }
    /* [QUIET-2] seq_cst, pairs with EC-1: a thread that waits for quiet is seen here, or sees the
     * account of above. */
    if (filchi_load_seq_cst_u64(&pool->quiet_waiters) != 0) {
        filchi_eventcount_wake_all(&pool->quiet, (uint64_t)-1);
    }
}

bool filchi_pool_caller_enter(filch_pool *pool)
{
    return filchi_pool_caller_enter_many(pool, 1);
}

bool filchi_pool_caller_enter_many(filch_pool *pool, uint32_t tasks)
{
    /* relaxed: orders nothing by itself; the task is published by the injector */
    const uint64_t before =
        filchi_add_relaxed_u64(&pool->account, FILCHI_ACCOUNT_CALLER + tasks * FILCHI_ACCOUNT_TASK);
    if ((before & FILCHI_ACCOUNT_CLOSED) == 0) {
        return true;
    }
    filchi_pool_tasks_ended(pool, tasks);
    filchi_pool_caller_exit(pool);
    return false;
}

filch_status filchi_pool_refuse(filch_pool *pool, filch_status why)
{
    return filchi_pool_refuse_many(pool, 1, why);
}

filch_status filchi_pool_refuse_many(filch_pool *pool, size_t tasks, filch_status why)
{
    /* relaxed: a counter */
    (void)filchi_add_relaxed_u64(&pool->refused, tasks);
    return why;
}

void filchi_pool_caller_exit(filch_pool *pool)
{
    /* [QUIET-4] seq_cst, pairs with QUIET-3: whoever sees nobody inside may free the pool. */
    (void)filchi_add_seq_cst_u64(&pool->account, 0 - FILCHI_ACCOUNT_CALLER);
}

static uint64_t account(const filch_pool *pool)
{
    /* [QUIET-3] seq_cst, pairs with QUIET-1, QUIET-4: sees what ended tasks wrote; and a waiter
     * that registered before sees zero, or is woken. */
    return filchi_load_seq_cst_u64(&pool->account);
}

/* Sleep until no task is pending. False: the deadline passed. */
static bool wait_for_tasks(filch_pool *pool, filchi_waiter *waiter, filch_time until)
{
    while ((account(pool) & FILCHI_ACCOUNT_TASKS) != 0) {
        filchi_eventcount_prepare(&pool->quiet, waiter, 1);
        if ((account(pool) & FILCHI_ACCOUNT_TASKS) == 0) {
            (void)filchi_eventcount_cancel(&pool->quiet, waiter, (uint64_t)-1);
        } else if (!filchi_eventcount_wait(&pool->quiet, waiter, until, (uint64_t)-1)) {
            return false;
        }
    }
    return true;
}

filch_status filchi_pool_wait_account(filch_pool *pool, filch_time until)
{
    filchi_parker parker;
    filchi_waiter waiter;
    if (!filchi_parker_init(&parker)) {
        return FILCH_E_NOMEM;
    }
    filchi_waiter_init(&waiter, &parker);
    filch_status status = FILCH_OK;
    uint32_t turn = 0;
    while ((account(pool) & (FILCHI_ACCOUNT_TASKS | FILCHI_ACCOUNT_CALLERS)) != 0) {
        if (!wait_for_tasks(pool, &waiter, until)) {
            status = FILCH_E_TIMEOUT;
            break;
        }
        if ((account(pool) & FILCHI_ACCOUNT_CALLERS) != 0) {
            /* they are a few instructions from leaving and wake nobody when they do */
            if (until != FILCH_FOREVER && filchi_clock_ns() >= until) {
                status = FILCH_E_TIMEOUT;
                break;
            }
            filchi_thread_yield(turn++);
        }
    }
    filchi_parker_destroy(&parker);
    return status;
}
