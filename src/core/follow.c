/* SPDX-License-Identifier: MIT */
/* When a pool that follows the machine looks at it, and what it makes of two looks. */
#include "core/follow.h"

#include "core/pace.h"
#include "core/pool.h"

/* Only who has moved `next_ns` on comes here: one thread at a time, bar a look that takes longer
 * than the interval; two of them cost a look, since each change is made under the gate. */
static void look(filch_pool *pool)
{
    filchi_follow *follow = &pool->follow;
    unsigned part = 0;
    unsigned wanted = follow->look(follow->ctx, &part);
    /* relaxed: a worker that sees it late is paced late */
    filchi_store_relaxed_u32(&follow->pace, filchi_pace_of(wanted, part));
    wanted = wanted < pool->worker_count ? wanted : pool->worker_count;
    /* relaxed, both: a hint from one look to the next */
    const unsigned before = filchi_load_relaxed_u32(&follow->seen);
    if (wanted == 0 || wanted == filch_pool_workers(pool)) {
        filchi_store_relaxed_u32(&follow->seen, 0);
    } else if (wanted != before) {
        filchi_store_relaxed_u32(&follow->seen, wanted);
    } else {
        filchi_store_relaxed_u32(&follow->seen, 0);
        (void)filch_pool_resize(pool, wanted); /* what cannot be had is asked for again */
    }
}

void filchi_follow_tick(filch_pool *pool)
{
    filchi_follow *follow = &pool->follow;
    const uint64_t now = (uint64_t)filchi_clock_coarse_ns();
    /* relaxed, both: who wins looks, the others go on */
    uint64_t next = filchi_load_relaxed_u64(&follow->next_ns);
    if (now < next) {
        return;
    }
    if (filchi_cas_relaxed_u64(&follow->next_ns, &next, now + (uint64_t)FILCHI_FOLLOW_NS)) {
        look(pool);
    }
}
