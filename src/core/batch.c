/* SPDX-License-Identifier: MIT */
/* Batches: a deque beside that of the worker's own tasks, from which everybody takes the oldest, its
 * owner too. An item is a node and the number of its job, which whoever drops tasks compares. */
#include "core/batch.h"

#include "core/pool.h"
#include "core/room.h"

enum {
    PAUSE_FROM =
        4,      /* after as many in one batch more are on their way: leave the producers alone, */
    PAUSES = 10 /* for about 0.4 us, so that the next batch is as large */
};

filch_steal_result filchi_batch_steal(filchi_worker *thief, filchi_worker *victim,
                                      filchi_work *out_work)
{
    filch_item item;
    const filch_steal_result result = filchi_deque_steal(&victim->batch, &item);
    if (result == FILCH_STEAL_GOT) {
        filchi_job_node *node = (filchi_job_node *)item.first;
        *out_work = (filchi_work){ filchi_job_node_run, node };
        filchi_room_started(thief, &node->job);
    }
    return result;
}

static void pause_a_moment(filchi_worker *worker)
{
    for (unsigned i = 0; worker->batch_size >= PAUSE_FROM && i < PAUSES; i++) {
        filchi_cpu_pause();
    }
    worker->batch_size = 0;
}

/* A fair part of what is there, so that the others find some in the injector too. */
static size_t batch_wanted(filch_pool *pool)
{
    /* relaxed: a guess */
    const uint32_t active = filchi_load_relaxed_u32(&pool->active);
    const uint64_t length = filchi_injector_length(&pool->injector);
    const uint64_t part = length / (active != 0 ? active : 1) + 1;
    const uint64_t wanted = part < length ? part : length;
    return wanted < FILCHI_BATCH_MOST ? (size_t)wanted : FILCHI_BATCH_MOST;
}

/* The deque is empty, and as large as a batch: all of them find room. */
static void publish(filchi_worker *worker, filchi_job_node *const *nodes, size_t count,
                    uint64_t number)
{
    filch_item items[FILCHI_BATCH_MOST];
    for (size_t i = 0; i < count; i++) {
        items[i] = (filch_item){ (uintptr_t)nodes[i], number + i };
    }
    (void)filchi_deque_push_many(&worker->batch, items, count);
}

bool filchi_batch_take(filchi_worker *worker, filchi_work *out_work, filchi_job *storage)
{
    filch_pool *pool = worker->lane.pool;
    filch_steal_result result = FILCH_STEAL_LOST;
    while (result == FILCH_STEAL_LOST) { /* each loss is another's win: this ends */
        result = filchi_batch_steal(worker, worker, out_work);
    }
    if (result == FILCH_STEAL_GOT) {
        return true;
    }
    pause_a_moment(worker);
    filchi_job *jobs[FILCHI_BATCH_MOST]; /* not cleared: most batches are of one */
    filchi_job_node *nodes[FILCHI_BATCH_MOST];
    jobs[0] = storage;
    const size_t wanted = batch_wanted(pool);
    size_t most = 1;
    while (most < wanted && (nodes[most] = filchi_job_node_get(worker)) != NULL) {
        jobs[most] = &nodes[most]->job;
        most++;
    }
    if (most > 1) {
        (void)filchi_room_depth(pool); /* for the high-water mark */
    }
    uint64_t number = 0;
    const size_t taken = filchi_injector_take_many(&pool->injector, jobs, most, &number);
    if (taken > 1) {
        publish(worker, &nodes[1], taken - 1, number + 1);
    }
    for (size_t i = taken != 0 ? taken : 1; i < most; i++) {
        filchi_job_node_put(worker, nodes[i]);
    }
    if (taken == 0) {
        return false;
    }
    worker->batch_size = (uint32_t)taken;
    /* a sleeper may have looked while they were in neither queue */
    if (taken > 1) {
        filchi_pool_task_published(pool);
    }
    *out_work = (filchi_work){ filchi_job_run, storage };
    filchi_room_started(worker, storage);
    return true;
}
