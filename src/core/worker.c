/* SPDX-License-Identifier: MIT */
/* The life of a worker: its own tasks, then the injector, then others' work, then sleep. */
#include "core/worker.h"

#include "base/alloc.h"
#include "core/batch.h"
#include "core/place.h"
#include "core/pool.h"
#include "sync/backoff.h"

enum {
    FIRST_CAPACITY = 256,  /* items; 4 KiB a deque */
    FAIR_TICKS = 61,       /* own tasks between two that are taken in order of age; prime, so that
                              it does not fall into step with what the tasks do */
    HELP_STACK_PART = 2,   /* a wait helps while half of the stack is left: what it steals is big */
    INLINE_STACK_PART = 4, /* a post runs its task while a quarter is left */
    FIRST_TICK = FAIR_TICKS - 1
};

static const size_t max_tasks = FILCH_MAX_OWN_TASKS;

static bool lane_init(filchi_worker *worker, filch_pool *pool)
{
    filchi_lane *lane = &worker->lane;
    lane->worker = worker;
    lane->parker = &worker->parker;
    filchi_rng_seed(&lane->rng, worker->index);
    void *memory = filchi_lane_memory(pool);
    if (memory == NULL) {
        return false;
    }
    filchi_lane_init(lane, pool, memory, FILCHI_REGION_RECORDS);
    return true;
}

filchi_worker *filchi_worker_create(filch_pool *pool, unsigned index)
{
    const filch_allocator *allocator = &pool->config.allocator;
    filchi_worker *worker = filchi_alloc_zeroed(allocator, sizeof(*worker));
    if (worker == NULL) {
        return NULL;
    }
    worker->index = index;
    worker->tick = FIRST_TICK;
    worker->appetite = 1;
    worker->waker_cpu = FILCHI_CPU_UNKNOWN;
    if (!filchi_parker_init(&worker->parker)) {
        goto fail_parker;
    }
    if (!lane_init(worker, pool)) {
        goto fail_lane;
    }
    if (filchi_deque_init(&worker->tasks, FIRST_CAPACITY, max_tasks, allocator) != FILCH_OK) {
        goto fail_tasks;
    }
    if (filchi_deque_init(&worker->batch, FILCHI_BATCH_MOST, FILCHI_BATCH_MOST, allocator) !=
        FILCH_OK) {
        goto fail_batch;
    }
    worker->sightings = filchi_alloc(allocator, pool->config.max_workers * sizeof(filchi_sighting));
    if (worker->sightings == NULL) {
        goto fail_sightings;
    }
    if ((pool->config.flags & FILCH_POOL_TIME_TASKS) != 0) {
        worker->lengths = filchi_alloc_zeroed(allocator, sizeof(*worker->lengths));
        if (worker->lengths == NULL) {
            goto fail_lengths;
        }
    }
    if ((pool->config.flags & FILCH_POOL_TIME_QUEUE) != 0) {
        worker->waits = filchi_alloc_zeroed(allocator, sizeof(*worker->waits));
        if (worker->waits == NULL) {
            goto fail_waits;
        }
    }
    filchi_waiter_init(&worker->waiter, &worker->parker);
    return worker;

fail_waits:
    filchi_free(allocator, worker->lengths, sizeof(*worker->lengths));
fail_lengths:
    filchi_free(allocator, worker->sightings, pool->config.max_workers * sizeof(filchi_sighting));
fail_sightings:
    filchi_deque_fini(&worker->batch);
fail_batch:
    filchi_deque_fini(&worker->tasks);
fail_tasks:
    filchi_lane_fini(&worker->lane);
fail_lane:
    filchi_parker_destroy(&worker->parker);
fail_parker:
    filchi_free(allocator, worker, sizeof(*worker));
    return NULL;
}

void filchi_worker_destroy(filchi_worker *worker)
{
    const filchi_config *config = &worker->lane.pool->config;
    const filch_allocator *allocator = &config->allocator;
    filchi_free(allocator, worker->sightings, config->max_workers * sizeof(filchi_sighting));
    filchi_free(allocator, worker->lengths, sizeof(*worker->lengths));
    filchi_free(allocator, worker->waits, sizeof(*worker->waits));
    filchi_job_nodes_free(&worker->nodes, allocator);
    filchi_deque_fini(&worker->batch);
    filchi_deque_fini(&worker->tasks);
    filchi_lane_fini(&worker->lane);
    filchi_parker_destroy(&worker->parker);
    filchi_free(allocator, worker, sizeof(*worker));
}

static bool take_oldest(filchi_worker *worker, filchi_work *out_work)
{
    filch_item item = { 0, 0 };
    filch_steal_result result = FILCH_STEAL_LOST;
    while (result == FILCH_STEAL_LOST) { /* each loss is a thief's win: this ends */
        result = filchi_deque_steal(&worker->tasks, &item);
    }
    *out_work = filchi_item_work(item);
    return result == FILCH_STEAL_GOT;
}

static bool take_own(filchi_worker *worker, filchi_work *out_work)
{
    const bool fifo = (worker->lane.pool->config.flags & FILCH_POOL_FIFO) != 0;
    filch_item item;
    if (fifo) {
        return take_oldest(worker, out_work);
    }
    if (filchi_deque_own_empty(&worker->tasks) || !filchi_deque_pop(&worker->tasks, &item)) {
        return false;
    }
    *out_work = filchi_item_work(item);
    return true;
}

