/* SPDX-License-Identifier: MIT */
/* A full queue whose oldest task is dropped while a worker takes it, starts it, or has it in its batch:
 * each task ends once, run or dropped, and who waits for room learns of what a drop has made.
 * Covers: ROOM-4, ROOM-5 */
#include "core/room.h"
#include "parts_client.h"

enum { TASKS = 5 };

static uint64_t ran[TASKS], dropped[TASKS];

static void task(filch_cx *cx, void *arg)
{
    (void)cx;
    (*(uint64_t *)arg)++;
}

static void end(void *arg, filch_end how)
{
    if (how == FILCH_DROPPED) {
        dropped[(uint64_t *)arg - ran]++;
    }
}

static void post(unsigned number, filch_full full)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.end = end;
    options.full = full;
    MODEL_ASSERT(filch_post(pool, task, &ran[number], 0, &options) == FILCH_OK);
}

static void poster(void *arg)
{
    post((unsigned)(uintptr_t)arg, FILCH_FULL_DROP_OLDEST);
}

static void blocked(void *arg)
{
    post((unsigned)(uintptr_t)arg, FILCH_FULL_BLOCK);
}

static void worker(void *arg)
{
    const unsigned index = (unsigned)(uintptr_t)arg;
    while (client_run_one(index)) {}
}

static void fill(size_t capacity)
{
    client_pool_parts(2, capacity);
    for (unsigned i = 0; i < capacity; i++) {
        post(i, FILCH_FULL_BLOCK);
    }
}

static void finish(unsigned tasks)
{
    uint64_t gone = 0;
    model_join_all();
    while (client_run_one(0)) {}
    for (unsigned i = 0; i < tasks; i++) {
        MODEL_ASSERT(ran[i] + dropped[i] == 1);
        gone += dropped[i];
    }
    MODEL_ASSERT(filchi_load_relaxed_u64(&pool->dropped) == gone);
    MODEL_ASSERT(filchi_room_depth(pool) == 0);
    const filchi_pending left = filchi_account_read(pool);
    MODEL_ASSERT(left.tasks == 0 && left.callers == 0);
    client_free_parts();
}

/* The worker takes both as a batch, or one by one; the producer needs the place of one. */
static void taker(void)
{
    fill(2);
    (void)model_spawn(worker, (void *)(uintptr_t)0);
    poster((void *)(uintptr_t)2);
    finish(3);
}

/* A worker has started one and has the other in its batch: that is the oldest. */
static void from_batch(void)
{
    filchi_job storage;
    filchi_work work;
    fill(2);
    MODEL_ASSERT(filchi_batch_take(pool->workers[0], &work, &storage));
    (void)model_spawn(poster, (void *)(uintptr_t)2);
    model_join_all();
    poster((void *)(uintptr_t)3);
    MODEL_ASSERT(dropped[1] == 1);
    work.run(pool->workers[0]->lane.cx, work.object);
    finish(4);
}

/* Two that drop, and a worker. */
static void two_droppers(void)
{
    fill(2);
    (void)model_spawn(worker, (void *)(uintptr_t)0);
    (void)model_spawn(poster, (void *)(uintptr_t)2);
    poster((void *)(uintptr_t)3);
    finish(4);
}

/* Nobody runs anything: one waits for room, and the place that the other one makes by dropping may be
 * his. */
static void waiter(void)
{
    fill(1);
    const unsigned late = model_spawn(blocked, (void *)(uintptr_t)1);
    poster((void *)(uintptr_t)2);
    while (client_run_one(0)) {}
    (void)late;
    finish(3);
}

const model_client model_clients[] = {
    { .name = "full_drop", .body = taker, .no_spurious_wakes = true, .seconds = 1 },
    { .name = "full_drop_batch", .body = from_batch, .no_spurious_wakes = true },
    { .name = "full_drop_two", .body = two_droppers, .no_spurious_wakes = true, .seconds = 1 },
    { .name = "full_drop_waiter", .body = waiter, .no_spurious_wakes = true, .seconds = 1 },
    { .name = NULL },
};
