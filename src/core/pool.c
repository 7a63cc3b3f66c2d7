/* SPDX-License-Identifier: MIT */
/* The life of a pool: create, shut down, destroy, and the default pool. A worker never takes
 * `life`: a shutdown holds it while it waits for the workers. */
#include "core/pool.h"

#include "base/alloc.h"
#include "core/abandon.h"
#include "core/place.h"
#include "core/share.h"
#include "core/sizing.h"

/* Everything that needs no worker. Undone in reverse on failure. */
static filch_status init_parts(filch_pool *pool)
{
    if (!filchi_mutex_init(&pool->gate)) {
        return FILCH_E_NOMEM;
    }
    if (!filchi_mutex_init(&pool->life)) {
        goto fail_life;
    }
    if (!filchi_sleep_init(&pool->sleep)) {
        goto fail_sleep;
    }
    if (!filchi_eventcount_init(&pool->room, &pool->room_waiters, FILCHI_WAKE_OLDEST)) {
        goto fail_room;
    }
    if (!filchi_eventcount_init(&pool->quiet, &pool->quiet_waiters, FILCHI_WAKE_OLDEST)) {
        goto fail_quiet;
    }
    if (!filchi_eventcount_init(&pool->resting, &pool->resting_workers, FILCHI_WAKE_OLDEST)) {
        goto fail_resting;
    }
    if (!filchi_board_init(&pool->board)) {
        goto fail_board;
    }
    if (!filchi_groups_init(&pool->groups)) {
        goto fail_groups;
    }
    if (!filchi_mutex_init(&pool->nodes.lock)) {
        goto fail_nodes;
    }
    if (!filchi_guest_memory_init(pool)) {
        goto fail_guest;
    }
    if (filchi_injector_init(&pool->injector, pool->config.queue_tasks, &pool->config.allocator) !=
        FILCH_OK) {
        goto fail_injector;
    }
    return FILCH_OK;

fail_injector:
    filchi_guest_memory_fini(pool);
fail_guest:
    filchi_mutex_destroy(&pool->nodes.lock);
fail_nodes:
    filchi_groups_destroy(&pool->groups);
fail_groups:
    filchi_board_destroy(&pool->board);
fail_board:
    filchi_eventcount_destroy(&pool->resting);
fail_resting:
    filchi_eventcount_destroy(&pool->quiet);
fail_quiet:
    filchi_eventcount_destroy(&pool->room);
fail_room:
    filchi_sleep_destroy(&pool->sleep);
fail_sleep:
    filchi_mutex_destroy(&pool->life);
fail_life:
    filchi_mutex_destroy(&pool->gate);
    return FILCH_E_NOMEM;
}

static void destroy_parts(filch_pool *pool)
{
    filchi_injector_fini(&pool->injector);
    filchi_job_nodes_free(&pool->nodes.spare, &pool->config.allocator);
    filchi_guest_memory_fini(pool);
    filchi_mutex_destroy(&pool->nodes.lock);
    filchi_groups_destroy(&pool->groups);
    filchi_board_destroy(&pool->board);
    filchi_eventcount_destroy(&pool->resting);
    filchi_eventcount_destroy(&pool->quiet);
    filchi_eventcount_destroy(&pool->room);
    filchi_sleep_destroy(&pool->sleep);
    filchi_mutex_destroy(&pool->life);
    filchi_mutex_destroy(&pool->gate);
}

static void destroy_workers(filch_pool *pool)
{
    const unsigned places = pool->config.max_workers;
    const size_t bytes = places * sizeof(filchi_worker *);
    for (unsigned i = 0; pool->workers != NULL && i < places; i++) {
        if (pool->workers[i] != NULL) {
            filchi_worker_destroy(pool->workers[i]);
        }
    }
    filchi_free(&pool->config.allocator, pool->workers, bytes);
}

static filch_status create_workers(filch_pool *pool)
{
    const unsigned places = pool->config.max_workers;
    pool->workers_asked = pool->config.workers;
    pool->workers = filchi_alloc_zeroed(&pool->config.allocator, places * sizeof(filchi_worker *));
    if (pool->workers == NULL) {
        return FILCH_E_NOMEM;
    }
    for (unsigned i = 0; i < places; i++) {
        pool->workers[i] = filchi_worker_create(pool, i);
        if (pool->workers[i] == NULL) {
            return FILCH_E_NOMEM;
        }
    }
    for (unsigned seat = 0; pool->nears != NULL && seat < places; seat++) {
        pool->workers[pool->nears[seat].worker]->near = seat;
    }
    return FILCH_OK;
}

