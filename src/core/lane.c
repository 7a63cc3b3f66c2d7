/* SPDX-License-Identifier: MIT */
/* The records of a lane as its owner uses them, region after region; and what a thief sees of them.
 * Only the region in use has private records: the owner offers all of a full one before it goes on,
 * and none of it when it comes back. */
#include "core/lane.h"

#include "base/alloc.h"
#include "core/pool.h"
#include "core/timing.h"

void *filchi_lane_memory(filch_pool *pool)
{
    return filchi_alloc_aligned(&pool->config.allocator, FILCH_REGION_BYTES, FILCH_REGION_BYTES);
}

void filchi_lane_init(filchi_lane *lane, filch_pool *pool, void *memory, uint32_t capacity)
{
    lane->pool = pool;
    lane->regions = filchi_region_make(memory, lane, NULL, capacity);
    filchi_store_relaxed_uptr(&lane->region, (uintptr_t)lane->regions);
    filchi_store_relaxed_u64(&lane->isolated_from, FILCHI_NOT_ISOLATED);
    lane->cx = lane->regions->records;
    lane->hint = lane->cx;
    filchi_arena_init(&lane->arena, &pool->config.allocator);
}

void filchi_lane_free_regions(filchi_lane *lane)
{
    const filch_allocator *allocator = &lane->pool->config.allocator;
    filchi_region *region = lane->regions;
    while (region != NULL) {
        filchi_region *next = (filchi_region *)filchi_load_relaxed_uptr(&region->next);
        filchi_free(allocator, region, FILCH_REGION_BYTES);
        region = next;
    }
}

void filchi_lane_fini(filchi_lane *lane)
{
    filchi_arena_fini(&lane->arena);
    filchi_lane_free_regions(lane);
}

filchi_region *filchi_lane_region(const filchi_lane *lane)
{
    /* [LANE-1] seq_cst, pairs with LANE-2: a sleeper that sees the old one is seen by the settle of
     * the first fork in the new one. */
    return (filchi_region *)filchi_load_seq_cst_uptr(&lane->region);
}

static void use_region(filchi_lane *lane, filchi_region *region)
{
    filchi_region_ring(region,
                       FILCHI_BELL_BARE); /* the one we leave has all on offer, or nothing */
    /* [LANE-2] seq_cst, pairs with LANE-1: the region is complete, and its bell rung. */
    filchi_store_seq_cst_uptr(&lane->region, (uintptr_t)region);
}

void filchi_lane_check_owner(filchi_lane *lane)
{
    const uintptr_t self = filchi_thread_self();
    if (lane->owner == 0) {
        lane->owner = self;
    }
    FILCHI_RULE(lane->owner == self, "only the owner of a context may fork and join with it");
}

static filchi_region *own_region(const filchi_lane *lane)
{
    /* relaxed: only the owner writes it */
    return (filchi_region *)filchi_load_relaxed_uptr(&lane->region);
}

filch_cx *filchi_lane_top(filchi_lane *lane, filch_cx *cx)
{
    filchi_region *region = own_region(lane);
    filch_cx *top = cx;
    if (FILCHI_UNLIKELY(filchi_region_of(cx) != region)) {
        top = region->records;
    }
    if (FILCHI_UNLIKELY(filchi_record_in_use(top))) {
        filch_cx *hint = lane->hint;
        if (filchi_region_of(hint) == region && hint > top && filchi_record_in_use(hint - 1)) {
            top = hint;
        }
        while (filchi_record_in_use(top)) {
            top++;
        }
    }
    return top;
}

filchi_settled filchi_lane_settle(filchi_lane *lane, filchi_region *region, uint32_t newest,
                                  filchi_offering offering)
{
    const filchi_settled settled = filchi_region_settle(region, newest, offering);
    if (settled == FILCHI_SETTLED_TAKEN || lane->worker == NULL) {
        return settled;
    }
    if (settled == FILCHI_SETTLED_OFFERED) {
        filchi_counters_add(&lane->worker->counters, FILCHI_COUNT_FORKS_OFFERED);
    }
    if (filchi_sleep_fork_needs_wake(filchi_sleep_look(&lane->pool->sleep))) {
        if (settled == FILCHI_SETTLED_OFFERED) {
            filchi_sleep_wake_for_fork(lane->pool);
        } else {
            /* there is somebody to wake for the next fork */
            filchi_region_ring(region, filchi_region_hides(region, newest) ? FILCHI_BELL
                                                                           : FILCHI_BELL_BARE);
        }
    }
    return settled;
}

/* Room behind the last record: in this region, or in the next one. */
static filch_cx *more_room(filchi_lane *lane, filch_cx *top)
{
    filchi_region *region = own_region(lane);
    const uint32_t outstanding = filchi_record_index(top);
    if (filchi_region_grow(region)) {
        /* so that a thief that gets that far finds it ready */
        (void)filchi_lane_settle(lane, region, outstanding, FILCHI_OFFER_OLDEST);
        return top;
    }
    filchi_region *next = (filchi_region *)filchi_load_relaxed_uptr(&region->next);
    if (next == NULL && lane->worker != NULL) {
        void *memory = filchi_lane_memory(lane->pool);
        if (memory != NULL) {
            next = filchi_region_make(memory, lane, region, region->capacity);
            /* [LANE-3] release, pairs with LANE-4: the region is complete. */
            filchi_store_release_uptr(&region->next, (uintptr_t)next);
        }
    }
    if (next == NULL) {
        return NULL;
    }
    (void)filchi_lane_settle(lane, region, outstanding, FILCHI_OFFER_ALL);
    use_region(lane, next);
    return next->records;
}

