/* SPDX-License-Identifier: MIT */
/* Both sides of a region of records. README.md, "Records". */
#include "core/records.h"

#include "base/check.h"
#include "base/fault.h"

#include <string.h>

_Static_assert(offsetof(filchi_region, bar) == 0, "fork_inline.h reads the bar there");

enum { INDEX_BITS = 16, INDEX_MASK = (1 << INDEX_BITS) - 1 };

_Static_assert((int)FILCHI_REGION_RECORDS < (int)INDEX_MASK, "indices have 16 bits");

static filchi_taken taken_make(uint64_t version, uint32_t offered, uint32_t oldest)
{
    return version << (2 * INDEX_BITS) | (uint64_t)offered << INDEX_BITS | oldest;
}

static uint64_t taken_version(filchi_taken taken)
{
    return taken >> (2 * INDEX_BITS);
}

static uint32_t taken_offered(filchi_taken taken)
{
    return (uint32_t)(taken >> INDEX_BITS) & INDEX_MASK;
}

static uint32_t taken_oldest(filchi_taken taken)
{
    return (uint32_t)taken & INDEX_MASK;
}

static void store_fn(filch_cx *record, uintptr_t fn)
{
    /* relaxed: thieves reach the record by a later settle only */
    filchi_store_relaxed_uptr(filchi_record_fn(record), fn);
}

static void make_ready(filchi_region *region, uint32_t from, uint32_t to)
{
    memset(&region->latches[from], 0, (to - from) * sizeof(filchi_latch));
    for (uint32_t i = from + 1; i < to; i++) {
        store_fn(&region->records[i], 0);
    }
    store_fn(&region->records[to], FILCHI_RECORDS_END);
    store_fn(&region->records[from], 0);
    region->ready = to;
}

static uint32_t next_ready(const filchi_region *region)
{
    const uint32_t most = region->ready + FILCHI_RECORDS_BLOCK;
    return most < region->capacity ? most : region->capacity;
}

filchi_region *filchi_region_make(void *memory, filchi_lane *lane, filchi_region *before,
                                  uint32_t capacity)
{
    filchi_region *region = memory;
    FILCHI_ASSERT(filchi_region_of(region->records) == region);
    filchi_store_relaxed_uptr(&region->bar, FILCHI_BELL_BARE);
    filchi_store_relaxed_u64(&region->taken, 0);
    filchi_store_relaxed_u32(&region->wanted, 1);
    filchi_store_relaxed_uptr(&region->next, 0);
    region->before = before;
    region->lane = lane;
    region->first = before != NULL ? before->first + before->capacity : 0;
    region->capacity = capacity;
    region->latches = (filchi_latch *)(void *)&region->records[capacity + 1];
    region->ready = 0;
    make_ready(region, 0, next_ready(region));
    return region;
}

bool filchi_region_grow(filchi_region *region)
{
    const uint32_t ready = region->ready;
    if (ready == region->capacity) {
        return false;
    }
    make_ready(region, ready, next_ready(region));
    return true;
}

/* Half at most: the newest are joined soon. */
static uint32_t share(const filchi_region *region, uint32_t count)
{
    const uint32_t wanted = filchi_load_relaxed_u32(&region->wanted);
    const uint32_t half = (count + 1) / 2;
    return wanted <= 1 ? 1 : wanted < half ? wanted : half;
}

static uint32_t offer(const filchi_region *region, filchi_taken taken, uint32_t newest,
                      filchi_offering offering)
{
    const uint32_t oldest = taken_oldest(taken);
    const uint32_t before = taken_offered(taken);
    const uint32_t still = before < newest ? before : newest;
    switch (offering) {
    case FILCHI_OFFER_ALL:
        return newest;
    case FILCHI_OFFER_NONE:
        return oldest;
    case FILCHI_OFFER_OLDEST:
        break;
    }
    return still <= oldest && oldest < newest ? oldest + share(region, newest - oldest) : still;
}

filchi_settled filchi_region_settle(filchi_region *region, uint32_t newest,
                                    filchi_offering offering)
{
    for (;;) {
        /* relaxed: the CAS below decides */
        filchi_taken taken = filchi_load_relaxed_u64(&region->taken);
        if (taken_oldest(taken) > newest) {
            filchi_region_ring(region, FILCHI_BELL_BARE);
            return FILCHI_SETTLED_TAKEN;
        }
        const uint32_t offered = offer(region, taken, newest, offering);
        /* [REC-1] acquire, pairs with REC-3: who rang before is asleep for the look that follows. */
        (void)filchi_xchg_acquire_uptr(&region->bar, (uintptr_t)&region->records[offered]);
        const filchi_taken next =
            taken_make(taken_version(taken) + 1, offered, taken_oldest(taken));
        /* [REC-2] seq_cst, pairs with REC-4, REC-5, REC-7, SLEEP-1: what is offered is complete; a
         * sleeper that misses the offer is seen by the look that follows. */
        if (filchi_cas_seq_cst_u64(&region->taken, &taken, next)) {
            const bool more = offered > taken_offered(taken) && offered > taken_oldest(taken);
            return more ? FILCHI_SETTLED_OFFERED : FILCHI_SETTLED;
        }
    }
}

