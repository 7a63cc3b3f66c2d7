/* SPDX-License-Identifier: MIT */
/* Pause and resume. A paused pool shows no detached task to those who look for work, so its workers
 * run forks and loops, and else sleep as ever; a worker that had taken a task already holds it until
 * the pool goes on, if nothing lies beneath it on its stack. README.md, "Pause", says why nothing is
 * lost. `gate` orders pauses, resumes and the shutdown. */
#include "core/pool.h"

bool filchi_pool_paused(const filch_pool *pool)
{
    /* [PAUSE-1] seq_cst, pairs with PAUSE-2: whoever passes over a task because of the pause is seen
     * by the resume, as a sleeper or a searcher, and so is the task. */
    return filchi_load_seq_cst_u32(&pool->paused) != 0;
}

static bool is_detached(filchi_work work)
{
    return work.run == filchi_job_run || work.run == filchi_job_node_run ||
           work.run == filchi_job_task_run || work.run == filchi_group_run;
}

static FILCHI_COLD void hold(filch_pool *pool, filchi_worker *worker)
{
    while (filchi_pool_paused(pool)) {
        filchi_eventcount_prepare(&pool->resting, &worker->waiter, 1);
        if (!filchi_pool_paused(pool)) {
            (void)filchi_eventcount_cancel(&pool->resting, &worker->waiter, (uint64_t)-1);
            return;
        }
        filchi_timesheet_turn(&worker->time, FILCHI_PARKED);
        (void)filchi_eventcount_wait(&pool->resting, &worker->waiter, INT64_MAX, 0);
        filchi_timesheet_turn(&worker->time, FILCHI_BUSY);
    }
}

void filchi_pool_hold(filchi_worker *worker, filchi_work work)
{
    filch_pool *pool = worker->lane.pool;
    if (FILCHI_UNLIKELY(filchi_pool_paused(pool)) && is_detached(work)) {
        hold(pool, worker);
    }
}

/* Under `gate`. */
static void go_on(filch_pool *pool)
{
    /* [PAUSE-2] seq_cst, pairs with PAUSE-1: whoever sleeps through it is in sight of the look that
     * follows, and so is what was posted meanwhile. */
    filchi_store_seq_cst_u32(&pool->paused, 0);
    filchi_pool_wake_resting(pool);
    if (filchi_sleep_task_needs_wake(filchi_sleep_look(&pool->sleep)) &&
        filchi_tasks_in_sight(pool)) {
        filchi_sleep_wake_for_task(pool);
    }
}

void filchi_pool_end_pauses(filch_pool *pool)
{
    filchi_mutex_lock(&pool->gate);
    if (pool->pauses != 0) {
        pool->pauses = 0;
        go_on(pool);
    }
    filchi_mutex_unlock(&pool->gate);
}

/* Under `gate`. One more pause, or one less. */
static filch_status change(filch_pool *pool, bool pause)
{
    if (filchi_pool_closed(pool)) {
        return FILCH_E_CLOSED;
    }
    if (pause) {
        if (pool->pauses++ == 0) {
            /* relaxed: whoever posts knowing of the pause hands that on with the task */
            filchi_store_relaxed_u32(&pool->paused, 1);
        }
        return FILCH_OK;
    }
    if (pool->pauses == 0) {
        return FILCH_E_INVALID;
    }
    if (--pool->pauses == 0) {
        go_on(pool);
    }
    return FILCH_OK;
}

static filch_status locked_change(filch_pool *pool, bool pause)
{
    if (pool == NULL) {
        return FILCH_E_INVALID;
    }
    if (filchi_pool_forked(pool)) {
        return FILCH_E_FORKED;
    }
    filchi_mutex_lock(&pool->gate);
    const filch_status status = change(pool, pause);
    filchi_mutex_unlock(&pool->gate);
    return status;
}

filch_status filch_pool_pause(filch_pool *pool)
{
    return locked_change(pool, true);
}

filch_status filch_pool_resume(filch_pool *pool)
{
    return locked_change(pool, false);
}
