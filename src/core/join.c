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

bool filchi_may_help(const filch_cx *cx)
{
    return !cx->isolated && cx->worker != NULL && cx->help_depth < MAX_HELP_DEPTH &&
           filchi_stack_pointer() > cx->help_floor && !filchi_worker_off_duty(cx->worker);
}

static void help(filch_cx *cx, filch_item item)
{
    filchi_timesheet_turn(&cx->worker->time, FILCHI_BUSY);
    const char *label = cx->label;
    cx->label = NULL; /* not this lane's task */
    cx->help_depth++;
    filchi_run_item(cx, item);
    cx->help_depth--;
    cx->label = label;
}

/* `searching` is true between a wake for a fork and its end: whoever was woken in place of others
 * has to look after what they would have done. */
static void wait_helping(filch_cx *cx, filchi_latch *latch)
{
    filchi_worker *worker = cx->worker;
    filchi_backoff backoff;
    filchi_backoff_reset(&backoff);
    bool searching = false;
    for (uint32_t round = 0; !filchi_latch_is_set(latch);) {
        filch_item item;
        filchi_timesheet_turn(&worker->time, FILCHI_SEARCHING);
        if (filchi_steal_fork(worker, &item)) {
            if (searching) {
                filchi_sleep_fork_search_end(cx->pool);
                searching = false;
            }
            help(cx, item);
            filchi_backoff_reset(&backoff);
            round = 0;
        } else if (++round < HELP_ROUNDS) {
            filchi_backoff_wait(&backoff);
        } else {
            if (searching) {
                filchi_sleep_fork_search_end(cx->pool);
            }
            searching = filchi_sleep_join(worker, latch);
            round = 0;
        }
    }
    if (searching) {
        filchi_sleep_fork_search_end(cx->pool);
    }
    filchi_timesheet_turn(&worker->time, FILCHI_BUSY);
}

void filchi_wait_alone(filch_cx *cx, filchi_latch *latch)
{
    filchi_worker *worker = cx->worker;
    if (worker == NULL) {
        filchi_latch_wait(latch, cx->parker);
        return;
    }
    filchi_timesheet_turn(&worker->time, FILCHI_SEARCHING);
    if (!filchi_latch_spin(latch)) {
        filchi_timesheet_turn(&worker->time, FILCHI_PARKED);
        filchi_latch_sleep(latch, cx->parker);
    }
    filchi_timesheet_turn(&worker->time, FILCHI_BUSY);
}

void filchi_join_wait(filch_cx *cx, filchi_latch *latch)
{
    if (filchi_may_help(cx)) {
        wait_helping(cx, latch);
    } else {
        filchi_wait_alone(cx, latch);
    }
}
