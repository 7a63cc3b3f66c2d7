/* SPDX-License-Identifier: MIT */
/* A task is posted while the pool is paused and its worker anywhere between searching and sleeping:
 * it does not begin before the resume, and it runs after it. A task that the worker has taken when
 * the pause comes is held, and the resume lets it go on; the rest of its batch another worker runs.
 * One that runs inside its post is not held: the resume may have to come from beneath it.
 * Covers: PAUSE-1, PAUSE-2 */
#include "parts_client.h"

static void stop(void)
{
    /* what stops a pool, without its joins */
    filchi_store_seq_cst_u32(&pool->stop, 1);
    filchi_sleep_wake_all(pool);
    filchi_pool_wake_resting(pool);
}

static void task(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
    MODEL_ASSERT(model_ghost(1, 0) == 0);
    (void)model_ghost(0, 1);
    stop();
}

static void prepare(void)
{
    client_pool_parts(1, 2);
    pool->worker_count = 1;
    pool->started = 1;
}

static void posted(void)
{
    prepare();
    (void)model_spawn(filchi_worker_main, pool->workers[0]);
    MODEL_ASSERT(filch_pool_pause(pool) == FILCH_OK);
    (void)model_ghost(1, 1); /* it adds */
    MODEL_ASSERT(filch_post(pool, task, NULL, 0, NULL) == FILCH_OK);
    (void)model_ghost(1, (uint64_t)-1);
    MODEL_ASSERT(filch_pool_resume(pool) == FILCH_OK);
    model_join_all();
    MODEL_ASSERT(model_ghost(0, 0) == 1);
    client_free_parts();
}

static void poster(void *arg)
{
    (void)arg;
    MODEL_ASSERT(filch_post(pool, task, NULL, 0, NULL) == FILCH_OK);
}

/* The post and the resume at the same time, and the worker is the client. */
static void raced(void)
{
    prepare();
    MODEL_ASSERT(filch_pool_pause(pool) == FILCH_OK);
    (void)model_spawn(filchi_worker_main, pool->workers[0]);
    (void)model_spawn(poster, NULL);
    MODEL_ASSERT(filch_pool_resume(pool) == FILCH_OK);
    model_join_all();
    MODEL_ASSERT(model_ghost(0, 0) == 1);
    client_free_parts();
}

/* What a worker does with what it has taken. */
static void runner(void *arg)
{
    filchi_work work;
    filchi_job storage;
    (void)arg;
    MODEL_ASSERT(filchi_batch_take(pool->workers[0], &work, &storage));
    filchi_pool_hold(pool->workers[0], work);
    work.run(pool->workers[0]->lane.cx, work.object);
}

static void held(void)
{
    prepare();
    MODEL_ASSERT(filch_post(pool, task, NULL, 0, NULL) == FILCH_OK);
    MODEL_ASSERT(filch_pool_pause(pool) == FILCH_OK);
    (void)model_ghost(1, 1);
    (void)model_spawn(runner, NULL);
    model_yield();
    (void)model_ghost(1, (uint64_t)-1);
    MODEL_ASSERT(filch_pool_resume(pool) == FILCH_OK);
    model_join_all();
    MODEL_ASSERT(model_ghost(0, 0) == 1);
    client_free_parts();
}

/* The first of a batch of two is in hand, and stays there: the other worker comes for the second. */
static void batched(void)
{
    filchi_job storage;
    filchi_work first;
    client_pool_parts(2, 2);
    pool->worker_count = 2;
    MODEL_ASSERT(filch_post(pool, task, NULL, 0, NULL) == FILCH_OK);
    MODEL_ASSERT(filch_post(pool, task, NULL, 0, NULL) == FILCH_OK);
    MODEL_ASSERT(filchi_batch_take(pool->workers[0], &first, &storage));
    (void)model_spawn(filchi_worker_main, pool->workers[1]);
    MODEL_ASSERT(filch_pool_pause(pool) == FILCH_OK);
    MODEL_ASSERT(filch_pool_resume(pool) == FILCH_OK);
    model_join_all();
    MODEL_ASSERT(model_ghost(0, 0) == 1);
    first.run(pool->workers[0]->lane.cx, first.object);
    MODEL_ASSERT(model_ghost(0, 0) == 2);
    client_free_parts();
}

static void pauser(void *arg)
{
    (void)arg;
    MODEL_ASSERT(filch_pool_pause(pool) == FILCH_OK);
}

static void inner(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
    (void)model_ghost(0, 1);
}

/* A pause while a task posts one that runs inside the post: the resume comes from the task beneath. */
static void inside(void)
{
    filchi_place place;
    prepare();
    pool->config.own_tasks = 0;
    (void)model_spawn(pauser, NULL);
    filchi_place_enter(&place, pool, &pool->workers[0]->lane);
    const filch_status status = filch_post(pool, inner, NULL, 0, NULL);
    MODEL_ASSERT(status == (model_ghost(0, 0) == 1 ? FILCH_OK : FILCH_E_FULL));
    while (filch_pool_resume(pool) != FILCH_OK) {
        model_yield();
    }
    filchi_place_leave(&place);
    model_join_all();
    client_free_parts();
}

const model_client model_clients[] = {
    { .name = "pause_resume_posted", .body = posted, .no_spurious_wakes = true },
    { .name = "pause_resume_raced", .body = raced, .no_spurious_wakes = true, .seconds = 1 },
    { .name = "pause_resume_held", .body = held, .no_spurious_wakes = true },
    { .name = "pause_resume_batched", .body = batched, .no_spurious_wakes = true },
    { .name = "pause_resume_inside", .body = inside, .no_spurious_wakes = true },
    { .name = NULL },
};