static void take_share(filch_pool *pool)
{
    if (pool->config.shares) {
        filchi_share_join();
        const unsigned share = filchi_share_of(pool->config.workers);
        pool->config.part = share == pool->config.workers ? pool->config.part : 0;
        pool->config.workers = share;
    }
}

static void leave_share(filch_pool *pool)
{
    if (pool->config.shares) {
        filchi_share_leave(pool->generation);
    }
}

static filch_status create_spots(filch_pool *pool)
{
    if ((pool->config.flags & FILCHI_POOL_BINDS) == 0) {
        return FILCH_OK;
    }
    const unsigned places = pool->config.max_workers;
    const unsigned allowed = filchi_cpus_allowed();
    pool->spot_room = allowed > places ? allowed : places; /* later there may be more */
    pool->spots =
        filchi_alloc_zeroed(&pool->config.allocator, pool->spot_room * sizeof(*pool->spots));
    if (pool->spots == NULL) {
        return FILCH_E_NOMEM;
    }
    pool->spot_count = filchi_bind_read(pool->spots, pool->spot_room,
                                        (pool->config.flags & FILCH_POOL_SPREAD) != 0);
    if (pool->spot_count == 0) {
        return FILCH_OK;
    }
    pool->nears = filchi_alloc_zeroed(&pool->config.allocator, places * sizeof(*pool->nears));
    if (pool->nears == NULL) {
        return FILCH_E_NOMEM;
    }
    filchi_bind_nears(pool->spots, pool->spot_count, pool->nears, places);
    return FILCH_OK;
}

static void free_spots(filch_pool *pool)
{
    const filch_allocator *allocator = &pool->config.allocator;
    filchi_free(allocator, pool->spots, pool->spot_room * sizeof(*pool->spots));
    filchi_free(allocator, pool->nears, pool->config.max_workers * sizeof(*pool->nears));
}

static void free_pool(filch_pool *pool)
{
    const filch_allocator allocator = pool->config.allocator;
    leave_share(pool);
    destroy_workers(pool);
    free_spots(pool);
    destroy_parts(pool);
    pool->alive = 0;
    filchi_free(&allocator, pool, sizeof(*pool));
}

/* In a child. Locks and sleepers are those of threads that are not there, and lists may have been
 * caught half changed: only what has not changed since the creation is freed. */
static void free_pool_forked(filch_pool *pool)
{
    const filch_allocator allocator = pool->config.allocator;
    const unsigned places = pool->config.max_workers;
    for (unsigned i = 0; i < places; i++) {
        filchi_worker *worker = pool->workers[i];
        filchi_lane_free_regions(&worker->lane);
        filchi_free(&allocator, worker->sightings, places * sizeof(filchi_sighting));
        filchi_free(&allocator, worker->lengths, sizeof(*worker->lengths));
        filchi_free(&allocator, worker->waits, sizeof(*worker->waits));
        filchi_free(&allocator, worker, sizeof(*worker));
    }
    filchi_free(&allocator, pool->workers, places * sizeof(filchi_worker *));
    filchi_injector_fini(&pool->injector);
    free_spots(pool);
    pool->alive = 0;
    filchi_free(&allocator, pool, sizeof(*pool));
}

/* Tell the workers to end, and wake them. */
static void stop_workers(filch_pool *pool)
{
    filchi_mutex_lock(&pool->gate);
    /* [STOP-2] seq_cst, pairs with STOP-1: a worker that misses it is on a list we wake. */
    filchi_store_seq_cst_u32(&pool->stop, 1);
    filchi_mutex_unlock(&pool->gate);
    filchi_sleep_wake_all(pool);
    filchi_pool_wake_resting(pool);
}

static void join_workers(filch_pool *pool)
{
    for (unsigned i = 0; i < pool->started; i++) {
        filchi_thread_join(&pool->workers[i]->thread);
    }
}

