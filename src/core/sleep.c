/* SPDX-License-Identifier: MIT */
/* Parking and waking of workers. Every change of state is one addition to the word; see README.md
 * for the steps (Z1-Z6) and why no wake-up is lost. */
#include "core/sleep.h"

#include "core/pool.h"
#include "core/worker.h"

/* A wake costs the waker some 7 us, the woken as much, and 15 us pass. README.md, "Naps". */
enum {
    WORTH_NS = 30000,      /* what a wake should bring */
    FIRST_NAP_NS = 150000, /* ten wakes: what is woken in vain costs a tenth of a CPU at most, */
    LAST_NAP_NS = 1000000  /* and in the end 1.5 % */
};

/* README.md, "Places". */
enum { STACKED_MANY = 3, STACKED_MOST = 8, PLACED_PROBE = 32 };

bool filchi_sleep_init(filchi_sleep *sleep)
{
    filchi_store_relaxed_u64(&sleep->word, 0);
    filchi_store_relaxed_u32(&sleep->stacked, 0);
    filchi_store_relaxed_u32(&sleep->placed, 0);
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
    if (filchi_pool_paused(pool)) {
        return; /* the resume does it */
    }
    (void)filchi_eventcount_wake_one(&pool->sleep.idle, FILCHI_SLEEP_SEARCHING - FILCHI_SLEEP_IDLE,
                                     FILCHI_SLEEP_SEARCHING * FILCHI_SLEEP_FIELD);
}

/* Does the system stack the woken on their wakers? Now and then a wake is left to it, to see. */
static bool placing_is_due(filchi_sleep *sleep)
{
    /* relaxed, both: hints */
    return filchi_load_relaxed_u32(&sleep->stacked) >= STACKED_MANY &&
           filchi_add_relaxed_u32(&sleep->placed, 1) % PLACED_PROBE != 0;
}

/* The worker sleeps, or is about to. */
static void place_chosen(filchi_waiter *waiter)
{
    filchi_worker *worker = FILCHI_CONTAINER(waiter, filchi_worker, waiter);
    if (worker->seated) {
        worker->waker_cpu = filchi_cpu_here();
        worker->moved = placing_is_due(&worker->lane.pool->sleep) &&
                        filchi_seat_move(&worker->seat, worker->waker_cpu);
    }
}

/* A worker that was chosen: back to its own mask; where did the system put it? True: it was moved. */
static bool take_place(filchi_worker *worker)
{
    filchi_sleep *sleep = &worker->lane.pool->sleep;
    const bool moved = worker->moved;
    if (moved) {
        worker->moved = false;
        filchi_seat_restore(&worker->seat);
    } else if (worker->waker_cpu != FILCHI_CPU_UNKNOWN) {
        /* relaxed, both: a hint; a count lost to another worker does no harm */
        const uint32_t stacked = filchi_load_relaxed_u32(&sleep->stacked);
        if (worker->waker_cpu != filchi_cpu_here()) {
            filchi_store_relaxed_u32(&sleep->stacked, stacked > 0 ? stacked - 1 : 0);
        } else if (stacked < STACKED_MOST) {
            filchi_store_relaxed_u32(&sleep->stacked, stacked + 1);
        }
    }
    worker->waker_cpu = FILCHI_CPU_UNKNOWN;
    return moved;
}

static void woken_up(filchi_worker *worker)
{
    filchi_counters_add(&worker->counters, FILCHI_COUNT_WAKES);
    if (take_place(worker)) {
        filchi_counters_add(&worker->counters, FILCHI_COUNT_PLACED);
    }
}

