/* SPDX-License-Identifier: MIT */
/* A worker goes off duty to rest while the pool grows again, or stops: it sees that, or is woken.
 * And a worker that posters rely on, since it searches, has another one woken before it rests.
 * Covers: STOP-1, STOP-2, EC-1, SLEEP-1, SLEEP-2, QUIET-1, QUIET-2, QUIET-3 */
#include "parts_client.h"

/* Worker 1 is off duty. */
static void prepare(void)
{
    client_pool_parts(2, 2);
    pool->worker_count = 2;
    pool->started = 2;
    filchi_store_relaxed_u32(&pool->active, 1);
}

static void rester(void *arg)
{
    (void)arg;
    filchi_worker_rest(pool->workers[1]);
}

static void grown(void)
{
    prepare();
    (void)model_spawn(rester, NULL);
    MODEL_ASSERT(filch_pool_resize(pool, 2) == FILCH_OK);
    model_join_all();
    MODEL_ASSERT(filchi_load_relaxed_u64(&pool->resting_workers) == 0);
    client_free_parts();
}

static void second_only(void *arg)
{
    if (arg == pool->workers[1]) {
        filchi_worker_main(arg);
    }
}

/* Its own loop: it rests until the shutdown, which joins it. */
static void stopped(void)
{
    client_pool_parts(2, 2);
    filchi_store_relaxed_u32(&pool->active, 1);
    client_start(2, second_only);
    MODEL_ASSERT(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, NULL) == FILCH_OK);
    MODEL_ASSERT(filchi_load_relaxed_u64(&pool->resting_workers) == 0);
    MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
}

static void second_paced(void *arg)
{
    while (arg == pool->workers[1] && !filchi_pool_stopping(pool)) {
        filchi_pace_rest_until(arg, INT64_MAX);
    }
}

/* A worker rests since it has used its part, and the end of that does not come: the stop does. */
static void paced_stopped(void)
{
    client_pool_parts(2, 2);
    client_start(2, second_paced);
    MODEL_ASSERT(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, NULL) == FILCH_OK);
    MODEL_ASSERT(filchi_load_relaxed_u64(&pool->resting_workers) == 0);
    MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
}

static void count(filch_cx *cx, void *arg)
{
    (void)cx;
    (*(uint64_t *)arg)++;
}

static uint64_t output;

/* Worker 1 runs the last task and has nothing to search for. */
static void run_last(void)
{
    filchi_job storage;
    filchi_work work;
    filchi_worker *worker = pool->workers[1];
    MODEL_ASSERT(filchi_batch_take(worker, &work, &storage));
    work.run(worker->lane.cx, work.object);
}

static void last_rester(void *arg)
{
    run_last();
    rester(arg);
}

static void last_paced(void *arg)
{
    (void)arg;
    run_last();
    filchi_pace_rest_until(pool->workers[1], INT64_MAX);
}

static void quiet_by(void (*last)(void *))
{
    prepare();
    MODEL_ASSERT(filch_post(pool, count, &output, 0, NULL) == FILCH_OK);
    (void)model_spawn(last, NULL);
    MODEL_ASSERT(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_OK);
    MODEL_ASSERT(output == 1);
    filchi_store_seq_cst_u32(&pool->stop, 1);
    filchi_pool_wake_resting(pool);
    model_join_all();
    client_free_parts();
}

/* Who waits for quiet hears of it from a worker that goes to rest, too. */
static void quiet_off_duty(void)
{
    quiet_by(last_rester);
}

static void quiet_paced(void)
{
    quiet_by(last_paced);
}

static void pacer(void *arg)
{
    (void)arg;
    filchi_pace_rest_until(pool->workers[1], filchi_clock_ns() + 1);
}

/* The end of the rest and a growth that wakes all who rest: each is counted out once. */
static void paced_grown(void)
{
    prepare();
    (void)model_spawn(pacer, NULL);
    MODEL_ASSERT(filch_pool_resize(pool, 2) == FILCH_OK);
    model_join_all();
    MODEL_ASSERT(filchi_load_relaxed_u64(&pool->resting_workers) == 0);
    client_free_parts();
}

static void task(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
    (void)model_ghost(0, 1);
}

static bool worker0_woken(void)
{
    return filchi_waiter_woken(&pool->workers[0]->waiter);
}

/* Worker 0 sleeps, and has no thread; worker 1 searches when it is sent off duty. */
static void searcher(void)
{
    client_pool_parts(2, 2);
    pool->worker_count = 2;
    pool->started = 2;
    filchi_eventcount_prepare(&pool->sleep.idle, &pool->workers[0]->waiter, FILCHI_SLEEP_IDLE);
    (void)model_spawn(filchi_worker_main, pool->workers[1]);
    MODEL_ASSERT(filch_pool_resize(pool, 1) == FILCH_OK);
    MODEL_ASSERT(filch_post(pool, task, NULL, 0, NULL) == FILCH_OK);
    while (model_ghost(0, 0) == 0 && !worker0_woken()) {
        model_yield();
    }
    filchi_store_seq_cst_u32(&pool->stop, 1);
    filchi_sleep_wake_all(pool);
    filchi_pool_wake_resting(pool);
    model_join_all();
    while (client_run_one(0)) {}
    MODEL_ASSERT(model_ghost(0, 0) == 1);
    client_free_parts();
}

const model_client model_clients[] = {
    { .name = "resize_rest_grown", .body = grown },
    { .name = "resize_rest_stopped", .body = stopped, .no_spurious_wakes = true },
    { .name = "resize_rest_searcher", .body = searcher, .no_spurious_wakes = true, .seconds = 3 },
    { .name = "resize_rest_paced_stopped", .body = paced_stopped, .no_spurious_wakes = true },
    { .name = "resize_rest_paced_grown", .body = paced_grown },
    { .name = "resize_rest_quiet",
      .body = quiet_off_duty,
      .no_spurious_wakes = true,
      .seconds = 0.7 },
    { .name = "resize_rest_quiet_paced",
      .body = quiet_paced,
      .no_spurious_wakes = true,
      .seconds = 0.7 },
    { .name = NULL },
};
