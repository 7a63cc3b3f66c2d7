/* SPDX-License-Identifier: MIT */
/* Room in the queue: each worker counts what it has started, in a word of its own; who finds no room
 * under the limit that somebody has worked out before adds these up again. So neither side writes a
 * shared word for the bound, as long as the queue is not full. */
#include "core/room.h"

#include "base/compiler.h"
#include "core/pool.h"
#include "sync/token.h"

enum { ROOM_PART = 2 /* half must be free before those who wait for room wake */ };

/* Everything that was put and waits no longer. */
static uint64_t gone(const filch_pool *pool)
{
    /* [ROOM-4] seq_cst, pairs with ROOM-5: as ROOM-3, for what was dropped. */
    uint64_t sum = filchi_load_seq_cst_u64(&pool->dropped);
    for (unsigned i = 0; i < pool->config.max_workers; i++) {
        const filchi_counters *counters = &pool->workers[i]->counters;
        /* [ROOM-3] seq_cst, pairs with ROOM-1: counts every start whose starter has looked at the
         * waiters already, so that the last one to look sees the room of all. */
        sum += filchi_load_seq_cst_u64(&counters->values[FILCHI_COUNT_INJECTED]);
    }
    return sum;
}

static void mark_high(filch_pool *pool, uint64_t depth)
{
    /* relaxed, all: a mark that only rises */
    uint64_t high = filchi_load_relaxed_u64(&pool->queue_high);
    while (depth > high && !filchi_cas_relaxed_u64(&pool->queue_high, &high, depth)) {}
}

uint64_t filchi_room_depth(filch_pool *pool)
{
    /* what is gone first: it had been put, so the difference is not below 0 */
    const uint64_t before = gone(pool);
    const uint64_t all = filchi_injector_count(&pool->injector) - before;
    /* some may have gone and others been put in between */
    const uint64_t depth = all < pool->config.queue_tasks ? all : pool->config.queue_tasks;
    mark_high(pool, depth);
    return depth;
}

FILCHI_COLD static void wake_producers(filch_pool *pool)
{
    const uint64_t capacity = pool->config.queue_tasks;
    uint64_t room = capacity - filchi_room_depth(pool);
    if (room < (capacity + ROOM_PART - 1) / ROOM_PART) {
        return;
    }
    while (room != 0 && filchi_eventcount_wake_one(&pool->room, (uint64_t)-1, 0)) {
        room--;
    }
}

void filchi_room_started(filchi_worker *worker, const filchi_job *job)
{
    filchi_atomic_u64 *started = &worker->counters.values[FILCHI_COUNT_INJECTED];
    if (worker->waits != NULL) {
        const uint64_t now = filchi_now();
        filchi_lengths_record(worker->waits, now > job->queued_ns ? now - job->queued_ns : 0);
    }
    /* relaxed: our own */
    const uint64_t count = filchi_load_relaxed_u64(started) + 1;
    /* [ROOM-1] seq_cst, pairs with ROOM-2, ROOM-3: before the look at those who wait. */
    filchi_store_seq_cst_u64(started, count);
    /* [ROOM-2] seq_cst, pairs with EC-1, ROOM-1: a producer that waits for room is seen here, or sees
     * what is gone. */
    if (FILCHI_UNLIKELY(filchi_load_seq_cst_u64(&worker->lane.pool->room_waiters) != 0)) {
        wake_producers(worker->lane.pool);
    }
}

size_t filchi_room_put(filch_pool *pool, const filchi_job *jobs, size_t count)
{
    filchi_injector *injector = &pool->injector;
    size_t put = 0;
    bool late = true;
    for (uint32_t turn = 0; put == 0 && late; turn++) {
        /* relaxed: whatever it was, it was within the capacity, and what is gone stays gone */
        const uint64_t limit = filchi_load_relaxed_u64(&injector->limit);
        put = filchi_injector_put_many(injector, jobs, count, limit, &late);
        if (put == 0 && !late) {
            const uint64_t newer = gone(pool) + pool->config.queue_tasks;
            filchi_store_relaxed_u64(&injector->limit, newer); /* relaxed: as above */
            put = filchi_injector_put_many(injector, jobs, count, newer, &late);
        }
        if (late) {
            filchi_thread_yield(turn); /* a taker is about to have copied a job out */
        }
    }
    if (put == 0) {
        mark_high(pool, pool->config.queue_tasks);
    } else {
        filchi_pool_task_published(pool);
    }
    return put;
}

/* Without memory for a parker. */
static size_t poll_put(filch_pool *pool, const filchi_job *jobs, size_t count, filch_time until,
                       const filch_token *stop)
{
    for (uint32_t turn = 0;; turn++) {
        const size_t put = filchi_room_put(pool, jobs, count);
        if (put != 0 || (until != FILCH_FOREVER && filchi_clock_ns() >= until) ||
            filchi_token_stopped(stop)) {
            return put;
        }
        filchi_thread_yield(turn);
    }
}

typedef struct producer {
    filchi_waiter waiter;
    filchi_token_wait stop;
    filch_pool *pool;
} producer;

static void stop_producer(filchi_token_wait *wait)
{
    producer *p = FILCHI_CONTAINER(wait, producer, stop);
    filchi_eventcount_wake_waiter(&p->pool->room, &p->waiter, (uint64_t)-1);
}

/* Registered: put, or sleep and put then. *out_over: the deadline has passed, or the token was stopped.
 * Returns how many. */
static size_t wait_once(producer *p, const filchi_job *jobs, size_t count, filch_time until,
                        const filch_token *stop, bool *out_over)
{
    filchi_eventcount *room = &p->pool->room;
    size_t put = filchi_room_put(p->pool, jobs, count);
    *out_over = filchi_token_stopped(stop);
    if (put == 0 && !*out_over) {
        const bool late = !filchi_eventcount_wait(room, &p->waiter, until, (uint64_t)-1);
        put = filchi_room_put(p->pool, jobs, count);
        *out_over = late; /* of a stop it learns at the next look */
    } else if (!filchi_eventcount_cancel(room, &p->waiter, (uint64_t)-1)) {
        wake_producers(p->pool); /* the wake was meant for somebody who still waits */
    }
    return put;
}

size_t filchi_room_wait_put(filch_pool *pool, const filchi_job *jobs, size_t count,
                            filch_time until, filch_token *stop)
{
    filchi_parker parker;
    producer self = { .pool = pool };
    size_t put = 0;
    /* relaxed: a counter */
    (void)filchi_add_relaxed_u64(&pool->room_waits, 1);
    if (!filchi_parker_init(&parker)) {
        return poll_put(pool, jobs, count, until, stop);
    }
    filchi_waiter_init(&self.waiter, &parker);
    bool over = !filchi_token_enter(stop, &self.stop, stop_producer);
    const bool entered = !over;
    while (put == 0 && !over) {
        filchi_eventcount_prepare(&pool->room, &self.waiter, 1);
        put = wait_once(&self, jobs, count, until, stop, &over);
    }
    if (entered) {
        filchi_token_leave(stop, &self.stop);
    }
    filchi_parker_destroy(&parker);
    return put;
}
