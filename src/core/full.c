/* SPDX-License-Identifier: MIT */
/* A full queue. A task that is dropped may lie in a worker's batch, or in the injector; whoever takes
 * it from there, to run or to drop it, has it alone, so the two need nothing more between them. */
#include "core/full.h"

#include "core/place.h"
#include "core/pool.h"
#include "core/room.h"
#include "core/spi.h"
#include "sync/token.h"

void filchi_full_stamp(const filch_pool *pool, filchi_job *job)
{
    job->queued_ns = (pool->config.flags & FILCH_POOL_TIME_QUEUE) != 0 ? filchi_now() : 0;
}

/* Run it on this thread. False: there is no memory for a lane, or the pool is closed by now, and what
 * was accepted before is the workers' to run or cancel. */
static bool run_inside(filch_pool *pool, filchi_job *job)
{
    filchi_guest guest;
    if (filchi_guest_enter(&guest, pool) != FILCH_OK) {
        return false;
    }
    /* relaxed: a counter */
    (void)filchi_add_relaxed_u64(&pool->run_inside, 1);
    filchi_job_run_as_guest(guest.lane.cx, job);
    filchi_guest_leave(&guest);
    filchi_pool_tasks_ended(pool, 1);
    return true;
}

/* The worker whose batch has the oldest task; NULL: all are empty. A guess while others take. */
static filchi_worker *oldest_batch(const filch_pool *pool)
{
    filchi_worker *oldest = NULL;
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < pool->config.max_workers; i++) {
        filchi_worker *worker = pool->workers[i];
        filch_item item;
        if (filchi_deque_peek(&worker->batch, &item) && item.second <= least) {
            least = item.second;
            oldest = worker;
        }
    }
    return oldest;
}

static void drop(filch_pool *pool, filchi_job *job)
{
    filchi_place place;
    /* [ROOM-5] seq_cst, pairs with ROOM-4: whoever adds up for those who wait counts it. It wakes
     * nobody: we put a task ourselves next, whose starter looks. */
    (void)filchi_add_seq_cst_u64(&pool->dropped, 1);
    filchi_place_enter(&place, pool, NULL);
    filchi_job_end(pool, job, FILCH_DROPPED);
    filchi_place_leave(&place);
}

/* Give up the oldest that has not started. False: all are on their way from one place to another. */
static bool drop_oldest(filch_pool *pool)
{
    filch_item item;
    filchi_job storage;
    filchi_job *job = &storage;
    uint64_t number;
    filchi_worker *worker = oldest_batch(pool);
    if (worker != NULL) {
        if (filchi_deque_steal(&worker->batch, &item) != FILCH_STEAL_GOT) {
            return false;
        }
        filchi_job_node *node = (filchi_job_node *)item.first;
        drop(pool, &node->job);
        filchi_job_node_discard(pool, node);
    } else if (filchi_injector_take_many(&pool->injector, &job, 1, &number) == 1) {
        drop(pool, job);
    } else {
        return false;
    }
    filchi_pool_tasks_ended(pool, 1);
    return true;
}

/* Make room by dropping, and put. */
static size_t drop_put(filch_pool *pool, const filchi_job *jobs, size_t count)
{
    size_t put = 0;
    for (uint32_t turn = 0; put == 0; turn++) {
        if (!drop_oldest(pool)) {
            filchi_thread_yield(turn);
        }
        put = filchi_room_put(pool, jobs, count);
    }
    return put;
}

/* The queue is full: how many of the jobs are settled, and if none is, why. */
static filch_status put_full(filch_pool *pool, filchi_job *jobs, size_t count,
                             filchi_full_options how, size_t *out_put)
{
    const filch_full full = how.full;
    const bool inside = filchi_place_inside(pool);
    if (full == FILCH_FULL_REJECT || (full == FILCH_FULL_RUN && filchi_pool_paused(pool))) {
        return FILCH_E_FULL;
    }
    if (filchi_token_stopped(how.stop)) {
        return FILCH_E_STOPPED;
    }
    if (full == FILCH_FULL_RUN && !inside && run_inside(pool, jobs)) {
        *out_put = 1;
    } else if (full == FILCH_FULL_DROP_OLDEST && !inside) {
        *out_put = drop_put(pool, jobs, count);
    } else {
        *out_put = filchi_room_wait_put(pool, jobs, count, how.until, how.stop);
    }
    if (*out_put != 0) {
        return FILCH_OK;
    }
    return filchi_token_stopped(how.stop) ? FILCH_E_STOPPED : FILCH_E_TIMEOUT;
}

filch_status filchi_full_put(filch_pool *pool, filchi_job *jobs, size_t count,
                             filchi_full_options how, size_t *out_done)
{
    filch_status status = FILCH_OK;
    size_t done = 0;
    while (done < count && status == FILCH_OK) {
        size_t put = filchi_room_put(pool, jobs + done, count - done);
        if (FILCHI_UNLIKELY(put == 0)) {
            status = put_full(pool, jobs + done, count - done, how, &put);
        }
        done += put;
    }
    *out_done = done;
    return status;
}