/* Under the gate, or when the workers are joined: the writer changes with a lock or a join. */
static void begin_time(filch_pool *pool)
{
    const uint64_t now = filchi_now();
    filchi_stopwatch_start(&pool->wall, now);
    for (unsigned i = 0; i < pool->worker_count; i++) {
        filchi_timesheet_begin(&pool->workers[i]->time,
                               i < pool->started ? FILCHI_PARKED : FILCHI_RESTING, now);
    }
}

static void end_time(filch_pool *pool)
{
    const uint64_t now = filchi_now();
    filchi_stopwatch_stop(&pool->wall, now);
    for (unsigned i = 0; i < pool->worker_count; i++) {
        filchi_timesheet_end(&pool->workers[i]->time, now);
    }
}

/* Start as many threads as can be had. They wait at the gate meanwhile. */
static filch_status start_workers(filch_pool *pool)
{
    const filchi_config *config = &pool->config;
    filch_status status = FILCH_OK;
    filchi_mutex_lock(&pool->gate);
    const unsigned started = filchi_pool_start_workers(pool, config->workers);
    if (started < config->workers) {
        status = FILCH_E_THREAD;
    }
    const bool strict = (config->flags & FILCH_POOL_STRICT) != 0;
    if (started != 0 && !strict) {
        status = FILCH_OK; /* smaller than asked for; statistics say so */
    }
    const bool binds = (config->flags & FILCHI_POOL_BINDS) != 0;
    if (status == FILCH_OK && strict && binds &&
        filchi_load_relaxed_u32(&pool->bound) < started) { /* relaxed: written by this thread */
        status = FILCH_E_SYSTEM;
    }
    pool->worker_count = config->max_workers > config->workers ? config->max_workers : started;
    filchi_store_relaxed_u32(&pool->active, started);
    filchi_store_relaxed_u32(&pool->follow.pace, filchi_pace_of(config->workers, config->part));
    begin_time(pool);
    pool->given_up = status != FILCH_OK;
    filchi_mutex_unlock(&pool->gate);
    if (status != FILCH_OK) {
        join_workers(pool);
    }
    return status;
}

/* Tries of an idle worker before it parks: about 30 us of pauses, the latency of a wake; next to
 * nothing where workers outnumber CPUs, since a searcher then takes the CPU from one that works. */
enum { SEARCH_ROUNDS = 24, SEARCH_ROUNDS_CROWDED = 4 };

/* What a pool follows whose size was left to the machine. */
static unsigned machine_size(void *ctx, unsigned *out_part)
{
    const filchi_config *config = ctx;
    /* the environment was asked at the creation: nobody may read it while others write it */
    const bool logical = (config->flags & FILCH_POOL_LOGICAL) != 0;
    const unsigned counted = filchi_sizing_default(false, logical, NULL, out_part);
    unsigned size = counted < config->follow_most ? counted : config->follow_most;
    size = config->shares ? filchi_share_of(size) : size;
    if (size != counted || (config->flags & FILCH_POOL_NO_PACE) != 0) {
        *out_part = 0;
    }
    return size;
}

/* No more threads can be in their doors at once than there are CPUs. */
static uint32_t doors_wanted(void)
{
    const unsigned cpus = filchi_cpus_allowed();
    uint32_t doors = 1;
    while (doors < cpus && doors < FILCHI_DOORS) {
        doors *= 2;
    }
    return doors;
}

filch_status filch_pool_create(const filch_pool_config *config, filch_pool **out_pool)
{
    filchi_config filled;
    if (out_pool == NULL) {
        return FILCH_E_INVALID;
    }
    filch_status status = filchi_config_fill(config, &filled);
    if (status != FILCH_OK) {
        return status;
    }
    if (!filchi_wait_works()) {
        return FILCH_E_SYSTEM;
    }
    if (!filchi_fork_watch()) {
        return FILCH_E_NOMEM;
    }
    filch_pool *pool = filchi_alloc_zeroed(&filled.allocator, sizeof(*pool));
    if (pool == NULL) {
        return FILCH_E_NOMEM;
    }
    pool->config = filled;
    pool->alive = FILCHI_POOL_ALIVE;
    pool->generation = filchi_fork_generation();
    pool->door_mask = doors_wanted() - 1;
    pool->barrier = (filled.flags & FILCH_POOL_NO_BARRIER) == 0 && filchi_barrier_works();
    pool->search_rounds =
        filled.workers > filchi_cpus_allowed() ? SEARCH_ROUNDS_CROWDED : SEARCH_ROUNDS;
    pool->follow.look = filled.follow_most != 0 ? machine_size : NULL;
    pool->follow.ctx = &pool->config;
    status = init_parts(pool);
    if (status != FILCH_OK) {
        filchi_free(&filled.allocator, pool, sizeof(*pool));
        return status;
    }
    take_share(pool);
    status = create_spots(pool);
    if (status == FILCH_OK) {
        status = create_workers(pool);
    }
    if (status == FILCH_OK) {
        status = start_workers(pool);
    }
    if (status != FILCH_OK) {
        free_pool(pool);
        return status;
    }
    *out_pool = pool;
    return FILCH_OK;
}

