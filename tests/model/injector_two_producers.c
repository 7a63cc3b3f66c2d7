/* SPDX-License-Identifier: MIT */
/* Producers and consumers on a ring that has room: each job arrives once, with its payload. The
 * last look of a sleeper is not empty while a job whose put has returned is there.
 * Covers: INJ-2, INJ-3, INJ-5 */
#include "injector_client.h"

static filchi_injector injector;

static void produce(void *arg)
{
    const filchi_job job = client_job((uintptr_t)arg);
    MODEL_ASSERT(client_put_one(&injector, &job));
}

static bool client_take(filchi_job *out_job)
{
    return client_take_one(&injector, out_job);
}

static void finish(unsigned jobs)
{
    model_join_all();
    while (client_consume()) {}
    for (unsigned i = 0; i < jobs; i++) {
        MODEL_ASSERT(client_taken(i) == 1);
    }
    MODEL_ASSERT(filchi_injector_looks_empty(&injector));
    filchi_injector_fini(&injector);
}

static void one_consumer(void)
{
    client_injector(&injector, 2);
    (void)model_spawn(produce, CLIENT_JOB(0));
    (void)model_spawn(produce, CLIENT_JOB(1));
    (void)client_consume();
    (void)client_consume();
    finish(2);
}

static void two_consumers(void)
{
    client_injector(&injector, 2);
    produce(CLIENT_JOB(0));
    (void)model_spawn(produce, CLIENT_JOB(1));
    (void)model_spawn(client_consumer, NULL);
    (void)client_consume();
    finish(2);
}

static filchi_atomic_u32 sleeping;
static uint32_t seen_sleeping;

static void publish(void *arg)
{
    produce(arg);
    seen_sleeping = filchi_load_seq_cst_u32(&sleeping);
}

/* The producer sees the sleeper, or the sleeper's last look sees the job. */
static void last_look(void)
{
    client_injector(&injector, 2);
    const unsigned producer = model_spawn(publish, CLIENT_JOB(0));
    filchi_store_seq_cst_u32(&sleeping, 1);
    const bool empty = filchi_injector_looks_empty(&injector);
    model_join(producer);
    MODEL_ASSERT(!empty || seen_sleeping == 1);
    finish(1);
}

static void take_and_publish(void *arg)
{
    client_consumer(NULL);
    publish(arg);
}

/* The same, and the sleeper may read a head that is gone. */
static void old_head(void)
{
    client_injector(&injector, 2);
    produce(CLIENT_JOB(0));
    const unsigned producer = model_spawn(take_and_publish, CLIENT_JOB(1));
    filchi_store_seq_cst_u32(&sleeping, 1);
    const bool empty = filchi_injector_looks_empty(&injector);
    model_join(producer);
    MODEL_ASSERT(!empty || seen_sleeping == 1);
    finish(2);
}

const model_client model_clients[] = {
    { .name = "injector_one_consumer", .body = one_consumer },
    { .name = "injector_two_consumers", .body = two_consumers },
    { .name = "injector_last_look", .body = last_look },
    { .name = "injector_last_look_old_head", .body = old_head },
    { .name = NULL },
};
