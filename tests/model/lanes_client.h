/* SPDX-License-Identifier: MIT */
/* A pool without threads of its own: its lanes, sleep, board and account are the library's, and the
 * client's threads work on the lanes, one each, doing no more steps than the client is about. So
 * these clients can be searched to the end, which a whole pool cannot (pool_client.h). */
#ifndef MODEL_LANES_CLIENT_H
#define MODEL_LANES_CLIENT_H

#include <filch/fork.h>
#include <filch/parallel.h>

#include "base/alloc.h"
#include "core/place.h"
#include "core/pool.h"
#include "model.h"

#include <stdlib.h>

static filch_pool *lanes;

static inline filch_cx *client_cx(unsigned worker)
{
    return &lanes->workers[worker]->cx;
}

/* The first chunk of lane 0's arena. It has 16 KiB, of which the clients use a line or two; malloc
 * would mark every byte of it in each execution. */
static _Alignas(FILCHI_CACHELINE) unsigned char client_chunk[(16 << 10) + 256];
static bool client_chunk_used;

static inline void *client_chunk_alloc(void *ctx, size_t bytes, size_t align)
{
    (void)ctx;
    if (client_chunk_used || bytes > sizeof(client_chunk)) {
        return aligned_alloc(align, bytes);
    }
    client_chunk_used = true;
    return client_chunk;
}

static inline void client_chunk_free(void *ctx, void *block, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    if (block != (void *)client_chunk) {
        free(block);
    }
}

static const filch_allocator client_arena = { client_chunk_alloc, client_chunk_free, NULL };

/* As filchi_worker_create(), but small, for the explorer's sake. */
static inline filchi_worker *client_worker(unsigned index, size_t forks)
{
    const filch_allocator *allocator = &filchi_libc_allocator;
    filchi_worker *worker = filchi_alloc_zeroed(allocator, sizeof(*worker));
    MODEL_ASSERT(worker != NULL);
    worker->index = index;
    MODEL_ASSERT(filchi_parker_init(&worker->parker));
    MODEL_ASSERT(filchi_deque_init(&worker->cx.forks, forks, forks, allocator) == FILCH_OK);
    MODEL_ASSERT(filchi_deque_init(&worker->tasks, 2, 2, allocator) == FILCH_OK);
    filchi_waiter_init(&worker->waiter, &worker->parker);
    worker->cx.pool = lanes;
    worker->cx.worker = worker;
    worker->cx.parker = &worker->parker;
    filchi_rng_seed(&worker->cx.rng, index);
    filchi_arena_init(&worker->cx.arena, index == 0 ? &client_arena : allocator);
    return worker;
}

/* `forks`: the room in each lane's deque, a power of two. */
static inline void client_lanes_with(unsigned workers, size_t forks)
{
    const filch_allocator *allocator = &filchi_libc_allocator;
    lanes = filchi_alloc_zeroed(allocator, sizeof(*lanes));
    MODEL_ASSERT(lanes != NULL);
    lanes->config.allocator = *allocator;
    lanes->worker_count = workers;
    filchi_store_relaxed_u32(&lanes->active, workers);
    MODEL_ASSERT(filchi_sleep_init(&lanes->sleep) && filchi_board_init(&lanes->board));
    MODEL_ASSERT(filchi_injector_init(&lanes->injector, 2, allocator) == FILCH_OK);
    MODEL_ASSERT(filchi_eventcount_init(&lanes->quiet, &lanes->quiet_waiters, FILCHI_WAKE_OLDEST));
    lanes->workers = filchi_alloc(allocator, workers * sizeof(filchi_worker *));
    MODEL_ASSERT(lanes->workers != NULL);
    for (unsigned i = 0; i < workers; i++) {
        lanes->workers[i] = client_worker(i, forks);
    }
    model_name(&lanes->sleep, sizeof(lanes->sleep), "sleep");
    model_name(&lanes->board, sizeof(lanes->board), "board");
    model_name(client_cx(0), sizeof(filch_cx), "lane0");
    model_name(client_cx(1), sizeof(filch_cx), "lane1");
}

static inline void client_lanes(unsigned workers)
{
    client_lanes_with(workers, 4);
}

/* Nothing is left over, and the pool is freed: whoever is not done with it is found out. */
static inline void client_free_lanes(void)
{
    const filch_allocator *allocator = &filchi_libc_allocator;
    MODEL_ASSERT(filchi_load_relaxed_u64(&lanes->sleep.word) == 0);
    MODEL_ASSERT(filchi_board_looks_empty(&lanes->board) && !filchi_forks_in_sight(lanes));
    for (unsigned i = 0; i < lanes->worker_count; i++) {
        MODEL_ASSERT(client_cx(i)->help_depth == 0 && !client_cx(i)->isolated);
        filchi_worker_destroy(lanes->workers[i]);
    }
    filchi_free(allocator, lanes->workers, lanes->worker_count * sizeof(filchi_worker *));
    filchi_eventcount_destroy(&lanes->quiet);
    filchi_injector_fini(&lanes->injector);
    filchi_board_destroy(&lanes->board);
    filchi_sleep_destroy(&lanes->sleep);
    filchi_free(allocator, lanes, sizeof(*lanes));
}

/* One round of tries, as a worker makes them; runs what it gets. */
static inline bool client_steal(unsigned worker)
{
    filch_item item;
    if (!filchi_steal_fork(lanes->workers[worker], &item)) {
        return false;
    }
    filchi_run_item(client_cx(worker), item);
    return true;
}

#define CLIENT_WORKER(n) ((void *)(uintptr_t)(n))

/* A thief that tries once; `arg` is its worker. */
static inline void client_thief(void *arg)
{
    (void)client_steal((unsigned)(uintptr_t)arg);
}

/* A thief that knows its victim, lane 0: fewer steps where there are three lanes. */
static inline void client_thief_of_lane0(void *arg)
{
    filch_item item;
    if (filchi_deque_steal(&client_cx(0)->forks, &item) == FILCH_STEAL_GOT) {
        filchi_run_item(client_cx((unsigned)(uintptr_t)arg), item);
    }
}

/* A thief that has already got the oldest item of lane 0, and now begins to run it: fewer steps for
 * clients that are about what follows. */
static filch_item client_taken[4];

static inline void client_run_taken(void *arg)
{
    const unsigned worker = (unsigned)(uintptr_t)arg;
    filchi_run_item(client_cx(worker), client_taken[worker]);
}

static inline void client_steal_and_run(unsigned worker)
{
    MODEL_ASSERT(filchi_deque_steal(&client_cx(0)->forks, &client_taken[worker]) ==
                 FILCH_STEAL_GOT);
    (void)model_spawn(client_run_taken, CLIENT_WORKER(worker));
}

/* An idle worker until it has had some work: it searches and sleeps as worker.c does. */
static inline void client_idle_worker(void *arg)
{
    filchi_worker *worker = lanes->workers[(uintptr_t)arg];
    filch_item item;
    filchi_sleep_search_begin(lanes);
    while (!filchi_steal_fork(worker, &item)) {
        filchi_sleep_idle(worker);
    }
    filchi_sleep_search_end(lanes);
    filchi_run_item(&worker->cx, item);
}

#endif
