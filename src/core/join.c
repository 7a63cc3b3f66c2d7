/* SPDX-License-Identifier: MIT */
/* What a join does while a thief has its record: run other forks, within bounds; then sleep until
 * the thief is done or there is a fork to run.
 *
 * Deadlock is impossible: whoever waits waits for a task that was started later than its own, so
 * following the waits from stack top to stack top never comes back. */
#include "core/fork.h"
#include "core/pool.h"
#include "sync/backoff.h"

enum {
    MAX_HELP_DEPTH = 32, /* tasks started inside waits on one stack */
    HELP_ROUNDS = 16     /* fruitless tries before the wait sleeps; about 15 us */
};

/* May a wait on this lane run other work? Not if it is isolated, or too deep. */
static bool may_help(const filchi_lane *lane)
{
    return lane->worker != NULL && !filchi_lane_isolated(lane) &&
           lane->help_depth < MAX_HELP_DEPTH && filchi_stack_pointer() > lane->help_floor &&
           !filchi_worker_off_duty(lane->worker);
}

static void help(filchi_lane *lane, filch_cx *top, filchi_work work)
{
    filchi_timesheet_turn(&lane->worker->time, FILCHI_BUSY);
    const filchi_job *running = lane->running;
    lane->running = NULL; /* not this lane's task */
    lane->help_depth++;
    filchi_lane_run(lane, top, work);
    lane->help_depth--;
    lane->running = running;
}

/* `searching` is true between a wake for a fork and its end: whoever was woken in place of others
 * has to look after what they would have done. */
static void wait_helping(filchi_lane *lane, filch_cx *top, filchi_latch *latch)
{
    filchi_worker *worker = lane->worker;
    filchi_backoff backoff;
    filchi_backoff_reset(&backoff);
    bool searching = false;
    for (uint32_t round = 0; !filchi_latch_is_set(latch);) {
        filchi_work work = { NULL, NULL };
        filchi_timesheet_turn(&worker->time, FILCHI_SEARCHING);
        if (!filchi_steal_fork(worker, &work) && ++round >= HELP_ROUNDS) {
            if (searching) {
                filchi_sleep_fork_search_end(lane->pool);
            }
            searching = filchi_sleep_join(worker, latch, &work);
            filchi_backoff_reset(&backoff);
            round = 0;
        } else if (work.run == NULL) {
            filchi_backoff_wait(&backoff);
        }
        if (work.run == NULL) {
            continue;
        }
        if (searching) {
            filchi_sleep_fork_search_end(lane->pool);
            searching = false;
        }
        help(lane, top, work);
        filchi_backoff_reset(&backoff);
        round = 0;
    }
    if (searching) {
        filchi_sleep_fork_search_end(lane->pool);
    }
    filchi_timesheet_turn(&worker->time, FILCHI_BUSY);
}

void filchi_wait_alone(filchi_lane *lane, filchi_latch *latch)
{
    filchi_worker *worker = lane->worker;
    if (worker == NULL) {
        filchi_latch_wait(latch, lane->parker);
        return;
    }
    filchi_timesheet_turn(&worker->time, FILCHI_SEARCHING);
    if (!filchi_latch_spin(latch)) {
        filchi_timesheet_turn(&worker->time, FILCHI_PARKED);
        filchi_latch_sleep(latch, lane->parker);
    }
    filchi_timesheet_turn(&worker->time, FILCHI_BUSY);
}

/* Wait for a record, in which nothing is left afterwards. `top` is free. */
static uintptr_t wait_for(filchi_lane *lane, const filch_cx *record, filch_cx *top)
{
    filchi_latch *latch = filchi_record_latch(record);
    if (FILCHI_UNLIKELY(!filchi_latch_is_set(latch))) {
        if (may_help(lane)) {
            wait_helping(lane, top, latch);
        } else {
            filchi_wait_alone(lane, latch);
        }
    }
    filchi_latch_init(latch);
    /* relaxed: the latch has brought it */
    return filchi_load_relaxed_uptr(filchi_record_arg(record));
}

uintptr_t filchi_join_taken(filchi_lane *lane, filch_cx *record)
{
    const uintptr_t result = wait_for(lane, record, record + 1);
    filchi_lane_release(lane, record);
    return result;
}

void filchi_join_all_taken(filchi_lane *lane, filch_cx *newest, uint64_t count)
{
    while (count != 0) {
        filchi_region *region = filchi_region_of(newest);
        filch_cx *const top = newest + 1;
        filch_cx *record = top;
        while (count != 0 && record != region->records) {
            record--;
            count--;
            /* relaxed: only a thief that looks at it after the release must find it claimed */
            filchi_store_relaxed_uptr(filchi_record_fn(record), 0);
            (void)wait_for(lane, record, top);
        }
        filchi_lane_release(lane, record);
        newest = filchi_lane_next_free(lane) - 1;
    }
}