filch_cx *filchi_lane_push(filchi_lane *lane, filch_cx *cx, filch_word_fn *fn, uintptr_t arg)
{
    filch_cx *record = filchi_lane_top(lane, cx);
    if (filchi_record_is_end(record)) {
        record = more_room(lane, record);
        if (record == NULL) {
            return NULL;
        }
    }
    filchi_store_relaxed_uptr(filchi_record_arg(record), arg); /* relaxed: published by REC-8 */
    /* [REC-8] release, pairs with REC-6: a thief that takes it unasked finds the argument. */
    filchi_store_release_uptr(filchi_record_fn(record), (uintptr_t)fn);
    lane->hint = record + 1;
    if (!filch_priv_above_bar(record)) {
        (void)filchi_lane_settle(lane, filchi_region_of(record), filchi_record_index(record) + 1,
                                 FILCHI_OFFER_OLDEST);
    }
    return record;
}

/* The first record of a region is joined: go back to the one before. */
static void leave_region(filchi_lane *lane, filchi_region *region)
{
    filchi_region *before = region->before;
    use_region(lane, before);
    (void)filchi_region_settle(before, before->capacity, FILCHI_OFFER_NONE);
    filchi_region_ring(before, FILCHI_BELL);
    lane->hint = &before->records[before->capacity];
}

static void joined(filchi_lane *lane, filch_cx *record)
{
    filchi_region *region = filchi_region_of(record);
    lane->hint = record;
    if (record == region->records && region->before != NULL) {
        leave_region(lane, region);
    }
}

bool filchi_lane_pop(filchi_lane *lane, filch_cx *record)
{
    /* relaxed: the settle, ours or a thief's, decides */
    filchi_store_relaxed_uptr(filchi_record_fn(record), 0);
    if (!filch_priv_above_bar(record) &&
        filchi_lane_settle(lane, filchi_region_of(record), filchi_record_index(record),
                           FILCHI_OFFER_OLDEST) == FILCHI_SETTLED_TAKEN) {
        return false;
    }
    joined(lane, record);
    return true;
}

void filchi_lane_release(filchi_lane *lane, filch_cx *record)
{
    filchi_region_reset(filchi_region_of(record), filchi_record_index(record));
    joined(lane, record);
}

bool filchi_lane_isolate(filchi_lane *lane, filch_cx *cx, bool isolated)
{
    /* relaxed: only the owner writes it; thieves see it with the record (REC-2, REC-8) */
    const uint64_t before = filchi_load_relaxed_u64(&lane->isolated_from);
    if (isolated && before == FILCHI_NOT_ISOLATED) {
        filchi_store_relaxed_u64(&lane->isolated_from,
                                 filchi_record_number(filchi_lane_top(lane, cx)));
    } else if (!isolated) {
        filchi_store_relaxed_u64(&lane->isolated_from, FILCHI_NOT_ISOLATED);
    }
    return before != FILCHI_NOT_ISOLATED;
}

static filchi_region *region_after(const filchi_region *region)
{
    /* [LANE-4] acquire, pairs with LANE-3: the region is complete. */
    return (filchi_region *)filchi_load_acquire_uptr(&region->next);
}

void filchi_loot_complete(filchi_loot *loot)
{
    const filchi_lane *victim = filchi_lane_of(loot->record);
    /* relaxed: the records are ours, and what they were forked with came with them */
    loot->isolated_from = filchi_load_relaxed_u64(&victim->isolated_from);
}

filchi_take filchi_lane_steal(filchi_lane *victim, uint32_t most, filchi_loot *out_loot)
{
    filchi_region *region = victim->regions;
    for (;;) {
        const filchi_take got = filchi_region_steal(region, most, out_loot);
        if (got != FILCHI_TAKE_NONE) {
            if (got == FILCHI_TAKE_GOT) {
                filchi_loot_complete(out_loot);
            }
            return got;
        }
        filchi_region *next = filchi_region_used_up(region) ? region_after(region) : NULL;
        if (next == NULL) {
            break;
        }
        region = next;
    }
    if (!filchi_bell_rung(filchi_region_bell(region))) {
        filchi_region_want(region, most);
        filchi_region_ring(region, FILCHI_BELL);
    }
    return FILCHI_TAKE_NONE;
}

bool filchi_lane_offers(const filchi_lane *lane)
{
    const filchi_region *region = lane->regions;
    while (region != NULL) {
        if (filchi_region_offers(region)) {
            return true;
        }
        region = filchi_region_used_up(region) ? region_after(region) : NULL;
    }
    return false;
}
