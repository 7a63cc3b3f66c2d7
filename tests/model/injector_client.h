/* SPDX-License-Identifier: MIT */
/* What the injector's clients share: a ring, jobs whose number and payload must arrive together,
 * and the rule that each job is taken once. */
#ifndef MODEL_INJECTOR_CLIENT_H
#define MODEL_INJECTOR_CLIENT_H

#include "base/alloc.h"
#include "model.h"
#include "queue/injector.h"

enum { CLIENT_JOBS = 12 };

static uintptr_t payload[CLIENT_JOBS]; /* plain: the put must publish it */

static inline filchi_job client_job(uintptr_t number)
{
    filchi_job job = { .kind = FILCHI_JOB_POINTER };
    job.arg = (void *)number;
    job.heap_bytes = ~(size_t)number;
    payload[number] = number + 100;
    return job;
}

static inline void client_took(const filchi_job *job)
{
    const uintptr_t number = (uintptr_t)job->arg;
    MODEL_ASSERT(number < CLIENT_JOBS && job->heap_bytes == ~(size_t)number);
    MODEL_ASSERT(payload[number] == number + 100);
    (void)model_ghost((unsigned)number, 1);
    (void)model_ghost(CLIENT_JOBS, 1);
}

static inline uint64_t client_taken(unsigned number)
{
    return model_ghost(number, 0);
}

static inline uint64_t client_taken_all(void)
{
    return model_ghost(CLIENT_JOBS, 0);
}

/* One job, with the ring as the limit. */
static inline bool client_put_one(filchi_injector *injector, const filchi_job *job)
{
    bool late;
    /* relaxed: it only has to be far ahead of the tail */
    const uint64_t limit = filchi_load_relaxed_u64(&injector->tail) + ((uint64_t)1 << 62);
    return filchi_injector_put_many(injector, job, 1, limit, &late) != 0;
}

static inline bool client_take_one(filchi_injector *injector, filchi_job *out_job)
{
    uint64_t number;
    return filchi_injector_take_many(injector, &out_job, 1, &number) != 0;
}

/* The client's own: which call takes. */
static bool client_take(filchi_job *out_job);

static inline bool client_consume(void)
{
    filchi_job job;
    const bool got = client_take(&job);
    if (got) {
        client_took(&job);
    }
    return got;
}

static inline void client_consumer(void *arg)
{
    (void)arg;
    (void)client_consume();
}

static inline void client_injector(filchi_injector *injector, size_t capacity)
{
    MODEL_ASSERT(filchi_injector_init(injector, capacity, &filchi_libc_allocator) == FILCH_OK);
    model_name(injector, sizeof(*injector), "injector");
    model_name(injector->cells, filchi_injector_cells(injector) * sizeof(filchi_cell), "cells");
}

/* Let the turns begin at `first`, a multiple of the capacity. */
static inline void client_start_at(filchi_injector *injector, uint64_t first)
{
    for (uint64_t i = 0; i <= injector->mask; i++) {
        filchi_store_relaxed_u64(&injector->cells[i].turn, first + i);
    }
    filchi_store_relaxed_u64(&injector->tail, first);
    filchi_store_relaxed_u64(&injector->head, first);
}

#define CLIENT_JOB(n) ((void *)(uintptr_t)(n))

#endif
