/* SPDX-License-Identifier: MIT */
/* Producers that wait for room, with the pool's own calls (src/core/room.c): a full queue, workers
 * that start tasks, and nobody is left behind. Each worker is played by one thread.
 * Covers: ROOM-1, ROOM-2, ROOM-4, EC-1 */
#include "core/room.h"
#include "injector_client.h"
#include "parts_client.h"

static void make_pool(size_t capacity)
{
    client_pool_parts(3, capacity);
    model_name(&pool->room_waiters, sizeof(pool->room_waiters), "room_waiters");
    for (uintptr_t i = 0; i < capacity; i++) {
        const filchi_job job = client_job(i);
        MODEL_ASSERT(filchi_room_put(pool, &job, 1) == 1);
    }
}

static void produce_until(uintptr_t number, filch_time until)
{
    const filchi_job job = client_job(number);
    if (filchi_room_put(pool, &job, 1) == 0 &&
        filchi_room_wait_put(pool, &job, 1, until, NULL) == 0) {
        MODEL_ASSERT(until != FILCH_FOREVER);
        (void)model_ghost((unsigned)number, 1); /* refused: as good as taken */
    }
}

static void produce(void *arg)
{
    produce_until((uintptr_t)arg, FILCH_FOREVER);
}

static void produce_in_time(void *arg)
{
    produce_until((uintptr_t)arg, 1);
}

static bool take_as(filchi_worker *worker, filchi_job *out_job)
{
    filchi_job storage;
    filchi_work work;
    if (!filchi_batch_take(worker, &work, &storage)) {
        return false;
    }
    filchi_job_copy(out_job, work.object);
    if (work.run == filchi_job_node_run) {
        filchi_job_node_put(worker, work.object);
    }
    return true;
}

static bool client_take(filchi_job *out_job)
{
    return take_as(pool->workers[0], out_job);
}

static void consume_as(void *worker)
{
    filchi_job job;
    if (take_as(worker, &job)) {
        client_took(&job);
    }
}

/* All producers come back, since there is room by now; then the rest is taken: what is in the batch
 * of a worker that has gone, by stealing. */
static void finish(unsigned jobs)
{
    model_join_all();
    while (client_consume()) {}
    for (unsigned i = 1; i < 3; i++) {
        filchi_work work;
        while (filchi_batch_steal(pool->workers[0], pool->workers[i], &work) == FILCH_STEAL_GOT) {
            client_took(work.object);
            filchi_job_node_put(pool->workers[0], work.object);
        }
    }
    for (unsigned i = 0; i < jobs; i++) {
        MODEL_ASSERT(client_taken(i) == 1);
    }
    MODEL_ASSERT(filchi_load_relaxed_u64(&pool->room_waiters) == 0);
    MODEL_ASSERT(filchi_room_depth(pool) == 0);
    client_free_parts();
}

static void one_producer(void)
{
    make_pool(2);
    (void)model_spawn(produce, CLIENT_JOB(2));
    MODEL_ASSERT(client_consume());
    finish(3);
}

/* Two workers start one task each. */
static void two_consumers(void)
{
    make_pool(2);
    (void)model_spawn(produce, CLIENT_JOB(2));
    (void)model_spawn(consume_as, pool->workers[1]);
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

/* Half of eight are four: the first starts wake nobody. */
static void half(void)
{
    make_pool(8);
    (void)model_spawn(produce, CLIENT_JOB(8));
    for (int i = 0; i < 4; i++) {
        MODEL_ASSERT(client_consume());
    }
    finish(9);
}

/* The same with two workers. One of them may have looked before the producer came: only the other one
 * can wake it, and must count what the first has started. */
static void late_taker(void)
{
    make_pool(4);
    (void)model_spawn(consume_as, pool->workers[1]);
    (void)model_spawn(consume_as, pool->workers[2]);
    produce(CLIENT_JOB(4));
    finish(5);
}

/* A deadline that may pass at any moment: also when the wake is under way, and another producer
 * waits. */
static void deadline(void)
{
    make_pool(2);
    (void)model_spawn(produce_in_time, CLIENT_JOB(2));
    (void)model_spawn(produce, CLIENT_JOB(3));
    MODEL_ASSERT(client_consume());
    MODEL_ASSERT(client_consume());
    finish(4);
}

const model_client model_clients[] = {
    { .name = "injector_room_deadline", .body = deadline, .no_spurious_wakes = true },
    { .name = "injector_room_one_producer",
      .body = one_producer,
      .no_spurious_wakes = true,
      .seconds = 0.7 },
    { .name = "injector_room_two_producers",
      .body = two_producers,
      .no_spurious_wakes = true,
      .seconds = 2.5 },
    { .name = "injector_room_two_consumers", .body = two_consumers, .no_spurious_wakes = true },
    { .name = "injector_room_half", .body = half, .no_spurious_wakes = true, .seconds = 0.7 },
    { .name = "injector_room_late_taker", .body = late_taker, .no_spurious_wakes = true },
    { .name = NULL },
};
