/* SPDX-License-Identifier: MIT */
/* Reading the counters and the time. */
#include <filch/stats.h>

#include "core/spi.h"
#include "plat/cpus.h"

static void add_worker(const filchi_counters *from, filch_worker_stats *to)
{
    to->tasks_run += filchi_counters_get(from, FILCHI_COUNT_RUN);
    to->tasks_cancelled += filchi_counters_get(from, FILCHI_COUNT_CANCELLED);
    to->tasks_late += filchi_counters_get(from, FILCHI_COUNT_LATE);
    to->tasks_inline += filchi_counters_get(from, FILCHI_COUNT_INLINE);
    to->tasks_posted += filchi_counters_get(from, FILCHI_COUNT_POSTED);
    to->injected_taken += filchi_counters_get(from, FILCHI_COUNT_INJECTED);
    to->forks_offered += filchi_counters_get(from, FILCHI_COUNT_FORKS_OFFERED);
    to->forks_stolen += filchi_counters_get(from, FILCHI_COUNT_FORKS_STOLEN);
    to->forks_forced += filchi_counters_get(from, FILCHI_COUNT_FORKS_FORCED);
    to->wakes_placed += filchi_counters_get(from, FILCHI_COUNT_PLACED);
    to->barriers += filchi_counters_get(from, FILCHI_COUNT_BARRIERS);
    to->loops_joined += filchi_counters_get(from, FILCHI_COUNT_LOOPS_JOINED);
    to->steals_won += filchi_counters_get(from, FILCHI_COUNT_STEALS_WON);
    to->steals_lost += filchi_counters_get(from, FILCHI_COUNT_STEALS_LOST);
    to->steals_empty += filchi_counters_get(from, FILCHI_COUNT_STEALS_EMPTY);
    to->parks += filchi_counters_get(from, FILCHI_COUNT_PARKS);
    to->wakes += filchi_counters_get(from, FILCHI_COUNT_WAKES);
    to->paces += filchi_counters_get(from, FILCHI_COUNT_PACES);
    to->paced_ns += filchi_counters_get(from, FILCHI_COUNT_PACED_NS);
}

static void add_time(filchi_timesheet *from, uint64_t now, filch_worker_stats *to)
{
    to->busy_ns += filchi_stopwatch_read(&from->watches[FILCHI_BUSY], now);
    to->searching_ns += filchi_stopwatch_read(&from->watches[FILCHI_SEARCHING], now);
    to->parked_ns += filchi_stopwatch_read(&from->watches[FILCHI_PARKED], now);
    to->resting_ns += filchi_stopwatch_read(&from->watches[FILCHI_RESTING], now);
}

static double utilisation_of(const filch_worker_stats *all)
{
    const double busy = (double)all->busy_ns;
    const double on_duty = busy + (double)all->searching_ns + (double)all->parked_ns;
    return on_duty > 0 ? busy / on_duty : 0;
}

static void read_throttling(filch_stats *stats)
{
    filchi_throttling counts;
    if (filchi_cpus_throttling(NULL, &counts)) {
        stats->has_throttling = 1;
        stats->periods = counts.periods;
        stats->throttled = counts.throttled;
        stats->throttled_us = counts.throttled_us;
    }
}

filch_status filch_stats_read(const filch_pool *pool, filch_stats *out_stats)
{
    if (pool == NULL || out_stats == NULL || out_stats->size != sizeof(*out_stats) ||
        (out_stats->flags & ~FILCH_STATS_THROTTLING) != 0) {
        return FILCH_E_INVALID;
    }
    if (filchi_spi_forked(pool)) {
        return FILCH_E_FORKED;
    }
    const filchi_spi_figures figures = filchi_spi_read_figures(pool);
    filch_stats stats = FILCH_STATS_INIT;
    stats.flags = out_stats->flags;
    if (stats.flags != 0) {
        read_throttling(&stats);
    }
    stats.workers = filch_pool_workers(pool);
    stats.max_workers = filch_pool_max_workers(pool);
    stats.resizes = figures.resizes;
    stats.bound = figures.bound;
    stats.workers_asked = figures.workers_asked;
    stats.queue_tasks = figures.queue_tasks;
    stats.park_backend = filchi_park_backend();
    stats.fork_backend = figures.barrier ? "membarrier" : "polled";
    stats.refused = figures.refused;
    stats.pending = figures.pending;
    stats.queue_waits = figures.room_waits;
    stats.queue_depth = figures.depth;
    stats.queue_high = figures.high;
    stats.queue_rejected = figures.rejected;
    stats.queue_run = figures.run_inside;
    stats.queue_dropped = figures.dropped;
    for (unsigned i = 0; i < stats.max_workers; i++) {
        add_worker(filchi_spi_counters(pool, i), &stats.total);
    }
    stats.total.tasks_cancelled += figures.cancelled;
    /* one for all, after the counters: paced_ns is part of resting_ns */
    const uint64_t now = filchi_now();
    stats.wall_ns = filchi_stopwatch_read(filchi_spi_wall(pool), now);
    for (unsigned i = 0; i < stats.max_workers; i++) {
        add_time(filchi_spi_timesheet(pool, i), now, &stats.total);
    }
    stats.utilisation = utilisation_of(&stats.total);
    stats.accepted = figures.injected + figures.run_inside + stats.total.tasks_posted;
    *out_stats = stats;
    return FILCH_OK;
}

filch_status filch_stats_read_worker(const filch_pool *pool, unsigned worker,
                                     filch_worker_stats *out_stats)
{
    if (pool == NULL || out_stats == NULL || worker >= filch_pool_max_workers(pool)) {
        return FILCH_E_INVALID;
    }
    if (filchi_spi_forked(pool)) {
        return FILCH_E_FORKED;
    }
    filch_worker_stats stats = { 0 };
    add_worker(filchi_spi_counters(pool, worker), &stats);
    add_time(filchi_spi_timesheet(pool, worker), filchi_now(), &stats);
    *out_stats = stats;
    return FILCH_OK;
}
