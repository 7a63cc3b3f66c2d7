/* SPDX-License-Identifier: MIT */
/* Parking and waking of workers. Every change of state is one addition to the word; see README.md
 * for the steps (Z1-Z6) and why no wake-up is lost. */
#include "core/sleep.h"

#include "core/pool.h"
#include "core/worker.h"

bool filchi_sleep_init(filchi_sleep *sleep)
{
    filchi_store_relaxed_u64(&sleep->word, 0);
    /* the newest sleeper has the warmest cache */
    if (!filchi_eventcount_init(&sleep->idle, &sleep->word, FILCHI_WAKE_NEWEST)) {
        return false;
    }
    if (!filchi_eventcount_init(&sleep->joining, &sleep->word, FILCHI_WAKE_NEWEST)) {
        filchi_eventcount_destroy(&sleep->idle);
        return false;
    }
    return true;
}

void filchi_sleep_destroy(filchi_sleep *sleep)
{
    filchi_eventcount_destroy(&sleep->joining);
    filchi_eventcount_destroy(&sleep->idle);
}

void filchi_sleep_wake_for_task(filch_pool *pool)
{
    if (filchi_pool_forked(pool)) {
        return; /* the locks may be held by threads that are not in this process */
    }
    (void)filchi_eventcount_wake_one(&pool->sleep.idle, FILCHI_SLEEP_SEARCHING - FILCHI_SLEEP_IDLE,
                                     FILCHI_SLEEP_SEARCHING * FILCHI_SLEEP_FIELD);
}

void filchi_sleep_wake_for_fork(filch_pool *pool)
{
    const uint64_t searchers =
        (FILCHI_SLEEP_SEARCHING | FILCHI_SLEEP_FORK_SEARCHING) * FILCHI_SLEEP_FIELD;
    if (filchi_pool_forked(pool)) {
        return;
    }
    if (!filchi_eventcount_wake_one(&pool->sleep.idle, FILCHI_SLEEP_SEARCHING - FILCHI_SLEEP_IDLE,
                                    searchers)) {
        (void)filchi_eventcount_wake_one(&pool->sleep.joining,
                                         FILCHI_SLEEP_FORK_SEARCHING - FILCHI_SLEEP_JOINING,
                                         searchers);
    }
}

void filchi_sleep_wake_all(filch_pool *pool)
{
    filchi_eventcount_wake_all(&pool->sleep.idle, FILCHI_SLEEP_SEARCHING - FILCHI_SLEEP_IDLE);
    filchi_eventcount_wake_all(&pool->sleep.joining,
                               FILCHI_SLEEP_FORK_SEARCHING - FILCHI_SLEEP_JOINING);
}

/* End a search of kind `unit`. Publishers that saw it relied on it: the last one looks whether
 * anything is left, and has somebody woken for that. */
static void search_ended(filch_pool *pool, uint64_t unit)
{
    /* [SLEEP-2] seq_cst, pairs with SLEEP-1: what a publisher left to this search is in sight. */
    const uint64_t word = filchi_add_seq_cst_u64(&pool->sleep.word, 0 - unit) - unit;
    if (filchi_sleep_task_needs_wake(word) && filchi_tasks_in_sight(pool)) {
        filchi_sleep_wake_for_task(pool);
    } else if (filchi_sleep_fork_needs_wake(word) && filchi_forks_in_sight(pool)) {
        filchi_sleep_wake_for_fork(pool);
    }
}

void filchi_sleep_search_begin(filch_pool *pool)
{
    /* relaxed: a publisher that misses it wakes one thread too many */
    (void)filchi_add_relaxed_u64(&pool->sleep.word, FILCHI_SLEEP_SEARCHING);
}

void filchi_sleep_search_end(filch_pool *pool)
{
    search_ended(pool, FILCHI_SLEEP_SEARCHING);
}

void filchi_sleep_fork_search_end(filch_pool *pool)
{
    search_ended(pool, FILCHI_SLEEP_FORK_SEARCHING);
}

void filchi_sleep_idle(filchi_worker *worker)
{
    filch_pool *pool = worker->cx.pool;
    filchi_eventcount *idle = &pool->sleep.idle;
    filchi_eventcount_prepare(idle, &worker->waiter, FILCHI_SLEEP_IDLE - FILCHI_SLEEP_SEARCHING);
    if (filchi_pool_stopping(pool) || filchi_tasks_in_sight(pool) || filchi_forks_in_sight(pool)) {
        /* woken or not, it counts as searching again */
        (void)filchi_eventcount_cancel(idle, &worker->waiter,
                                       FILCHI_SLEEP_SEARCHING - FILCHI_SLEEP_IDLE);
        return;
    }
    (void)filchi_point_hit(FILCHI_AT_BEFORE_PARK);
    filchi_counters_add(&worker->counters, FILCHI_COUNT_PARKS);
    filchi_timesheet_turn(&worker->time, FILCHI_PARKED);
    (void)filchi_eventcount_wait(idle, &worker->waiter, INT64_MAX, 0);
    filchi_counters_add(&worker->counters, FILCHI_COUNT_WAKES);
}

bool filchi_sleep_join(filchi_worker *worker, filchi_latch *latch)
{
    filch_pool *pool = worker->cx.pool;
    filchi_eventcount *joining = &pool->sleep.joining;
    filchi_eventcount_prepare(joining, &worker->waiter, FILCHI_SLEEP_JOINING);
    if (filchi_latch_register(latch, &worker->parker)) {
        if (!filchi_forks_in_sight(pool)) {
            (void)filchi_point_hit(FILCHI_AT_BEFORE_PARK);
            filchi_counters_add(&worker->counters, FILCHI_COUNT_PARKS);
            filchi_timesheet_turn(&worker->time, FILCHI_PARKED);
            while (!filchi_latch_is_set(latch) && !filchi_waiter_woken(&worker->waiter)) {
                (void)filchi_park(&worker->parker, INT64_MAX);
            }
        }
        /* set meanwhile: its token stays behind, and a later park returns early once */
        (void)filchi_latch_unregister(latch, &worker->parker);
    }
    const bool woken =
        filchi_waiter_woken(&worker->waiter) ||
        !filchi_eventcount_cancel(joining, &worker->waiter, 0 - FILCHI_SLEEP_JOINING);
    if (woken) {
        filchi_counters_add(&worker->counters, FILCHI_COUNT_WAKES);
    }
    return woken;
}
