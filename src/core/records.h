/* SPDX-License-Identifier: MIT */
/* The outstanding forks of a lane: records of two words in regions of memory, oldest first. The
 * owner keeps its records private until somebody rings the bell of the region; it then offers the
 * oldest one. Thieves take what is offered, oldest first; one that has made every thread pass a fence
 * may take the oldest private record as well. README.md, "Records", has the steps and the proof. */
#ifndef FILCHI_CORE_RECORDS_H
#define FILCHI_CORE_RECORDS_H

#include <filch/fork.h>
#include <filch/fork_inline.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "sync/latch.h"

typedef struct filchi_lane filchi_lane;
typedef struct filchi_region filchi_region;

/* In place of a function: behind the last record that is ready. */
#define FILCHI_RECORDS_END ((uintptr_t)1)

/* Above every record: the next fork or join of the owner settles. Bare: and there was nothing private
 * when it was rung, or proved so by a sleeper, whose own bell it was until then. */
#define FILCHI_BELL_BARE UINTPTR_MAX
#define FILCHI_BELL (UINTPTR_MAX - 1)
#define FILCHI_BELL_OF(worker) (UINTPTR_MAX - 2 - (worker))

/* `taken`: version, then the index behind the last record offered, then of the oldest not taken. */
typedef uint64_t filchi_taken;

/* I: set at init   o: the owner only   O: the owner writes, others read   A: any thread */
struct filchi_region {
    /* A: records below are offered, or may be gone; the first word, as fork_inline.h has it */
    _Alignas(FILCHI_CACHELINE) filchi_atomic_uptr bar;
    _Alignas(FILCHI_CACHELINE) filchi_atomic_u64 taken; /* A */
    filchi_atomic_u32 wanted;                           /* A: records that a thief could use */
    filchi_atomic_uptr next;                            /* O: filchi_region */
    filchi_region *before;                              /* I */
    filchi_lane *lane;                                  /* I */
    uint64_t first;                                     /* I: number of record 0 in the lane */
    uint32_t ready;                                     /* o: the first record not ready for use */
    uint32_t capacity;                                  /* I */
    filchi_latch *latches;                              /* I: one a record */
    _Alignas(FILCHI_CACHELINE) filch_cx records[];      /* capacity + 1 */
};

enum {
    FILCHI_REGION_RECORDS = (FILCH_REGION_BYTES - sizeof(filchi_region)) / 24 - 1,
    FILCHI_RECORDS_BLOCK = 128, /* made ready at a time */
    FILCHI_LOOT_MAX = 64        /* taken at a time */
};

/* What a thief has taken: `count` records from this one on. Each is its own until it sets the latch
 * of it. */
typedef struct filchi_loot {
    filch_cx *record;
    uint64_t isolated_from; /* number of the first one that is isolated */
    uint32_t count;
    filch_word_fn *fns[FILCHI_LOOT_MAX];
} filchi_loot;

typedef enum filchi_take {
    FILCHI_TAKE_GOT,
    FILCHI_TAKE_LOST, /* somebody was quicker, or is at it */
    FILCHI_TAKE_NONE
} filchi_take;

/* How much the owner offers when it settles. */
typedef enum filchi_offering {
    FILCHI_OFFER_OLDEST, /* the oldest, if none is on offer: as many as are wanted, half at most */
    FILCHI_OFFER_ALL,
    FILCHI_OFFER_NONE
} filchi_offering;

typedef enum filchi_settled {
    FILCHI_SETTLED,         /* the newest record is the owner's */
    FILCHI_SETTLED_OFFERED, /* likewise, and there is more on offer than before */
    FILCHI_SETTLED_TAKEN    /* a thief has it, and every older one */
} filchi_settled;

static inline filchi_region *filchi_region_of(const filch_cx *record)
{
    return (filchi_region *)((uintptr_t)record & ~(uintptr_t)(FILCH_REGION_BYTES - 1));
}

static inline uint32_t filchi_record_index(const filch_cx *record)
{
    return (uint32_t)(record - filchi_region_of(record)->records);
}

static inline uint64_t filchi_record_number(const filch_cx *record)
{
    return filchi_region_of(record)->first + filchi_record_index(record);
}

static inline filchi_latch *filchi_record_latch(const filch_cx *record)
{
    return &filchi_region_of(record)->latches[filchi_record_index(record)];
}

/* The words of a record, as our accesses want them. */
static inline filchi_atomic_uptr *filchi_record_fn(const filch_cx *record)
{
    return (filchi_atomic_uptr *)(uintptr_t)&record->fn;
}

static inline filchi_atomic_uptr *filchi_record_arg(const filch_cx *record)
{
    return (filchi_atomic_uptr *)(uintptr_t)&record->arg;
}

/* A region for `capacity` records in FILCH_REGION_BYTES of memory aligned to as much. Its bell is
 * rung. */
filchi_region *filchi_region_make(void *memory, filchi_lane *lane, filchi_region *before,
                                  uint32_t capacity);

/* Owner. Make more records ready; false: there are none. */
bool filchi_region_grow(filchi_region *region);

/* Owner. Is this the record that stands for the end of those that are ready? Is this one in use? */
static inline bool filchi_record_is_end(const filch_cx *record)
{
    /* relaxed, both: only its owner writes it */
    return filchi_load_relaxed_uptr(filchi_record_fn(record)) == FILCHI_RECORDS_END;
}

static inline bool filchi_record_in_use(const filch_cx *record)
{
    return filchi_load_relaxed_uptr(filchi_record_fn(record)) > FILCHI_RECORDS_END;
}

/* Owner, with `newest` records outstanding or, in a join, without the one that is joined: it has been
 * claimed, and is the record with the index `newest`. Only the last two forms are for the end. */
filchi_settled filchi_region_settle(filchi_region *region, uint32_t newest,
                                    filchi_offering offering);

/* Owner. Every record from `newest` on was taken and is done. */
void filchi_region_reset(filchi_region *region, uint32_t newest);

/* Any thread. Have the owner settle at its next fork or join. Bare is the owner's word, or that of a
 * sleeper whose bell nobody has touched since, and who has found nothing. */
void filchi_region_ring(filchi_region *region, uintptr_t bell);
void filchi_region_prove_bare(filchi_region *region, uintptr_t bell);
/* What the bell says; may be passed to filchi_bell_rung. */
uintptr_t filchi_region_bell(const filchi_region *region);

static inline bool filchi_bell_rung(uintptr_t bell)
{
    return bell > UINTPTR_MAX / 2;
}

/* Owner: is any of the first `newest` records private? */
bool filchi_region_hides(const filchi_region *region, uint32_t newest);

/* Any thread: how many the owner shall offer next. A hint. */
static inline void filchi_region_want(filchi_region *region, uint32_t count)
{
    filchi_store_relaxed_u32(&region->wanted, count);
}

/* Any thread: take the oldest records that are on offer, `most` of them at most. */
filchi_take filchi_region_steal(filchi_region *region, uint32_t most, filchi_loot *out_loot);

/* The same for a private one: look, ring, have every thread pass a fence, and take it if nothing has
 * changed since the look. Lost: something has, so look again. */
filchi_taken filchi_region_look(const filchi_region *region);
filchi_take filchi_region_force(filchi_region *region, filchi_taken looked, filchi_loot *out_loot);

/* Any thread: the last look of a thread that wants to sleep; have all records been taken that the
 * region can hold? */
bool filchi_region_offers(const filchi_region *region);
bool filchi_region_used_up(const filchi_region *region);

#endif
