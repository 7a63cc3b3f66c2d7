/* SPDX-License-Identifier: MIT */
/* Running what was stolen. Several records become forks of the thief, oldest first, so that it runs
 * the newest first, for which their owner waits first, and others may steal the rest from it. */
#include "core/fork.h"
#include "core/timing.h"

typedef struct spoil {
    filch_word_fn *fn;
    filch_cx *record;
    bool isolated;
} spoil;

/* The latch is the last touch of the record. */
static void run(filch_cx *cx, const spoil *stolen)
{
    filchi_lane *lane = filchi_lane_of(cx);
    const uint32_t call = filchi_call_begin(cx);
    const bool isolated = filchi_lane_isolate(lane, cx, stolen->isolated);
    const filchi_timing timing = filchi_timing_begin(cx);
    /* relaxed, both: the record is ours; the latch publishes the result */
    filchi_atomic_uptr *arg = filchi_record_arg(stolen->record);
    filchi_store_relaxed_uptr(arg, stolen->fn(cx, filchi_load_relaxed_uptr(arg)));
    filchi_timing_end(cx, timing);
    (void)filchi_lane_isolate(lane, cx, isolated);
    filchi_call_end(cx, call);
    filchi_latch_set(filchi_record_latch(stolen->record));
}

static uintptr_t run_word(filch_cx *cx, uintptr_t word)
{
    run(cx, (const spoil *)word);
    return 0;
}

static spoil spoil_at(const filchi_loot *loot, uint32_t index)
{
    filch_cx *record = loot->record + index;
    return (spoil){ loot->fns[index], record, filchi_record_number(record) >= loot->isolated_from };
}

static FILCHI_COLD void run_many(filch_cx *cx, const filchi_loot *loot)
{
    filchi_lane *lane = filchi_lane_of(cx);
    const uint32_t count = loot->count;
    spoil stolen[FILCHI_LOOT_MAX];
    filch_cx *forks[FILCHI_LOOT_MAX];
    for (uint32_t i = 0; i < count; i++) {
        stolen[i] = spoil_at(loot, i);
    }
    uint32_t forked = 0;
    do {
        forks[forked] = filchi_lane_push(lane, cx, run_word, (uintptr_t)&stolen[forked]);
    } while (forks[forked] != NULL && ++forked + 1 < count);
    for (uint32_t i = count; i > forked; i--) {
        run(filchi_lane_top(lane, cx), &stolen[i - 1]);
    }
    while (forked-- > 0) {
        if (filchi_lane_pop(lane, forks[forked])) {
            run(filchi_lane_next_free(lane), &stolen[forked]);
        } else {
            (void)filchi_join_taken(lane, forks[forked]);
        }
    }
}

void filchi_loot_run(filch_cx *cx, void *object)
{
    const filchi_loot *loot = object;
    if (loot->count == 1) {
        const spoil stolen = spoil_at(loot, 0); /* the loot may be overwritten meanwhile */
        run(cx, &stolen);
    } else {
        run_many(cx, loot);
    }
}
