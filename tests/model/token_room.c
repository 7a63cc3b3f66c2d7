/* SPDX-License-Identifier: MIT */
/* A producer waits for room with a token: the stop ends its wait, and a wake that it does not need goes
 * to the next one who waits.
 * Covers: EC-1, ROOM-2 */
#include "core/room.h"
#include "injector_client.h"
#include "parts_client.h"

static filch_token *token;

/* Room for one, which is taken. */
static void make_pool(void)
{
    const filchi_job job = client_job(0);
    client_pool_parts(1, 1);
    MODEL_ASSERT(filchi_room_put(pool, &job, 1) == 1);
    MODEL_ASSERT(filch_token_create(NULL, NULL, &token) == FILCH_OK);
}

static MODEL_FRAME void produce_stoppable(void *arg)
{
    const filchi_job job = client_job((uintptr_t)arg);
    if (filchi_room_wait_put(pool, &job, 1, FILCH_FOREVER, token) == 0) {
        MODEL_ASSERT(filch_token_stopped(token));
        (void)model_ghost((unsigned)(uintptr_t)arg, 1); /* refused: as good as taken */
    }
}

static void stop(void *arg)
{
    (void)arg;
    MODEL_ASSERT(filch_token_stop(token) == FILCH_OK);
}

static bool client_take(filchi_job *out_job)
{
    filchi_work work;
    return filchi_batch_take(pool->workers[0], &work, out_job);
}

static void finish(unsigned jobs)
{
    model_join_all();
    while (client_consume()) {}
    for (unsigned i = 0; i < jobs; i++) {
        MODEL_ASSERT(client_taken(i) == 1);
    }
    MODEL_ASSERT(filchi_load_relaxed_u64(&pool->room_waiters) == 0);
    MODEL_ASSERT(filch_token_destroy(token) == FILCH_OK);
    client_free_parts();
}

/* Nobody takes anything. */
static void stopped(void)
{
    make_pool();
    (void)model_spawn(stop, NULL);
    produce_stoppable(CLIENT_JOB(1));
    MODEL_ASSERT(model_ghost(1, 0) == 1);
    finish(2);
}

/* Another one waits behind it, here without a thread. A start's wake that came to the one that leaves
 * is handed on. */
static void hands_on(void)
{
    filchi_parker parker;
    filchi_waiter next;
    make_pool();
    (void)model_spawn(produce_stoppable, CLIENT_JOB(1));
    stop(NULL);
    MODEL_ASSERT(filchi_parker_init(&parker));
    filchi_waiter_init(&next, &parker);
    filchi_eventcount_prepare(&pool->room, &next, 1);
    MODEL_ASSERT(client_consume());
    model_join_all();
    if (model_ghost(1, 0) != 0) {
        MODEL_ASSERT(filchi_waiter_woken(&next));
    }
    (void)filchi_eventcount_cancel(&pool->room, &next, (uint64_t)-1);
    filchi_parker_destroy(&parker);
    finish(2);
}

const model_client model_clients[] = {
    { .name = "token_room", .body = stopped, .no_spurious_wakes = true },
    { .name = "token_room_hands_on", .body = hands_on, .no_spurious_wakes = true, .seconds = 3 },
    { .name = NULL },
};