void filchi_sleep_wake_for_fork(filch_pool *pool)
{
    const uint64_t searchers =
        (FILCHI_SLEEP_SEARCHING | FILCHI_SLEEP_FORK_SEARCHING) * FILCHI_SLEEP_FIELD;
    if (filchi_pool_forked(pool)) {
        return;
    }
    if (!filchi_eventcount_wake_chosen(&pool->sleep.idle,
                                       FILCHI_SLEEP_SEARCHING - FILCHI_SLEEP_IDLE, searchers,
                                       place_chosen)) {
        (void)filchi_eventcount_wake_chosen(&pool->sleep.joining,
                                            FILCHI_SLEEP_FORK_SEARCHING - FILCHI_SLEEP_JOINING,
                                            searchers, place_chosen);
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
    } else if (filchi_sleep_fork_needs_wake(word) && filchi_forks_hand_on(pool)) {
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

/* Whoever counts as asleep has nothing private, and will settle at its next fork. */
static void ring_own(filchi_worker *worker)
{
    filchi_region_ring(filchi_lane_region(&worker->lane), FILCHI_BELL_BARE);
}

/* May a worker have private forks? Not if all sleep. */
static bool somebody_works(const filch_pool *pool)
{
    /* relaxed, both: who begins to work after this look finds its bell rung */
    const uint64_t word = filchi_load_relaxed_u64(&pool->sleep.word);
    const uint64_t asleep = (word / FILCHI_SLEEP_IDLE & FILCHI_SLEEP_FIELD) +
                            (word / FILCHI_SLEEP_JOINING & FILCHI_SLEEP_FIELD);
    return asleep < pool->worker_count;
}

/* Registered as a sleeper: is there work after all? */
static bool last_look(filchi_worker *worker, filchi_work *out_work)
{
    const filch_pool *pool = worker->lane.pool;
    return filchi_forks_last_look(worker, pool->barrier && somebody_works(pool), out_work);
}

/* How long this worker shall nap before it sleeps for good: not at all, if the last wake was worth its
 * price, or if there is nobody to wake it in vain. */
static uint64_t nap_due(filchi_worker *worker)
{
    const uint64_t busy_ns = worker->time.watches[FILCHI_BUSY].value; /* it stands: we search */
    const bool woken = worker->woken;
    worker->woken = false;
    if (!woken || busy_ns - worker->woken_busy_ns >= WORTH_NS) {
        worker->nap_ns = woken ? 0 : worker->nap_ns;
        return 0;
    }
    const uint64_t longer = 2 * worker->nap_ns;
    worker->nap_ns = longer < FIRST_NAP_NS  ? FIRST_NAP_NS
                     : longer > LAST_NAP_NS ? LAST_NAP_NS
                                            : longer;
    return somebody_works(worker->lane.pool) ? worker->nap_ns : 0;
}

/* Sleep; true: there is something to search for, or was found. A worker that naps counts as one that
 * searches for forks, only slowly: nobody is woken for one meanwhile. */
static bool sleep_idle(filchi_worker *worker, uint64_t nap_ns, filchi_work *out_work)
{
    filch_pool *pool = worker->lane.pool;
    filchi_eventcount *idle = &pool->sleep.idle;
    const uint64_t slow_search = nap_ns != 0 ? FILCHI_SLEEP_FORK_SEARCHING : 0;
    ring_own(worker);
    filchi_eventcount_prepare(idle, &worker->waiter,
                              FILCHI_SLEEP_IDLE - FILCHI_SLEEP_SEARCHING + slow_search);
    bool awake =
        filchi_pool_stopping(pool) || filchi_tasks_in_sight(pool) || last_look(worker, out_work);
    if (awake) {
        /* woken or not, it counts as searching again */
        if (!filchi_eventcount_cancel(idle, &worker->waiter,
                                      FILCHI_SLEEP_SEARCHING - FILCHI_SLEEP_IDLE)) {
            (void)take_place(worker); /* it did not sleep yet: no wake */
        }
    } else {
        (void)filchi_point_hit(FILCHI_AT_BEFORE_PARK);
        filchi_counters_add(&worker->counters, FILCHI_COUNT_PARKS);
        filchi_timesheet_turn(&worker->time, FILCHI_PARKED);
        const int64_t until = nap_ns != 0 ? filchi_clock_ns() + (int64_t)nap_ns : INT64_MAX;
        awake = filchi_eventcount_wait(idle, &worker->waiter, until,
                                       FILCHI_SLEEP_SEARCHING - FILCHI_SLEEP_IDLE);
        filchi_timesheet_turn(&worker->time, FILCHI_SEARCHING);
        worker->woken = awake;
        worker->woken_busy_ns = worker->time.watches[FILCHI_BUSY].value;
        worker->appetite = 1;
        if (awake) {
            woken_up(worker);
        }
    }
    if (slow_search != 0) {
        /* relaxed: it counts as searching, so nobody has relied on this alone */
        (void)filchi_add_relaxed_u64(&pool->sleep.word, 0 - slow_search);
    }
    return awake;
}

void filchi_sleep_idle(filchi_worker *worker, filchi_work *out_work)
{
    filchi_sleep *sleep = &worker->lane.pool->sleep;
    const uint64_t nap_ns = nap_due(worker);
    bool awake = false;
    /* relaxed, both: two that nap at once do no harm */
    if (nap_ns != 0 && filchi_cas_relaxed_u32(&sleep->napping, 0, 1)) {
        awake = sleep_idle(worker, nap_ns, out_work);
        filchi_store_relaxed_u32(&sleep->napping, 0);
    }
    if (!awake) {
        (void)sleep_idle(worker, 0, out_work);
    }
}

bool filchi_sleep_join(filchi_worker *worker, filchi_latch *latch, filchi_work *out_work)
{
    filch_pool *pool = worker->lane.pool;
    filchi_eventcount *joining = &pool->sleep.joining;
    ring_own(worker);
    filchi_eventcount_prepare(joining, &worker->waiter, FILCHI_SLEEP_JOINING);
    if (filchi_latch_register(latch, &worker->parker)) {
        if (!last_look(worker, out_work)) {
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
        woken_up(worker);
    }
    return woken;
}
