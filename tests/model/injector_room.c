/* SPDX-License-Identifier: MIT */
/* Producers that wait for room, with the pool's own calls (src/core/submit.c): a full ring, takers
 * that free cells, and nobody is left behind.
 * Covers: INJ-1, INJ-4, INJ-6, INJ-7, SUBMIT-2, EC-1 */
#include "core/pool.h"
#include "injector_client.h"

static filch_pool pool;

static void make_pool(size_t capacity)
{
    client_injector(&pool.injector, capacity);
    MODEL_ASSERT(filchi_sleep_init(&pool.sleep));
    MODEL_ASSERT(filchi_eventcount_init(&pool.room, &pool.room_waiters, FILCHI_WAKE_OLDEST));
    model_name(&pool.room_waiters, sizeof(pool.room_waiters), "room_waiters");
    model_name(&pool.room, sizeof(pool.room), "room");
    for (uintptr_t i = 0; i < capacity; i++) {
        const filchi_job job = client_job(i);
        MODEL_ASSERT(filchi_injector_put(&pool.injector, &job));
    }
}

static void produce(void *arg)
{
    const filchi_job job = client_job((uintptr_t)arg);
    filchi_pool_inject(&pool, &job);
}

static bool client_take(filchi_job *out_job)
{
    return filchi_pool_take_injected(&pool, out_job);
}

/* All producers come back, since the ring has room by now; then the rest is taken. */
static void finish(unsigned jobs)
{
    model_join_all();
    while (client_consume()) {}
    for (unsigned i = 0; i < jobs; i++) {
        MODEL_ASSERT(client_taken(i) == 1);
    }
    MODEL_ASSERT(filchi_load_relaxed_u64(&pool.room_waiters) == 0);
    filchi_injector_fini(&pool.injector);
}

static void one_producer(void)
{
    make_pool(2);
    (void)model_spawn(produce, CLIENT_JOB(2));
    MODEL_ASSERT(client_consume());
    finish(3);
}

/* Each of two takers frees one cell; the one that frees the producer's cell may be the first to
 * look, the other the first to move head. */
static void two_consumers(void)
{
    make_pool(2);
    (void)model_spawn(produce, CLIENT_JOB(2));
    (void)model_spawn(client_consumer, NULL);
    MODEL_ASSERT(client_consume());
    finish(3);
}

/* Two producers wait, and are woken one by one or together. */
static void two_producers(void)
{
    make_pool(2);
    (void)model_spawn(produce, CLIENT_JOB(2));
    (void)model_spawn(produce, CLIENT_JOB(3));
    MODEL_ASSERT(client_consume());
    MODEL_ASSERT(client_consume());
    finish(4);
}

/* Eight cells: a quarter of the ring are two. The first cell that is freed wakes nobody, the second
 * does. */
static void quarter(void)
{
    make_pool(8);
    (void)model_spawn(produce, CLIENT_JOB(8));
    MODEL_ASSERT(client_consume());
    MODEL_ASSERT(client_consume());
    finish(9);
}

/* The same with two takers. The taker of the producer's cell may be late: the other one has looked
 * before the producer came. Only the late one can wake it, and must count what the other took. */
static void late_taker(void)
{
    make_pool(8);
    (void)model_spawn(client_consumer, NULL);
    (void)model_spawn(client_consumer, NULL);
    produce(CLIENT_JOB(8));
    finish(9);
}

const model_client model_clients[] = {
    { .name = "injector_room_one_producer",
      .body = one_producer,
      .no_spurious_wakes = true,
      .seconds = 0.7 },
    { .name = "injector_room_two_producers",
      .body = two_producers,
      .no_spurious_wakes = true,
      .seconds = 2.5 },
    { .name = "injector_room_two_consumers", .body = two_consumers, .no_spurious_wakes = true },
    { .name = "injector_room_quarter", .body = quarter, .no_spurious_wakes = true, .seconds = 0.7 },
    { .name = "injector_room_late_taker", .body = late_taker, .no_spurious_wakes = true },
    { .name = NULL },
};
