/* SPDX-License-Identifier: MIT */
/* The part-time worker: an account of CPU time that fills with the clock, and a rest when it is empty.
 * It rests holding nothing: what it has queued is in its deque, where others take it, and whoever
 * ends a search hands on what is left. The rest ends by itself; the stop ends it earlier. */
#include "core/pace.h"

#include "core/pool.h"
#include "plat/cpus.h"

enum { MILLI = 1000, PART_BITS = 16 };

uint32_t filchi_pace_of(unsigned workers, unsigned part)
{
    return workers > 1 && part != 0 ? (uint32_t)workers << PART_BITS | part : 0;
}

int64_t filchi_pace_charge(filchi_pace *pace, unsigned part, int64_t now_ns, int64_t cpu_ns)
{
    const int64_t used_ns = cpu_ns - pace->cpu_ns;
    const int64_t passed_ns = now_ns - pace->looked_ns;
    const bool anew = pace->part != part;
    pace->part = part;
    pace->looked_ns = now_ns;
    pace->cpu_ns = cpu_ns;
    if (anew) {
        pace->credit_ns = FILCHI_PACE_SLICE_NS;
        return 0;
    }
    /* a long sleep fills it; a long task is not paid for by more than the longest rest */
    const int64_t enough_ns = FILCHI_PACE_REST_NS * MILLI;
    const int64_t earned_ns = (passed_ns < enough_ns ? passed_ns : enough_ns) * part / MILLI;
    const int64_t least_ns = FILCHI_PACE_SLICE_NS - FILCHI_PACE_REST_NS * part / MILLI;
    int64_t credit_ns = pace->credit_ns + earned_ns - used_ns;
    credit_ns = credit_ns < FILCHI_PACE_SLICE_NS ? credit_ns : FILCHI_PACE_SLICE_NS;
    credit_ns = credit_ns > least_ns ? credit_ns : least_ns;
    pace->credit_ns = credit_ns;
    return credit_ns > 0 ? 0 : (FILCHI_PACE_SLICE_NS - credit_ns) * MILLI / part;
}

/* Like filchi_worker_rest, but for the deadline, and for a growth of the pool, which need not end it. */
void filchi_pace_rest_until(filchi_worker *worker, int64_t until_ns)
{
    filch_pool *pool = worker->lane.pool;
    filchi_account_ran_dry(worker);
    filchi_eventcount_prepare(&pool->resting, &worker->waiter, 1);
    if (filchi_pool_stopping(pool)) {
        (void)filchi_eventcount_cancel(&pool->resting, &worker->waiter, (uint64_t)-1);
        return;
    }
    (void)filchi_eventcount_wait(&pool->resting, &worker->waiter, until_ns, (uint64_t)-1);
}

/* A paced pool leaves a part of the quota to the other threads of the process, and no CPU: they go
 * first. All its workers, also the full ones. */
static void yield_or_not(filchi_pace *pace, bool paced)
{
    if (pace->yields != paced) {
        pace->yields = paced;
        (void)filchi_thread_slice(paced ? FILCHI_PACE_TURN_NS : 0);
    }
}

bool filchi_pace_rest(filchi_worker *worker)
{
    /* relaxed: a late look costs a slice */
    const uint32_t paced = filchi_load_relaxed_u32(&worker->lane.pool->follow.pace);
    filchi_pace *pace = &worker->pace;
    yield_or_not(pace, paced != 0);
    if (paced >> PART_BITS != worker->index + 1) {
        pace->part = 0;
        return false;
    }
    const unsigned part = paced & (((uint32_t)1 << PART_BITS) - 1);
    const int64_t now_ns = filchi_clock_ns();
    if (pace->part == part && now_ns - pace->looked_ns < FILCHI_PACE_LOOK_NS) {
        return false;
    }
    const int64_t rest_ns = filchi_pace_charge(pace, part, now_ns, filchi_clock_thread_ns());
    if (rest_ns == 0) {
        return false;
    }
    filchi_counters_add(&worker->counters, FILCHI_COUNT_PACES);
    filchi_timesheet_turn(&worker->time, FILCHI_RESTING);
    const int64_t began_ns =
        filchi_clock_ns(); /* within the turns: it is part of what they count */
    filchi_pace_rest_until(worker, now_ns + rest_ns);
    const int64_t ended_ns = filchi_clock_ns();
    filchi_timesheet_turn(&worker->time, FILCHI_BUSY);
    filchi_counters_add_many(&worker->counters, FILCHI_COUNT_PACED_NS,
                             (uint64_t)(ended_ns - began_ns));
    return true;
}
