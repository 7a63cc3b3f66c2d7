/* SPDX-License-Identifier: MIT */
/* A pool without threads of its own: its lanes, sleep, board and account are the library's, and the
 * client's threads work on the lanes, one each, doing no more steps than the client is about. So
 * these clients can be searched to the end, which a whole pool cannot (pool_client.h). */
#ifndef MODEL_LANES_CLIENT_H
#define MODEL_LANES_CLIENT_H

#include <filch/parallel.h>

#include "core/place.h"
#include "core/spi.h"
#include "region_client.h"

static filch_pool *lanes;

static inline filchi_lane *client_lane(unsigned worker)
{
    return &lanes->workers[worker]->lane;
}

static inline filch_cx *client_cx(unsigned worker)
{
    return client_lane(worker)->cx;
}

/* Does this code run on the lane of that worker? */
static inline bool client_runs_on(const filch_cx *cx, unsigned worker)
{
    return filchi_lane_of(cx) == client_lane(worker);
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

static inline void *client_refuse(void *ctx, size_t bytes, size_t align)
{
    (void)ctx;
    (void)bytes;
    (void)align;
    return NULL;
}

/* For lanes whose one region is full. */
static const filch_allocator client_no_memory = { client_refuse, client_chunk_free, NULL };

/* As filchi_worker_create(), but small, for the explorer's sake. */
static inline filchi_worker *client_worker(unsigned index, uint32_t forks)
{
    const filch_allocator *allocator = &filchi_libc_allocator;
    filchi_worker *worker = filchi_alloc_zeroed(allocator, sizeof(*worker));
    MODEL_ASSERT(worker != NULL);
    worker->index = index;
    worker->appetite = 1;
    client_lane_make(worker, lanes, forks);
    MODEL_ASSERT(filchi_deque_init(&worker->tasks, 2, 2, allocator) == FILCH_OK);
    MODEL_ASSERT(filchi_deque_init(&worker->batch, 2, 2, allocator) == FILCH_OK);
    filchi_arena_init(&worker->lane.arena, index == 0 ? &client_arena : allocator);
    return worker;
}

/* `forks`: the room in each lane's region. Nothing is taken by force unless a client says so. */
static inline void client_lanes_with(unsigned workers, uint32_t forks)
{
    const filch_allocator *allocator = &filchi_libc_allocator;
    lanes = filchi_alloc_zeroed(allocator, sizeof(*lanes));
    MODEL_ASSERT(lanes != NULL);
    lanes->config.allocator = *allocator;
    lanes->config.max_workers = workers;
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
    model_name(client_lane(0), sizeof(filchi_lane), "lane0");
    model_name(client_lane(1), sizeof(filchi_lane), "lane1");
}

static inline void client_lanes(unsigned workers)
{
    client_lanes_with(workers, CLIENT_RECORDS);
}

/* Nothing is left over, and the pool is freed: whoever is not done with it is found out. */
static inline void client_free_lanes(void)
{
    const filch_allocator *allocator = &filchi_libc_allocator;
    MODEL_ASSERT(filchi_load_relaxed_u64(&lanes->sleep.word) == 0);
    MODEL_ASSERT(filchi_board_looks_empty(&lanes->board) && !filchi_forks_in_sight(lanes));
    for (unsigned i = 0; i < lanes->worker_count; i++) {
        MODEL_ASSERT(client_lane(i)->help_depth == 0 && !filchi_lane_isolated(client_lane(i)));
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
    filchi_work work;
    if (!filchi_steal_fork(lanes->workers[worker], &work)) {
        return false;
    }
    client_work(lanes->workers[worker], work);
    return true;
}

#define CLIENT_WORKER(n) ((void *)(uintptr_t)(n))

/* A thief that tries once; `arg` is its worker. */
static inline void client_thief(void *arg)
{
    (void)client_steal((unsigned)(uintptr_t)arg);
}

static inline filchi_work client_loot(unsigned worker)
{
    return (filchi_work){ filchi_loot_run, &lanes->workers[worker]->loot };
}

/* A thief that knows its victim, lane 0: fewer steps where there are three lanes. */
static inline bool client_steal_from_lane0(unsigned worker)
{
    const bool got =
        filchi_lane_steal(client_lane(0), 1, &lanes->workers[worker]->loot) == FILCHI_TAKE_GOT;
    if (got) {
        client_work(lanes->workers[worker], client_loot(worker));
    }
    return got;
}

static inline void client_thief_of_lane0(void *arg)
{
    (void)client_steal_from_lane0((unsigned)(uintptr_t)arg);
}

/* A thief that has already got the oldest fork of lane 0, and now begins to run it: fewer steps for
 * clients that are about what follows. */
static inline void client_run_taken(void *arg)
{
    const unsigned worker = (unsigned)(uintptr_t)arg;
    client_work(lanes->workers[worker], client_loot(worker));
}

static inline void client_steal_and_run(unsigned worker)
{
    client_settle(client_lane(0));
    MODEL_ASSERT(filchi_lane_steal(client_lane(0), 1, &lanes->workers[worker]->loot) ==
                 FILCHI_TAKE_GOT);
    (void)model_spawn(client_run_taken, CLIENT_WORKER(worker));
}

/* A last look outside of a sleep, and what it brings by force; `fence` as that of a sleeper. */
static inline bool client_look(unsigned worker, bool fence)
{
    filchi_work work = { NULL, NULL };
    const bool seen = filchi_forks_last_look(lanes->workers[worker], fence, &work);
    if (work.run != NULL) {
        client_work(lanes->workers[worker], work);
    }
    return seen;
}

/* An idle worker until it has got some work, or the pool stops: it searches and sleeps as worker.c
 * does. */
static inline filchi_work client_search(unsigned number)
{
    filchi_worker *worker = lanes->workers[number];
    filchi_work work = { NULL, NULL };
    while (!filchi_pool_stopping(lanes) && !filchi_steal_fork(worker, &work)) {
        work.run = NULL;
        filchi_sleep_idle(worker, &work);
        if (work.run != NULL) {
            break;
        }
    }
    filchi_sleep_search_end(lanes);
    return work;
}

/* As join.c waits, but without a pause before it sleeps; until it has got some work. */
static inline void client_wait_in_join(unsigned number, filchi_latch *latch)
{
    filchi_worker *worker = lanes->workers[number];
    filchi_work work = { NULL, NULL };
    bool searching = false;
    for (;;) {
        const bool got = filchi_steal_fork(worker, &work);
        if (searching) {
            filchi_sleep_fork_search_end(lanes);
        }
        if (got) {
            break;
        }
        work.run = NULL;
        searching = filchi_sleep_join(worker, latch, &work);
        if (work.run != NULL) {
            if (searching) {
                filchi_sleep_fork_search_end(lanes);
            }
            break;
        }
    }
    client_work(worker, work);
}

static inline void client_idle_worker(void *arg)
{
    const unsigned number = (unsigned)(uintptr_t)arg;
    filchi_sleep_search_begin(lanes);
    client_work(lanes->workers[number], client_search(number));
}

#endif