void filchi_region_reset(filchi_region *region, uint32_t newest)
{
    filchi_taken taken = filchi_load_relaxed_u64(&region->taken);
    const filchi_taken next = taken_make(taken_version(taken) + 1, newest, newest);
    /* relaxed: nothing is offered, and nobody else changes it now; a CAS, since a store would cut
     * the release sequence */
    const bool done = filchi_cas_relaxed_u64(&region->taken, &taken, next);
    FILCHI_ASSERT(done);
    (void)done;
}

bool filchi_region_hides(const filchi_region *region, uint32_t newest)
{
    /* relaxed: thieves only make it less */
    const filchi_taken taken = filchi_load_relaxed_u64(&region->taken);
    return taken_oldest(taken) < newest && taken_offered(taken) < newest;
}

void filchi_region_ring(filchi_region *region, uintptr_t bell)
{
    /* [REC-3] release, pairs with REC-1: the owner that stops the bell sees why it was rung. A store
     * would cut the release sequence of those who rang before. */
    (void)filchi_xchg_release_uptr(&region->bar, bell);
}

void filchi_region_prove_bare(filchi_region *region, uintptr_t bell)
{
    /* relaxed: says no more than what was there, and keeps the release sequence */
    (void)filchi_cas_relaxed_uptr(&region->bar, bell, FILCHI_BELL_BARE);
}

uintptr_t filchi_region_bell(const filchi_region *region)
{
    /* relaxed: who ends a search has seen by REC-7 what the owner offered when it relied on it, and so
     * sees that the bell was stopped before */
    return filchi_load_relaxed_uptr(&region->bar);
}

/* The records in `loot` are this thief's if nobody has touched `taken` since. */
static filchi_take take(filchi_region *region, filchi_taken taken, filchi_taken next,
                        filchi_loot *loot)
{
    (void)filchi_point_hit(FILCHI_AT_STEAL_READ);
    const uint32_t oldest = taken_oldest(taken);
    /* relaxed: the next owner of the word has what it needs from REC-2, by the release sequence */
    if (!filchi_cas_relaxed_u64(&region->taken, &taken, next)) {
        return FILCHI_TAKE_LOST;
    }
    (void)filchi_point_hit(FILCHI_AT_STEAL_WON);
    loot->record = &region->records[oldest];
    return FILCHI_TAKE_GOT;
}

filchi_take filchi_region_steal(filchi_region *region, uint32_t most, filchi_loot *out_loot)
{
    /* [REC-4] acquire, pairs with REC-2: the record that is offered is complete. */
    const filchi_taken taken = filchi_load_acquire_u64(&region->taken);
    const uint32_t oldest = taken_oldest(taken);
    const uint32_t offered = taken_offered(taken);
    if (oldest >= offered) {
        return FILCHI_TAKE_NONE;
    }
    uint32_t count = 0;
    while (count < most && oldest + count < offered) {
        /* relaxed: REC-4 has it; afterwards only its owner clears it */
        const uintptr_t fn =
            filchi_load_relaxed_uptr(filchi_record_fn(&region->records[oldest + count]));
        if (fn == 0) {
            break; /* its owner is about to join it */
        }
        out_loot->fns[count++] = (filch_word_fn *)fn;
    }
    out_loot->count = count;
    return count != 0 ? take(region, taken, taken + count, out_loot) : FILCHI_TAKE_LOST;
}

filchi_taken filchi_region_look(const filchi_region *region)
{
    /* [REC-5] acquire, pairs with REC-2: before the bell; a settle after it changes the version. */
    return filchi_load_acquire_u64(&region->taken);
}

filchi_take filchi_region_force(filchi_region *region, filchi_taken looked, filchi_loot *out_loot)
{
    /* relaxed: REC-5 has acquired what it saw; if it is not that, the fence has brought all that
     * counts, and nothing is taken */
    const filchi_taken taken = filchi_load_relaxed_u64(&region->taken);
    const uint32_t oldest = taken_oldest(taken);
    const filch_cx *record = &region->records[oldest];
    /* [REC-6] acquire, pairs with REC-8: what the fork was given is there. */
    const uintptr_t fn = filchi_load_acquire_uptr(filchi_record_fn(record));
    if (fn == 0 || fn == FILCHI_RECORDS_END) {
        return FILCHI_TAKE_NONE;
    }
    if (oldest < taken_offered(taken) || taken != looked) {
        return FILCHI_TAKE_LOST;
    }
    const filchi_taken next = taken_make(taken_version(taken), oldest + 1, oldest + 1);
    out_loot->fns[0] = (filch_word_fn *)fn;
    out_loot->count = 1;
    return take(region, taken, next, out_loot);
}

bool filchi_region_offers(const filchi_region *region)
{
    /* [REC-7] seq_cst, pairs with REC-2: sees each offer whose owner did not see us. */
    const filchi_taken taken = filchi_load_seq_cst_u64(&region->taken);
    return taken_oldest(taken) < taken_offered(taken);
}

bool filchi_region_used_up(const filchi_region *region)
{
    /* relaxed: a record of the next region is taken only after the last of this one */
    return taken_oldest(filchi_load_relaxed_u64(&region->taken)) == region->capacity;
}
