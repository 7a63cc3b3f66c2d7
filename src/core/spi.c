/* SPDX-License-Identifier: MIT */
/* The narrow door for the rooms above core. */
#include "core/spi.h"

#include "base/alloc.h"
#include "base/compiler.h"
#include "core/fork.h"
#include "core/place.h"
#include "core/pool.h"
#include "core/room.h"
#include "core/submit.h"

#include <string.h>

bool filchi_spi_isolate(filch_cx *cx, bool isolated)
{
    return filchi_lane_isolate(filchi_lane_of(cx), cx, isolated);
}

void *filchi_spi_scratch(filch_cx *cx, size_t bytes, filchi_arena_mark *out_mark)
{
    const filchi_arena_mark mark = filchi_arena_here(&filchi_lane_of(cx)->arena);
    void *block = filchi_arena_alloc(&filchi_lane_of(cx)->arena, bytes, FILCHI_CACHELINE);
    if (block != NULL) {
        *out_mark = mark;
    }
    return block;
}

void filchi_spi_scratch_release(filch_cx *cx, filchi_arena_mark mark)
{
    filchi_arena_release(&filchi_lane_of(cx)->arena, mark);
}

void *filchi_spi_alloc(filch_cx *cx, size_t bytes)
{
    return filchi_alloc(&filchi_lane_of(cx)->pool->config.allocator, bytes);
}

void filchi_spi_free(filch_cx *cx, void *block, size_t bytes)
{
    filchi_free(&filchi_lane_of(cx)->pool->config.allocator, block, bytes);
}

void filchi_spi_wait(filch_cx *cx, filchi_latch *latch)
{
    filchi_wait_alone(filchi_lane_of(cx), latch);
}

filch_cx *filchi_spi_own_cx(filch_pool *pool)
{
    filchi_worker *worker = filchi_place_worker(pool);
    return worker != NULL ? filchi_lane_top(&worker->lane, worker->lane.cx) : NULL;
}

/* A guest's region is small, but has to begin at an address as that of any region; so the memory is
 * kept for the next one. */
enum { GUEST_RECORDS = 1 };

static void *take_memory(filch_pool *pool)
{
    filchi_mutex_lock(&pool->nodes.lock);
    void **memory = pool->guest_memory;
    if (memory != NULL) {
        pool->guest_memory = *memory;
    }
    filchi_mutex_unlock(&pool->nodes.lock);
    return memory != NULL ? (void *)memory : filchi_lane_memory(pool);
}

static void give_memory(filch_pool *pool, void *memory)
{
    filchi_mutex_lock(&pool->nodes.lock);
    *(void **)memory = pool->guest_memory;
    pool->guest_memory = memory;
    filchi_mutex_unlock(&pool->nodes.lock);
}

bool filchi_guest_memory_init(filch_pool *pool)
{
    void **memory = filchi_lane_memory(pool);
    if (memory != NULL) {
        *memory = NULL;
    }
    pool->guest_memory = memory;
    return memory != NULL;
}

void filchi_guest_memory_fini(filch_pool *pool)
{
    while (pool->guest_memory != NULL) {
        void **memory = pool->guest_memory;
        pool->guest_memory = *memory;
        filchi_free(&pool->config.allocator, memory, FILCH_REGION_BYTES);
    }
}

filch_status filchi_guest_enter(filchi_guest *guest, filch_pool *pool)
{
    if (!filchi_parker_init(&guest->parker)) {
        return FILCH_E_NOMEM;
    }
    if (!filchi_pool_caller_enter(pool)) {
        filchi_parker_destroy(&guest->parker);
        return FILCH_E_CLOSED;
    }
    /* only a thread that is inside may touch the pool: it may be about to be destroyed */
    void *memory = take_memory(pool);
    if (memory == NULL) {
        filchi_pool_tasks_ended(pool, 1);
        filchi_pool_caller_exit(pool);
        filchi_parker_destroy(&guest->parker);
        return FILCH_E_NOMEM;
    }
    filchi_lane *lane = &guest->lane;
    memset(lane, 0, sizeof(*lane));
    lane->parker = &guest->parker;
    filchi_lane_init(lane, pool, memory, GUEST_RECORDS);
    filchi_rng_seed(&lane->rng, pool->worker_count);
    /* the loop's body must not be interrupted on the thread's own lane either */
    filchi_lane *own = filchi_place_own_lane();
    guest->own_isolated = own != NULL && filchi_lane_isolate(own, own->cx, true);
    filchi_place_enter(&guest->place, pool, NULL);
    return FILCH_OK;
}

void filchi_guest_leave(filchi_guest *guest)
{
    filch_pool *pool = guest->lane.pool;
    filchi_place_leave(&guest->place);
    filchi_lane *own = filchi_place_own_lane();
    if (own != NULL) {
        (void)filchi_lane_isolate(own, own->cx, guest->own_isolated);
    }
    filchi_arena_fini(&guest->lane.arena);
    give_memory(pool, guest->lane.regions);
    filchi_parker_destroy(&guest->parker);
    filchi_pool_tasks_ended(pool, 1);
    filchi_pool_caller_exit(pool);
}

/* Futures. */

static void add_to_count(filch_pool *pool, uint64_t delta)
{
    filchi_mutex_lock(&pool->groups.lock);
    pool->groups.count += delta;
    filchi_mutex_unlock(&pool->groups.lock);
}

void filchi_spi_hold(filch_pool *pool)
{
    add_to_count(pool, 1);
}

void filchi_spi_let_go(filch_pool *pool)
{
    add_to_count(pool, (uint64_t)-1);
}

