/* SPDX-License-Identifier: MIT */
/* How many workers are on duty, and binding them anew. Workers below `active` take work; the others
 * finish what they have begun, end what they owe as searchers, and rest on a list of their own, where
 * no wake for work goes to. README.md says why nothing is lost meanwhile.
 *
 * `gate` orders changes of the size, and the stop: after it no thread is started. */
#include "base/alloc.h"
#include "core/place.h"
#include "core/pool.h"

#include <string.h>

bool filchi_worker_off_duty(const filchi_worker *worker)
{
    /* relaxed: a late look costs one more item; who rests looks under the lock of the list */
    return worker->index >= filchi_load_relaxed_u32(&worker->lane.pool->active);
}

void filchi_worker_rest(filchi_worker *worker)
{
    filch_pool *pool = worker->lane.pool;
    filchi_account_ran_dry(worker);
    filchi_eventcount_prepare(&pool->resting, &worker->waiter, 1);
    if (filchi_pool_stopping(pool) || !filchi_worker_off_duty(worker)) {
        (void)filchi_eventcount_cancel(&pool->resting, &worker->waiter, (uint64_t)-1);
        return;
    }
    filchi_counters_add(&worker->counters, FILCHI_COUNT_PARKS);
    filchi_timesheet_turn(&worker->time, FILCHI_RESTING);
    (void)filchi_eventcount_wait(&pool->resting, &worker->waiter, INT64_MAX, 0);
    filchi_timesheet_turn(&worker->time, FILCHI_BUSY);
}

void filchi_pool_wake_resting(filch_pool *pool)
{
    filchi_eventcount_wake_all(&pool->resting, (uint64_t)-1);
}

/* Under `gate`: the CPU that this worker is to have; there are some. */
static unsigned cpu_for(const filch_pool *pool, const filchi_worker *worker)
{
    return pool->spots[worker->index % pool->spot_count].cpu;
}

/* Under `gate`, before the thread has run a task. */
static void bind_worker(filch_pool *pool, filchi_worker *worker)
{
    if (pool->spot_count != 0 && filchi_thread_bind(&worker->thread, cpu_for(pool, worker))) {
        (void)filchi_add_relaxed_u32(&pool->bound, 1);
    }
}

/* Under `gate`. Workers without a thread get theirs when they start. */
static filch_status bind_anew(filch_pool *pool, const filchi_cpu_spot *spots, size_t count,
                              unsigned *out_strayed)
{
    unsigned strayed = 0;
    unsigned bound = 0;
    if (filchi_pool_stopping(pool)) {
        return FILCH_E_CLOSED;
    }
    for (unsigned i = 0; i < pool->started; i++) {
        const filchi_worker *worker = pool->workers[i];
        strayed += pool->spot_count == 0 ||
                   !filchi_thread_is_bound(&worker->thread, cpu_for(pool, worker));
    }
    pool->spot_count = count < pool->spot_room ? count : pool->spot_room;
    memcpy(pool->spots, spots, pool->spot_count * sizeof(*spots));
    for (unsigned i = 0; i < pool->started; i++) {
        filchi_worker *worker = pool->workers[i];
        bound += filchi_thread_bind(&worker->thread, cpu_for(pool, worker));
    }
    filchi_store_relaxed_u32(&pool->bound, bound); /* relaxed: for statistics */
    if (bound < pool->started && (pool->config.flags & FILCH_POOL_STRICT) != 0) {
        return FILCH_E_SYSTEM;
    }
    if (out_strayed != NULL) {
        *out_strayed = strayed;
    }
    return FILCH_OK;
}

filch_status filch_pool_rebind(filch_pool *pool, unsigned *out_strayed)
{
    if (pool == NULL || pool->spots == NULL) {
        return FILCH_E_INVALID;
    }
    if (filchi_pool_forked(pool)) {
        return FILCH_E_FORKED;
    }
    if (filchi_place_inside(pool)) {
        return FILCH_E_ON_WORKER;
    }
    const size_t room = filchi_cpus_allowed();
    filchi_cpu_spot *spots = filchi_alloc(&pool->config.allocator, room * sizeof(*spots));
    if (spots == NULL) {
        return FILCH_E_NOMEM;
    }
    const size_t count =
        filchi_bind_read(spots, room, (pool->config.flags & FILCH_POOL_SPREAD) != 0);
    filch_status status = FILCH_E_SYSTEM;
    if (count != 0) {
        filchi_mutex_lock(&pool->gate);
        status = bind_anew(pool, spots, count, out_strayed);
        filchi_mutex_unlock(&pool->gate);
    }
    filchi_free(&pool->config.allocator, spots, room * sizeof(*spots));
    return status;
}

/* Under `gate`. How many workers have a thread afterwards: `wanted`, or what could be had. */
unsigned filchi_pool_start_workers(filch_pool *pool, unsigned wanted)
{
    const filchi_config *config = &pool->config;
    while (pool->started < wanted) {
        filchi_worker *worker = pool->workers[pool->started];
        char name[FILCHI_THREAD_NAME_BYTES];
        filchi_config_thread_name(config->name, worker->index, name);
        if (!filchi_thread_start(&worker->thread, filchi_worker_main, worker, config->stack_bytes,
                                 name)) {
            break;
        }
        bind_worker(pool, worker);
        pool->started++;
    }
    return pool->started < wanted ? pool->started : wanted;
}

/* Under `gate`. */
static filch_status resize(filch_pool *pool, unsigned wanted)
{
    if (filchi_pool_stopping(pool)) {
        return FILCH_E_CLOSED;
    }
    const unsigned before = filchi_load_relaxed_u32(&pool->active);
    const unsigned after = filchi_pool_start_workers(pool, wanted);
    if (after != before) {
        /* relaxed: the lock of the list, taken next, orders it for those who rest */
        filchi_store_relaxed_u32(&pool->active, after);
        (void)filchi_add_relaxed_u64(&pool->resizes, 1);
    }
    if (after > before) {
        filchi_pool_wake_resting(pool);
    }
    return after == wanted ? FILCH_OK : FILCH_E_THREAD;
}

filch_status filch_pool_resize(filch_pool *pool, unsigned workers)
{
    if (pool == NULL || workers == 0 || workers > pool->worker_count) {
        return FILCH_E_INVALID;
    }
    if (filchi_pool_forked(pool)) {
        return FILCH_E_FORKED;
    }
    filchi_mutex_lock(&pool->gate);
    const unsigned before = filch_pool_workers(pool);
    const filch_status status = resize(pool, workers);
    const unsigned after = filch_pool_workers(pool);
    filchi_mutex_unlock(&pool->gate);
    if (after != before && pool->config.on_resize != NULL) {
        pool->config.on_resize(pool->config.hook_arg, after);
    }
    return status;
}

unsigned filch_pool_workers(const filch_pool *pool)
{
    /* relaxed: a moment's view */
    return pool != NULL ? filchi_load_relaxed_u32(&pool->active) : 0;
}

unsigned filch_pool_max_workers(const filch_pool *pool)
{
    return pool != NULL ? pool->worker_count : 0;
}

unsigned filch_slots(const filch_pool *pool)
{
    return pool != NULL ? pool->worker_count + 1 : 0;
}
