/* SPDX-License-Identifier: MIT */
/* Lanes for clients: as small as the client is, for the explorer's sake. */
#ifndef MODEL_REGION_CLIENT_H
#define MODEL_REGION_CLIENT_H

#include <filch/fork.h>

#include "base/alloc.h"
#include "core/pool.h"
#include "model.h"

#include <stdlib.h>

enum { CLIENT_RECORDS = 4 };

/* The rest of the 64 KiB is never touched. */
static inline void *client_region_memory(uint32_t capacity)
{
    const size_t records = (capacity + 1) * sizeof(filch_cx);
    void *memory = aligned_alloc(FILCH_REGION_BYTES,
                                 sizeof(filchi_region) + records + capacity * sizeof(filchi_latch));
    MODEL_ASSERT(memory != NULL);
    return memory;
}

/* `worker` is zero but for its index; room for `capacity` forks in its first region. */
static inline void client_lane_make(filchi_worker *worker, filch_pool *pool, uint32_t capacity)
{
    static const char *const names[] = { "region0", "region1", "region2", "region3" };
    worker->lane.worker = worker;
    worker->lane.parker = &worker->parker;
    MODEL_ASSERT(filchi_parker_init(&worker->parker));
    filchi_rng_seed(&worker->lane.rng, worker->index);
    filchi_lane_init(&worker->lane, pool, client_region_memory(capacity), capacity);
    worker->sightings =
        filchi_alloc(&filchi_libc_allocator, pool->config.max_workers * sizeof(filchi_sighting));
    filchi_waiter_init(&worker->waiter, &worker->parker);
    model_name(worker->lane.regions, sizeof(filchi_region) + capacity * sizeof(filch_cx),
               names[worker->index]);
}

static inline bool client_isolated(const filch_cx *cx)
{
    return filchi_lane_isolated(filchi_lane_of(cx));
}

/* Run what was taken at the top of the worker's lane. */
static inline void client_work(filchi_worker *worker, filchi_work work)
{
    filchi_lane *lane = &worker->lane;
    filchi_lane_run(lane, filchi_lane_top(lane, lane->cx), work);
}

/* The owner shows its oldest fork, as if its bell had been rung before it made it. */
static inline void client_settle(filchi_lane *lane)
{
    (void)filchi_lane_settle(lane, filchi_lane_region(lane),
                             filchi_record_index(filchi_lane_top(lane, lane->cx)),
                             FILCHI_OFFER_OLDEST);
}

#endif