filch_status filchi_loose_enter(filchi_loose *loose, filch_pool *pool)
{
    *loose = (filchi_loose){ pool, filchi_place_worker(pool) };
    return filchi_group_loose_enter(pool, loose->worker) ? FILCH_OK : FILCH_E_CLOSED;
}

void filchi_loose_post(filchi_loose *loose, filch_task *task, filch_end_fn *end, const char *label,
                       filch_time start_by)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.end = end;
    options.label = label;
    options.start_by = start_by;
    options.group = &loose->pool->groups.loose;
    filchi_job_task_store(task, &options);
    filchi_group_loose_post(loose->pool, loose->worker, task);
}

filchi_parker *filchi_helper_parker(void)
{
    const filchi_lane *own = filchi_place_own_lane();
    return own != NULL ? own->parker : NULL;
}

void filchi_helper_init(filchi_helper *helper, filchi_parker *parker)
{
    const filchi_lane *own = filchi_place_own_lane();
    helper->worker = own != NULL ? own->worker : NULL;
    helper->waiter.parker = parker;
    helper->waiter.groups = own != NULL ? &own->pool->groups : NULL;
    filchi_list_init(&helper->waiter.link);
}

void filchi_helper_enlist(filchi_helper *helper)
{
    if (helper->worker != NULL) {
        filchi_groups *groups = helper->waiter.groups;
        filchi_mutex_lock(&groups->lock);
        filchi_list_remove(&helper->waiter.link);
        filchi_list_push_back(&groups->loose.helpers, &helper->waiter.link);
        filchi_mutex_unlock(&groups->lock);
    }
}

void filchi_helper_leave(filchi_helper *helper)
{
    if (helper->worker != NULL) {
        filchi_mutex_lock(&helper->waiter.groups->lock);
        filchi_list_remove(&helper->waiter.link);
        filchi_mutex_unlock(&helper->waiter.groups->lock);
    }
}

void filchi_helper_park(filchi_helper *helper, filch_time until)
{
    if (helper->worker != NULL) {
        filchi_timesheet_turn(&helper->worker->time, FILCHI_PARKED);
    }
    (void)filchi_park(helper->waiter.parker, until);
    if (helper->worker != NULL) {
        filchi_timesheet_turn(&helper->worker->time, FILCHI_BUSY);
    }
}

bool filchi_spi_options_valid(const filch_pool *pool, const filch_submit_options *options)
{
    return filchi_submit_options_valid(pool, options);
}

void filchi_spi_run(filch_cx *cx, filch_fn *fn, void *arg, const char *label, filch_token *stop)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    filchi_job job;
    options.label = label;
    options.stop = stop;
    job.fn = fn;
    job.arg = arg;
    filchi_job_set_options(&job, &options);
    filchi_lane_run(filchi_lane_of(cx), cx, (filchi_work){ filchi_job_run_nested, &job });
}

bool filchi_spi_off_duty(const filch_cx *cx)
{
    const filchi_lane *lane = filchi_lane_of(cx);
    if (lane->pool->follow.look != NULL) {
        filchi_follow_tick(lane->pool);
    }
    return lane->worker != NULL && filchi_worker_off_duty(lane->worker);
}

const filch_allocator *filchi_spi_allocator(const filch_pool *pool)
{
    return &pool->config.allocator;
}

bool filchi_spi_cancelling(const filch_pool *pool)
{
    return filchi_pool_cancelling(pool);
}

bool filchi_spi_forked(const filch_pool *pool)
{
    return filchi_pool_forked(pool);
}

const filchi_counters *filchi_spi_counters(const filch_pool *pool, unsigned worker)
{
    return &pool->workers[worker]->counters;
}

const filchi_lengths *filchi_spi_lengths(const filch_pool *pool, unsigned worker)
{
    return pool->workers[worker]->lengths;
}

const filchi_lengths *filchi_spi_waits(const filch_pool *pool, unsigned worker)
{
    return pool->workers[worker]->waits;
}

filchi_timesheet *filchi_spi_timesheet(const filch_pool *pool, unsigned worker)
{
    return &pool->workers[worker]->time;
}

filchi_stopwatch *filchi_spi_wall(const filch_pool *pool)
{
    return &((filch_pool *)(uintptr_t)pool)->wall;
}

filchi_spi_figures filchi_spi_read_figures(const filch_pool *pool)
{
    /* relaxed, all: a moment's view */
    const filchi_pending pending = filchi_account_read(pool);
    const uint64_t depth = filchi_room_depth((filch_pool *)(uintptr_t)pool);
    /* what has ended before what was accepted */
    const uint64_t dropped =
        filchi_load_relaxed_u64(&pool->dropped) + filchi_load_relaxed_u64(&pool->groups.dropped);
    const uint64_t cancelled = filchi_load_relaxed_u64(&pool->groups.cancelled);
    const uint64_t run_inside = filchi_load_relaxed_u64(&pool->run_inside);
    return (filchi_spi_figures){
        .workers_asked = pool->workers_asked,
        .barrier = pool->barrier,
        .bound = filchi_load_relaxed_u32(&pool->bound),
        .resizes = filchi_load_relaxed_u64(&pool->resizes),
        .queue_tasks = pool->config.queue_tasks,
        .injected = filchi_injector_count(&pool->injector) +
                    filchi_load_relaxed_u64(&pool->groups.accepted),
        .refused = filchi_load_relaxed_u64(&pool->refused),
        .pending = pending.tasks + pending.callers,
        .room_waits = filchi_load_relaxed_u64(&pool->room_waits),
        .depth = depth,
        .high = filchi_load_relaxed_u64(&pool->queue_high),
        .rejected = filchi_load_relaxed_u64(&pool->rejected),
        .run_inside = run_inside,
        .dropped = dropped,
        .cancelled = cancelled,
    };
}
