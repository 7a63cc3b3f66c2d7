/* SPDX-License-Identifier: MIT */
/* What the clients of records share: an owner, worker 0, whose joins only wait, forks that count
 * themselves, and one that its owner waits for before it looks at its records again. */
#ifndef MODEL_RECORDS_CLIENT_H
#define MODEL_RECORDS_CLIENT_H

#include "lanes_client.h"

enum { CLIENT_RUNS = 4 };

static uint64_t client_runs[CLIENT_RUNS]; /* plain: two runs at once are a race */

static inline uintptr_t client_count(filch_cx *cx, uintptr_t n)
{
    (void)cx;
    client_runs[n]++;
    return n + 10;
}

static inline void client_count_void(filch_cx *cx, void *arg)
{
    (void)cx;
    *(uint64_t *)arg += 1;
}

static inline uintptr_t client_nothing(filch_cx *cx, uintptr_t n)
{
    (void)cx;
    return n;
}

/* Two forks, each of which runs once, whoever runs it. */
static MODEL_FRAME void client_two_forks(filch_cx *cx)
{
    filch_fork_handle older;
    filch_fork_handle newer;
    filch_fork(cx, &older, client_count, 0);
    filch_fork(cx, &newer, client_count, 1);
    MODEL_ASSERT(filch_join(cx, &newer) == 11 && client_runs[1] == 1);
    MODEL_ASSERT(filch_join(cx, &older) == 10 && client_runs[0] == 1);
}

/* A fork that has to be taken, whose owner looks at its records until it is; the newer forks are not
 * for the thief, it takes the oldest. */
static inline uintptr_t client_taken(filch_cx *cx, uintptr_t n)
{
    MODEL_ASSERT(!client_runs_on(cx, 0));
    (void)model_ghost(0, 1);
    return n;
}

static MODEL_FRAME void client_fork_and_look(filch_cx *cx)
{
    filch_fork_handle handle;
    filch_fork(cx, &handle, client_taken, 4);
    while (model_ghost(0, 0) == 0) {
        (void)filch_join2_word(cx, client_nothing, 1, client_nothing, 2);
        model_yield();
    }
    MODEL_ASSERT(filch_join(cx, &handle) == 4);
}

/* Further regions, as small as the first. */
enum { CLIENT_REGION_ROOM = 1024 };

static inline void *client_small_alloc(void *ctx, size_t bytes, size_t align)
{
    (void)ctx;
    return aligned_alloc(align, bytes == FILCH_REGION_BYTES ? CLIENT_REGION_ROOM : bytes);
}

static const filch_allocator client_small_regions = { client_small_alloc, client_chunk_free, NULL };

static inline void client_begin_with(unsigned workers, uint32_t forks, bool barrier)
{
    client_lanes_with(workers, forks);
    lanes->barrier = barrier;
    (void)filchi_spi_isolate(client_cx(0), true);
}

static inline void client_begin(unsigned workers, bool barrier)
{
    client_begin_with(workers, CLIENT_RECORDS, barrier);
}

/* Who still searches or sleeps goes home. */
static inline void client_finish(void)
{
    filchi_store_seq_cst_u32(&lanes->stop, 1);
    filchi_sleep_wake_all(lanes);
    model_join_all();
    (void)filchi_spi_isolate(client_cx(0), false);
    client_free_lanes();
}

/* The owner's bell is silent if nobody sleeps now: what it forks is private. */
static inline void client_silence(void)
{
    (void)filch_join2_word(client_cx(0), client_nothing, 1, client_nothing, 2);
}

/* A fork that has to be taken. */
static filchi_parker client_begun;

static inline uintptr_t client_take(filch_cx *cx, uintptr_t n)
{
    MODEL_ASSERT(!client_runs_on(cx, 0));
    filchi_unpark(&client_begun);
    return n;
}

static inline uintptr_t client_await(filch_cx *cx, uintptr_t n)
{
    (void)cx;
    MODEL_ASSERT(filchi_park(&client_begun, INT64_MAX));
    return n;
}

static inline void client_fork_and_await(void)
{
    MODEL_ASSERT(filchi_parker_init(&client_begun));
    const filch_pair both = filch_join2_word(client_cx(0), client_await, 3, client_take, 4);
    MODEL_ASSERT(both.first == 3 && both.second == 4);
}

/* A worker that counts as searching: it searches, sleeps and runs forks until all is over. */
static inline void client_worker_loop(void *arg)
{
    const unsigned n = (unsigned)(uintptr_t)arg;
    for (filchi_work work = client_search(n); work.run != NULL; work = client_search(n)) {
        client_work(lanes->workers[n], work);
        filchi_sleep_search_begin(lanes);
    }
}

static inline void client_start_worker(unsigned n)
{
    filchi_sleep_search_begin(lanes);
    (void)model_spawn(client_worker_loop, CLIENT_WORKER(n));
}

/* A thief that takes by force what it can get, once; nobody counts it as searcher. */
static inline void client_force(void *arg)
{
    (void)client_look((unsigned)(uintptr_t)arg, true);
}

static inline void client_force_twice(void *arg)
{
    client_force(arg);
    client_force(arg);
}

#endif