/* What others handed in: through the queue and in groups, in turns, so that neither waits for the end of
 * the other. */
static bool take_posted(filchi_worker *worker, filchi_work *out_work, filchi_job *storage)
{
    return (worker->tick % 2 != 0 && filchi_groups_take(worker, out_work)) ||
           filchi_batch_take(worker, out_work, storage) || filchi_groups_take(worker, out_work);
}

/* Work for which the worker need not look at others: its own, then what came from outside; now and
 * then what came from outside, or its oldest, so that tasks that post tasks for ever keep nobody
 * out. */
static bool take_near(filchi_worker *worker, filchi_work *out_work, filchi_job *storage)
{
    worker->tick++;
    if (worker->tick % FAIR_TICKS == 0 &&
        (take_posted(worker, out_work, storage) || take_oldest(worker, out_work))) {
        return true;
    }
    return take_own(worker, out_work) || take_posted(worker, out_work, storage);
}

/* In a paused pool only forks and loops. */
static bool take_far(filchi_worker *worker, filchi_work *out_work, filchi_job *storage)
{
    if (FILCHI_UNLIKELY(filchi_pool_paused(worker->lane.pool))) {
        return filchi_steal_fork(worker, out_work);
    }
    return filchi_steal_any(worker, out_work) || take_posted(worker, out_work, storage);
}

/* Search, and sleep in between, until there is work, or the worker is off duty, or the pool stops. */
static bool search(filchi_worker *worker, filchi_work *out_work, filchi_job *storage)
{
    filch_pool *pool = worker->lane.pool;
    filchi_backoff backoff;
    filchi_backoff_reset(&backoff);
    bool found = false;
    uint32_t round = 0;
    filchi_account_ran_dry(worker);
    /* nothing of ours is private, and whoever ends a search need not wonder */
    filchi_region_ring(filchi_lane_region(&worker->lane), FILCHI_BELL_BARE);
    filchi_sleep_search_begin(pool);
    while (!found && !filchi_pool_stopping(pool) && !filchi_worker_off_duty(worker)) {
        filchi_timesheet_turn(&worker->time, FILCHI_SEARCHING);
        found = take_far(worker, out_work, storage);
        if (found) {
            break;
        }
        round++;
        if (round < pool->search_rounds) {
            filchi_backoff_wait(&backoff);
        } else {
            out_work->run = NULL;
            filchi_sleep_idle(worker, out_work);
            found = out_work->run != NULL;
            filchi_backoff_reset(&backoff);
            round = 0;
        }
    }
    filchi_sleep_search_end(pool);
    filchi_timesheet_turn(&worker->time, FILCHI_BUSY);
    return found;
}

static void work(filchi_worker *worker)
{
    filch_pool *pool = worker->lane.pool;
    filchi_work next;
    filchi_job storage;
    while (!filchi_pool_stopping(pool)) {
        if (pool->follow.look != NULL) {
            filchi_follow_tick(pool);
        }
        if (filchi_worker_off_duty(worker)) {
            filchi_worker_rest(worker);
        } else if (filchi_pace_rest(worker)) {
            continue;
        } else if ((!filchi_pool_paused(pool) && take_near(worker, &next, &storage)) ||
                   search(worker, &next, &storage)) {
            filchi_pool_hold(worker, next);
            filchi_lane_run(&worker->lane, worker->lane.cx, next);
        }
    }
}

static void find_stack(filchi_worker *worker)
{
    char *low = NULL;
    size_t bytes = 0;
    if (!filchi_thread_stack(&low, &bytes)) {
        /* the stack begins about here and is as large as we asked for */
        bytes = worker->lane.pool->config.stack_bytes;
        low = filchi_stack_pointer() - bytes;
    }
    worker->lane.help_floor = low + bytes / HELP_STACK_PART;
    worker->lane.inline_floor = low + bytes / INLINE_STACK_PART;
}

/* What the thread is while a hook of the pool runs, or its tasks: no call may wait for the pool,
 * and only the tasks have a lane. */
static void run_hook(filchi_worker *worker, void (*hook)(void *hook_arg, unsigned worker))
{
    filch_pool *pool = worker->lane.pool;
    if (hook != NULL) {
        filchi_place place;
        filchi_place_enter(&place, pool, NULL);
        hook(pool->config.hook_arg, worker->index);
        filchi_place_leave(&place);
    }
}

void filchi_worker_main(void *arg)
{
    filchi_worker *worker = arg;
    filch_pool *pool = worker->lane.pool;
    (void)filchi_point_hit(FILCHI_AT_WORKER_START);
    /* the creator holds it until it knows how many workers there are */
    filchi_mutex_lock(&pool->gate);
    filchi_mutex_unlock(&pool->gate);
    if (pool->given_up) {
        return;
    }
    filchi_timesheet_turn(&worker->time, FILCHI_BUSY);
    worker->seated = (pool->config.flags & (FILCH_POOL_NO_PLACING | FILCHI_POOL_BINDS)) == 0 &&
                     filchi_seat_init(&worker->seat);
    find_stack(worker);
    run_hook(worker, pool->config.on_start);
    filchi_place place;
    filchi_place_enter(&place, pool, &worker->lane);
    work(worker);
    filchi_place_leave(&place);
    run_hook(worker, pool->config.on_stop);
    filchi_timesheet_turn(&worker->time, FILCHI_PARKED); /* until the shutdown has joined all */
}
