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
    return (filchi_load_relaxed_u32(&pool->closing) & FILCHI_CANCELLED) != 0;
}

bool filchi_pool_closed(const filch_pool *pool)
{
    /* relaxed: a moment's view; under `gate` a shutdown that comes later ends the pause itself */
    return (filchi_load_relaxed_u32(&pool->closing) & FILCHI_CLOSED) != 0;
}

/* Ended tasks first, accepted ones after them: if these are as many, there was nothing pending in
 * between, since whoever ended a task saw it accepted. */
filchi_pending filchi_account_read(const filch_pool *pool)
{
    filchi_pending pending = { 0, 0 };
    uint64_t ended = 0;
    uint64_t accepted = 0;
    for (unsigned i = 0; i < pool->config.max_workers; i++) {
        const filchi_counters *counters = &pool->workers[i]->counters;
        /* [QUIET-3] seq_cst, pairs with QUIET-1, QUIET-6: sees what ended tasks wrote; and who has
         * registered as a waiter before sees the last end, or is woken. */
        ended += filchi_load_seq_cst_u64(&counters->values[FILCHI_COUNT_RUN]);
        /* [QUIET-7] acquire, pairs with QUIET-6: as QUIET-3, whose QUIET-1 covers it. */
        ended += filchi_load_acquire_u64(&counters->values[FILCHI_COUNT_CANCELLED]);
    }
    for (unsigned i = 0; i <= pool->door_mask; i++) {
        /* [QUIET-5] seq_cst, pairs with QUIET-4: as QUIET-3. */
        ended += filchi_load_seq_cst_u64(&pool->doors[i].ended);
    }
    for (unsigned i = 0; i < pool->config.max_workers; i++) {
        accepted += filchi_counters_get(&pool->workers[i]->counters, FILCHI_COUNT_POSTED);
    }
    for (unsigned i = 0; i <= pool->door_mask; i++) {
        /* [DOOR-3] seq_cst, pairs with DOOR-1, DOOR-2: a closer sees everybody who did not see it
         * close; whoever sees nobody inside may free the pool. */
        const uint64_t in = filchi_load_seq_cst_u64(&pool->doors[i].in);
        pending.callers += in & FILCHI_DOOR_CALLERS;
        accepted += in / FILCHI_DOOR_TASK;
    }
    pending.tasks = (accepted - ended) % (UINT64_MAX / FILCHI_DOOR_TASK + 1);
    return pending;
}

/* After a store that says that tasks have ended. */
static void wake_if_quiet(filch_pool *pool)
{
    /* [QUIET-2] seq_cst, pairs with EC-1: a thread that waits for quiet is seen here, or sees what
     * has ended. */
    if (filchi_load_seq_cst_u64(&pool->quiet_waiters) != 0 &&
        filchi_account_read(pool).tasks == 0) {
        filchi_eventcount_wake_all(&pool->quiet, (uint64_t)-1);
    }
}

void filchi_account_ran_dry(filchi_worker *worker)
{
    filchi_atomic_u64 *run = &worker->counters.values[FILCHI_COUNT_RUN];
    /* [QUIET-1] seq_cst, pairs with QUIET-3: once more, for all tasks that ended here. relaxed: our
     * own */
    filchi_store_seq_cst_u64(run, filchi_load_relaxed_u64(run));
    wake_if_quiet(worker->lane.pool);
}

static filchi_door *own_door(filch_pool *pool)
{
    return &pool->doors[filchi_thread_number() & pool->door_mask];
}

void filchi_pool_tasks_ended(filch_pool *pool, uint32_t tasks)
{
    /* [QUIET-4] seq_cst, pairs with QUIET-5: as QUIET-1. */
    (void)filchi_add_seq_cst_u64(&own_door(pool)->ended, tasks);
    wake_if_quiet(pool);
}

bool filchi_pool_caller_enter(filch_pool *pool)
{
    return filchi_pool_caller_enter_many(pool, 1);
}

void filchi_pool_caller_come(filch_pool *pool, uint32_t tasks)
{
    /* [DOOR-1] seq_cst, pairs with DOOR-3: in sight before we look whether the pool is closed. */
    (void)filchi_add_seq_cst_u64(&own_door(pool)->in,
                                 FILCHI_DOOR_CALLER + tasks * FILCHI_DOOR_TASK);
}

bool filchi_pool_caller_enter_many(filch_pool *pool, uint32_t tasks)
{
    filchi_pool_caller_come(pool, tasks);
    /* [CLOSE-1] seq_cst, pairs with CLOSE-2: the closer is seen here, or sees us. */
    if ((filchi_load_seq_cst_u32(&pool->closing) & FILCHI_CLOSED) == 0) {
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
    /* [DOOR-2] seq_cst, pairs with DOOR-3: our last touch of the pool. */
    (void)filchi_add_seq_cst_u64(&own_door(pool)->in, 0 - FILCHI_DOOR_CALLER);
}

/* Sleep until no task may be pending. False: the deadline passed. */
static bool sleep_for_tasks(filch_pool *pool, filchi_waiter *waiter, filch_time until)
{
    filchi_eventcount_prepare(&pool->quiet, waiter, 1);
    if (filchi_account_read(pool).tasks == 0) {
        (void)filchi_eventcount_cancel(&pool->quiet, waiter, (uint64_t)-1);
        return true;
    }
    return filchi_eventcount_wait(&pool->quiet, waiter, until, (uint64_t)-1);
}

/* Those inside are a few instructions from leaving and wake nobody when they do. False: the deadline
 * passed. */
static bool yield_to_callers(filch_time until, uint32_t turn)
{
    if (until != FILCH_FOREVER && filchi_clock_ns() >= until) {
        return false;
    }
    filchi_thread_yield(turn);
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
    bool in_time = true;
    uint32_t turn = 0;
    filchi_pending pending = filchi_account_read(pool);
    while (in_time && (pending.tasks != 0 || pending.callers != 0)) {
        in_time = pending.tasks != 0 ? sleep_for_tasks(pool, &waiter, until)
                                     : yield_to_callers(until, turn++);
        pending = filchi_account_read(pool);
    }
    filchi_parker_destroy(&parker);
    return pending.tasks == 0 && pending.callers == 0 ? FILCH_OK : FILCH_E_TIMEOUT;
}