filch_status filch_priv_pool_create(const filch_pool_config *config, filch_pool **out_pool,
                                    unsigned inline_abi)
{
    return inline_abi == FILCH_INLINE_ABI ? filch_pool_create(config, out_pool) : FILCH_E_ABI;
}

static void fill_report(const filch_pool *pool, filch_shutdown_report *report)
{
    /* relaxed, all: counters */
    const filchi_groups *groups = &pool->groups;
    *report = (filch_shutdown_report){ .refused = filchi_load_relaxed_u64(&pool->refused),
                                       .dropped = filchi_load_relaxed_u64(&pool->dropped) +
                                                  filchi_load_relaxed_u64(&groups->dropped),
                                       .cancelled = filchi_load_relaxed_u64(&groups->cancelled) };
    const uint64_t inside = filchi_load_relaxed_u64(&pool->run_inside);
    report->ran = inside;
    for (unsigned i = 0; i < pool->worker_count; i++) {
        const filchi_counters *counters = &pool->workers[i]->counters;
        report->ran += filchi_counters_get(counters, FILCHI_COUNT_RUN);
        report->cancelled += filchi_counters_get(counters, FILCHI_COUNT_CANCELLED);
    }
    /* after what has ended, which was accepted before */
    for (unsigned i = 0; i < pool->worker_count; i++) {
        report->accepted += filchi_counters_get(&pool->workers[i]->counters, FILCHI_COUNT_POSTED);
    }
    report->accepted += filchi_injector_count(&pool->injector) +
                        filchi_load_relaxed_u64(&groups->accepted) + inside;
    filchi_abandon_report(pool, report);
}

static void close_account(filch_pool *pool, bool cancel)
{
    /* relaxed: only this thread writes it now */
    const uint32_t closing =
        filchi_load_relaxed_u32(&pool->closing) | FILCHI_CLOSED | (cancel ? FILCHI_CANCELLED : 0);
    /* [CLOSE-2] seq_cst, pairs with CLOSE-1: who has not seen it is seen inside. */
    filchi_store_seq_cst_u32(&pool->closing, closing);
}

/* Under `life`. */
static filch_status shut_down(filch_pool *pool, filch_shutdown_mode mode, filch_time until)
{
    if (pool->stopped) {
        return FILCH_OK;
    }
    close_account(pool, mode == FILCH_CANCEL);
    filchi_pool_end_pauses(pool);
    const filch_status status = filchi_pool_wait_account(pool, until);
    pool->abandoned = mode == FILCH_ABANDON && status == FILCH_E_TIMEOUT;
    if (pool->abandoned) {
        close_account(pool, true);
    }
    if (status == FILCH_OK) {
        stop_workers(pool);
        join_workers(pool);
        end_time(pool);
        pool->stopped = true;
    }
    return status;
}

filch_status filch_pool_shutdown(filch_pool *pool, filch_shutdown_mode mode, filch_time until,
                                 filch_shutdown_report *out_report)
{
    if (pool == NULL || mode < FILCH_DRAIN || mode > FILCH_ABANDON) {
        return FILCH_E_INVALID;
    }
    if (filchi_pool_forked(pool)) {
        return FILCH_E_FORKED;
    }
    if (filchi_place_inside(pool)) {
        return FILCH_E_ON_WORKER;
    }
    if (!filchi_mutex_try_lock(&pool->life)) {
        return FILCH_E_BUSY;
    }
    const filch_status status = shut_down(pool, mode, until);
    if (out_report != NULL && (status == FILCH_OK || status == FILCH_E_TIMEOUT)) {
        fill_report(pool, out_report);
    }
    filchi_mutex_unlock(&pool->life);
    return status;
}

