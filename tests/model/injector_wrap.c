/* SPDX-License-Identifier: MIT */
/* A cell is filled again after it was taken: the producer does not write into it before the
 * consumer has copied the old job out. Also where the turns go through 2^64, and when the ring is
 * full. Covers: INJ-1, INJ-2, INJ-3, INJ-4 */
#include "injector_client.h"

static filchi_injector injector;

static bool produce(uintptr_t number)
{
    const filchi_job job = client_job(number);
    return client_put_one(&injector, &job);
}

static void produce_three(void *arg)
{
    (void)arg;
    MODEL_ASSERT(produce(0));
    MODEL_ASSERT(produce(1));
    for (int tries = 0; tries < 2 && !produce(2); tries++) {}
}

static bool client_take(filchi_job *out_job)
{
    return client_take_one(&injector, out_job);
}

static void finish(void)
{
    model_join_all();
    for (int i = 0; i < 3; i++) {
        (void)client_consume();
    }
    MODEL_ASSERT(client_taken(0) == 1 && client_taken(1) == 1 && client_taken(2) <= 1);
    MODEL_ASSERT(filchi_injector_looks_empty(&injector));
    filchi_injector_fini(&injector);
}

static void wrap(void)
{
    client_injector(&injector, 2);
    (void)model_spawn(produce_three, NULL);
    (void)client_consume();
    (void)client_consume();
    finish();
}

static void near_limit(void)
{
    client_injector(&injector, 1); /* gets two cells: in a ring of one "full" would be "free" */
    client_start_at(&injector, (uint64_t)-2);
    (void)model_spawn(produce_three, NULL);
    (void)client_consume();
    (void)client_consume();
    finish();
}

const model_client model_clients[] = {
    { .name = "injector_wrap", .body = wrap },
    { .name = "injector_wrap_near_limit", .body = near_limit },
    { .name = NULL },
};
