/* SPDX-License-Identifier: MIT */
/* The narrow door for the rooms above core. */
#include "core/spi.h"

#include "base/alloc.h"
#include "base/compiler.h"
#include "core/fork.h"
#include "core/place.h"
#include "core/pool.h"

bool filchi_spi_isolate(filch_cx *cx, bool isolated)
{
    const bool before = cx->isolated;
    cx->isolated = isolated;
    return before;
}

void *filchi_spi_scratch(filch_cx *cx, size_t bytes, filchi_arena_mark *out_mark)
{
    const filchi_arena_mark mark = filchi_arena_here(&cx->arena);
    void *block = filchi_arena_alloc(&cx->arena, bytes, FILCHI_CACHELINE);
    if (block != NULL) {
        *out_mark = mark;
    }
    return block;
}

void filchi_spi_scratch_release(filch_cx *cx, filchi_arena_mark mark)
{
    filchi_arena_release(&cx->arena, mark);
}

void *filchi_spi_alloc(filch_cx *cx, size_t bytes)
{
    return filchi_alloc(&cx->pool->config.allocator, bytes);
}

void filchi_spi_free(filch_cx *cx, void *block, size_t bytes)
{
    filchi_free(&cx->pool->config.allocator, block, bytes);
}

void filchi_spi_wait(filch_cx *cx, filchi_latch *latch)
{
    filchi_wait_alone(cx, latch);
}

filch_cx *filchi_spi_own_cx(filch_pool *pool)
{
    filchi_worker *worker = filchi_place_worker(pool);
    return worker != NULL ? &worker->cx : NULL;
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
    filch_cx *cx = &guest->cx;
    filchi_deque_init_closed(&cx->forks);
    cx->pool = pool;
    cx->worker = NULL;
    cx->parker = &guest->parker;
    cx->label = NULL;
    cx->newest_fork = NULL;
    cx->open_scopes = 0;
    cx->help_floor = NULL;
    cx->inline_floor = NULL;
    cx->help_depth = 0;
    cx->isolated = false;
    filchi_rng_seed(&cx->rng, pool->worker_count);
    filchi_arena_init(&cx->arena, &pool->config.allocator);
    /* the loop's body must not be interrupted on the thread's own lane either */
    filch_cx *own = filchi_place_own_cx();
    guest->own_isolated = own != NULL && filchi_spi_isolate(own, true);
    filchi_place_enter(&guest->place, pool, NULL);
    return FILCH_OK;
}

void filchi_guest_leave(filchi_guest *guest)
{
    filch_pool *pool = guest->cx.pool;
    filchi_place_leave(&guest->place);
    filch_cx *own = filchi_place_own_cx();
    if (own != NULL) {
        (void)filchi_spi_isolate(own, guest->own_isolated);
    }
    filchi_arena_fini(&guest->cx.arena);
    filchi_parker_destroy(&guest->parker);
    filchi_pool_task_ended(pool);
    filchi_pool_caller_exit(pool);
}

bool filchi_spi_off_duty(const filch_cx *cx)
{
    if (cx->pool->follow.look != NULL) {
        filchi_follow_tick(cx->pool);
    }
    return cx->worker != NULL && filchi_worker_off_duty(cx->worker);
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
    const uint64_t account = filchi_load_relaxed_u64(&pool->account);
    return (filchi_spi_figures){
        .workers_asked = pool->workers_asked,
        .bound = filchi_load_relaxed_u32(&pool->bound),
        .resizes = filchi_load_relaxed_u64(&pool->resizes),
        .queue_tasks = filchi_injector_capacity(&pool->injector),
        .injected = filchi_injector_count(&pool->injector),
        .refused = filchi_load_relaxed_u64(&pool->refused),
        .pending = (account & FILCHI_ACCOUNT_TASKS) + ((account & FILCHI_ACCOUNT_CALLERS) >> 32),
        .room_waits = filchi_load_relaxed_u64(&pool->room_waits),
    };
}
