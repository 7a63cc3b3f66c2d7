/* SPDX-License-Identifier: MIT */
/* A pool put together by hand, for clients about one of its protocols: the library's own parts and
 * code, but small deques, an idle worker that sleeps after one fruitless round, and no threads until
 * a client starts them. A client may play a worker itself. It ends with the real destroy. */
#ifndef MODEL_PARTS_CLIENT_H
#define MODEL_PARTS_CLIENT_H

#include "core/batch.h"
#include "core/place.h"
#include "region_client.h"

static filch_pool *pool;

static inline void client_deque(filch_deque *deque)
{
    MODEL_ASSERT(filchi_deque_init(deque, 2, 16, &filchi_libc_allocator) == FILCH_OK);
}

static inline filchi_worker *client_worker(unsigned index)
{
    filchi_worker *worker = filchi_alloc_zeroed(&filchi_libc_allocator, sizeof(*worker));
    worker->index = index;
    worker->appetite = 1;
    client_lane_make(worker, pool, CLIENT_RECORDS);
    client_deque(&worker->tasks);
    client_deque(&worker->batch);
    model_name(worker, sizeof(*worker), index == 0 ? "worker0" : "worker1");
    return worker;
}

static inline void client_pool_parts(unsigned workers, size_t queue_tasks)
{
    const filch_allocator *allocator = &filchi_libc_allocator;
    pool = filchi_alloc_zeroed(allocator, sizeof(*pool));
    model_name(pool, sizeof(*pool), "pool");
    MODEL_ASSERT(filchi_config_fill(NULL, &pool->config) == FILCH_OK);
    pool->config.queue_tasks = queue_tasks;
    pool->search_rounds = 1;
    MODEL_ASSERT(filchi_mutex_init(&pool->gate) && filchi_mutex_init(&pool->life));
    MODEL_ASSERT(filchi_sleep_init(&pool->sleep));
    MODEL_ASSERT(filchi_eventcount_init(&pool->room, &pool->room_waiters, FILCHI_WAKE_OLDEST));
    MODEL_ASSERT(filchi_eventcount_init(&pool->quiet, &pool->quiet_waiters, FILCHI_WAKE_OLDEST));
    MODEL_ASSERT(
        filchi_eventcount_init(&pool->resting, &pool->resting_workers, FILCHI_WAKE_OLDEST));
    MODEL_ASSERT(filchi_groups_init(&pool->groups));
    MODEL_ASSERT(filchi_board_init(&pool->board) && filchi_mutex_init(&pool->nodes.lock));
    MODEL_ASSERT(filchi_injector_init(&pool->injector, queue_tasks, allocator) == FILCH_OK);
    pool->workers = filchi_alloc_zeroed(allocator, workers * sizeof(filchi_worker *));
    pool->workers_asked = workers;
    pool->config.max_workers = workers;
    filchi_store_relaxed_u32(&pool->active, workers);
    for (unsigned i = 0; i < workers; i++) {
        pool->workers[i] = client_worker(i);
    }
}

/* The first `workers` have threads, which a shutdown joins. */
static inline void client_start(unsigned workers, filchi_thread_main *main)
{
    pool->worker_count = workers;
    pool->started = workers;
    if (filchi_load_relaxed_u32(&pool->active) > workers) {
        filchi_store_relaxed_u32(&pool->active, workers);
    }
    for (unsigned i = 0; i < workers; i++) {
        filchi_worker *worker = pool->workers[i];
        MODEL_ASSERT(filchi_thread_start(&worker->thread, main, worker, 0, "w"));
    }
}

/* Play worker `index`: take one job from the injector, or from a batch, and run it. */
static inline bool client_run_one(unsigned index)
{
    filchi_job storage;
    filchi_work work;
    bool got = filchi_batch_take(pool->workers[index], &work, &storage);
    for (unsigned i = 0; !got && i < pool->config.max_workers; i++) {
        got = filchi_batch_steal(pool->workers[index], pool->workers[i], &work) == FILCH_STEAL_GOT;
    }
    if (!got) {
        return false;
    }
    work.run(pool->workers[index]->lane.cx, work.object);
    filchi_account_ran_dry(pool->workers[index]);
    return true;
}

static inline void client_run(unsigned index)
{
    while (!client_run_one(index)) {
        model_yield();
    }
}

/* What stops a pool, without its joins; for a task. */
static inline void client_stop(void)
{
    filchi_store_seq_cst_u32(&pool->stop, 1);
    filchi_sleep_wake_all(pool);
}

/* Two workers until one of their tasks stops the pool; the client is the first. */
static inline void client_be_two_workers(void)
{
    (void)model_spawn(filchi_worker_main, pool->workers[1]);
    filchi_worker_main(pool->workers[0]);
    model_join_all();
    MODEL_ASSERT(filchi_load_seq_cst_u64(&pool->sleep.word) == 0);
}

/* All threads are joined. */
static inline void client_free_parts(void)
{
    pool->stopped = true;
    MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
}

#endif
