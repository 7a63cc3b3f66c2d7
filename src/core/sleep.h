/* SPDX-License-Identifier: MIT */
/* Who sleeps and who is woken. README.md has the states, the steps and the proof.
 *
 * One word counts, per pool, the workers that are idle (parked, or about to), that wait in a join
 * (parked likewise, but only forks can help them), that search for any work, and that were woken in
 * a join and search for forks. A publisher reads it once. */
#ifndef FILCHI_CORE_SLEEP_H
#define FILCHI_CORE_SLEEP_H

#include "core/lane.h"
#include "sync/eventcount.h"
#include "sync/latch.h"

typedef struct filchi_sleep {
    _Alignas(FILCHI_CACHELINE) filchi_atomic_u64 word; /* four counts of 16 bits */
    _Alignas(FILCHI_CACHELINE) filchi_eventcount idle;
    filchi_eventcount joining;
    filchi_atomic_u32 napping; /* a worker naps */
    filchi_atomic_u32 stacked; /* how often, of late, the woken ran on the CPU of its waker */
    filchi_atomic_u32 placed;  /* counts wakes while `stacked` is high */
} filchi_sleep;

#define FILCHI_SLEEP_IDLE ((uint64_t)1)
#define FILCHI_SLEEP_JOINING ((uint64_t)1 << 16)
#define FILCHI_SLEEP_SEARCHING ((uint64_t)1 << 32)
#define FILCHI_SLEEP_FORK_SEARCHING ((uint64_t)1 << 48)
#define FILCHI_SLEEP_FIELD ((uint64_t)0xffff) /* times one of the above: all bits of its count */

bool filchi_sleep_init(filchi_sleep *sleep);
void filchi_sleep_destroy(filchi_sleep *sleep);

/* What a publisher sees, after it has published with seq_cst. */
static FILCHI_HOT_INLINE uint64_t filchi_sleep_look(const filchi_sleep *sleep)
{
    /* [SLEEP-1] seq_cst, pairs with EC-1, SLEEP-2, DEQUE-1, DEQUE-12, REC-2, INJ-2, OFFER-1, GROUP-1:
     * whoever registers, or ends a search, after this look sees what was published before it. */
    return filchi_load_seq_cst_u64(&sleep->word);
}

/* Must somebody be woken for a fork (or an open loop), for a detached task? */
static FILCHI_HOT_INLINE bool filchi_sleep_fork_needs_wake(uint64_t word)
{
    const uint64_t sleepers = (FILCHI_SLEEP_IDLE | FILCHI_SLEEP_JOINING) * FILCHI_SLEEP_FIELD;
    const uint64_t searchers =
        (FILCHI_SLEEP_SEARCHING | FILCHI_SLEEP_FORK_SEARCHING) * FILCHI_SLEEP_FIELD;
    if (FILCHI_LIKELY((word & sleepers) == 0)) {
        return false;
    }
    return (word & searchers) == 0;
}

static FILCHI_HOT_INLINE bool filchi_sleep_task_needs_wake(uint64_t word)
{
    return (word & FILCHI_SLEEP_IDLE * FILCHI_SLEEP_FIELD) != 0 &&
           (word & FILCHI_SLEEP_SEARCHING * FILCHI_SLEEP_FIELD) == 0;
}

FILCHI_COLD void filchi_sleep_wake_for_fork(filch_pool *pool);
FILCHI_COLD void filchi_sleep_wake_for_task(filch_pool *pool);

/* The calling worker begins to search for any work; it ends with work in hand, or because the pool
 * stops. The last one to end wakes another if there is work in sight. */
void filchi_sleep_search_begin(filch_pool *pool);
void filchi_sleep_search_end(filch_pool *pool);

/* A worker that searches and has found nothing: park until woken, unless a last look finds something;
 * it may bring a fork that nobody offered, here and below. It counts as searching again when this
 * returns; its timesheet is turned by the caller's next search, here and below. */
void filchi_sleep_idle(filchi_worker *worker, filchi_work *out_work);

/* A worker that waits for `latch`: park until it is set, or until woken for a fork. Returns whether
 * it was woken; it then counts as searching for forks, until filchi_sleep_fork_search_end. */
bool filchi_sleep_join(filchi_worker *worker, filchi_latch *latch, filchi_work *out_work);
void filchi_sleep_fork_search_end(filch_pool *pool);

/* Wake every worker: the pool stops. */
void filchi_sleep_wake_all(filch_pool *pool);

#endif