filch_status filch_pool_destroy(filch_pool *pool)
{
    if (pool == NULL) {
        return FILCH_OK;
    }
    if (pool->is_default) {
        return FILCH_E_INVALID;
    }
    if (filchi_pool_forked(pool)) {
        filchi_place_forget(pool); /* the child may have been made inside a task of this pool */
        free_pool_forked(pool);
        return FILCH_OK;
    }
    if (filchi_place_inside(pool)) {
        return FILCH_E_ON_WORKER;
    }
    if (!filchi_mutex_try_lock(&pool->life)) {
        return FILCH_E_BUSY;
    }
    const bool abandoned = pool->abandoned;
    filch_status status = abandoned ? FILCH_OK : shut_down(pool, FILCH_DRAIN, FILCH_FOREVER);
    if (status == FILCH_OK && filchi_groups_left(&pool->groups)) {
        status = FILCH_E_BUSY;
    } else if (status == FILCH_OK && abandoned) {
        status = filchi_abandon_hand_over(pool);
    }
    filchi_mutex_unlock(&pool->life);
    if (status == FILCH_OK && !abandoned) {
        free_pool(pool);
    }
    return status;
}

static filch_pool *make_default_pool(void)
{
    filch_pool *pool = NULL;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.flags = FILCH_POOL_SHARE;
    if (filch_pool_create(&config, &pool) != FILCH_OK) {
        return NULL;
    }
    pool->is_default = true;
    return pool;
}

/* One thread at a time makes it: of a hundred callers at once only one starts workers. */
filch_pool *filch_default_pool(void)
{
    static filchi_atomic_uptr shared;
    static filchi_atomic_u32 maker; /* of which process's generation, plus 1, a thread makes it */
    for (uint32_t turn = 0;; turn++) {
        /* [POOL-1] acquire, pairs with POOL-2: the pool is complete. */
        filch_pool *pool = (filch_pool *)filchi_load_acquire_uptr(&shared);
        if (pool != NULL && !filchi_pool_forked(pool)) {
            return pool;
        }
        const uint32_t mine = filchi_fork_generation() + 1;
        /* relaxed: a guess; in a child it may name a thread that is not there */
        const uint32_t other = filchi_load_relaxed_u32(&maker);
        /* [POOL-3] acquire, pairs with POOL-4: what the last maker made is not made again. */
        if (other == mine || !filchi_cas_acquire_u32(&maker, other, mine)) {
            filchi_thread_yield(turn);
            continue;
        }
        /* relaxed: only makers write it, one after the other */
        pool = (filch_pool *)filchi_load_relaxed_uptr(&shared);
        if (pool == NULL || filchi_pool_forked(pool)) {
            pool = make_default_pool(); /* the parent's stays as it is */
            /* [POOL-2] release, pairs with POOL-1: whoever sees the pool sees all of it. */
            filchi_store_release_uptr(&shared, (uintptr_t)pool);
        }
        /* [POOL-4] release, pairs with POOL-3: the next maker sees it. */
        filchi_store_release_u32(&maker, 0);
        return pool;
    }
}

filch_pool *filch_priv_default_pool(unsigned inline_abi)
{
    return inline_abi == FILCH_INLINE_ABI ? filch_default_pool() : NULL;
}

filch_status filch_pool_wait_quiet(filch_pool *pool, filch_time until)
{
    if (pool == NULL) {
        return FILCH_E_INVALID;
    }
    if (filchi_pool_forked(pool)) {
        return FILCH_E_FORKED;
    }
    if (filchi_place_inside(pool)) {
        return FILCH_E_ON_WORKER;
    }
    return filchi_pool_wait_account(pool, until);
}

filch_cx *filch_here(void)
{
    filchi_lane *lane = filchi_place_own_lane();
    return lane != NULL && !filchi_pool_forked(lane->pool) ? filchi_lane_top(lane, lane->cx) : NULL;
}

filch_pool *filch_cx_pool(const filch_cx *cx)
{
    return cx != NULL ? filchi_lane_of(cx)->pool : NULL;
}

unsigned filch_cx_worker(const filch_cx *cx)
{
    if (cx == NULL) {
        return 0;
    }
    const filchi_lane *lane = filchi_lane_of(cx);
    return lane->worker != NULL ? lane->worker->index : lane->pool->worker_count;
}
