/* SPDX-License-Identifier: MIT */
/* A lane: a stack that tasks run on, with its outstanding forks. Each worker has one. A foreign
 * thread that takes part in a loop gets a guest lane for that time: its region has no room, so its
 * forks run on the spot. A filch_cx is the first free record of the task that gets it. */
#ifndef FILCHI_CORE_LANE_H
#define FILCHI_CORE_LANE_H

#include "base/check.h"
#include "base/rng.h"
#include "core/arena.h"
#include "core/records.h"
#include "plat/plat.h"

typedef struct filchi_worker filchi_worker;
typedef struct filchi_job filchi_job;
typedef struct filchi_group_frame filchi_group_frame;

/* How a unit of work is run: on which lane, and what it is. */
typedef void filchi_run_fn(filch_cx *cx, void *object);

typedef struct filchi_work {
    filchi_run_fn *run;
    void *object;
} filchi_work;

/* O: the owner writes, others read; the rest is the owner's */
struct filchi_lane {
    filchi_atomic_uptr region;       /* O: the one in use */
    filchi_atomic_u64 isolated_from; /* O: records from this number on are isolated */
    filchi_region *regions;          /* the first one */
    filch_cx *cx;                    /* of the task that runs */
    filch_cx *hint;                  /* behind the record that was pushed last */
    filch_pool *pool;
    filchi_worker *worker;           /* NULL: a guest */
    filchi_parker *parker;           /* for waits on this lane */
    const filchi_job *running;       /* the detached task that runs, or NULL */
    filchi_group_frame *group_frame; /* the task of a group that was started last, or NULL */
    char *help_floor;                /* a stack pointer below this is too deep to help in a wait */
    char *inline_floor;              /* and below this to run a task inside its post */
    uint32_t open_scopes;            /* debug builds, and so the next two */
    uintptr_t newest_scope;
    uintptr_t owner;     /* thread */
    uint32_t help_depth; /* tasks that were started inside a wait, on this stack */
    filchi_rng rng;
    filchi_arena arena;
};

#define FILCHI_NOT_ISOLATED UINT64_MAX

static inline filchi_lane *filchi_lane_of(const filch_cx *cx)
{
    return filchi_region_of(cx)->lane;
}

/* Memory for a region; NULL if there is none. Pool: given `memory`, which has room for `capacity`
 * records; fini frees it, and what the lane has added. The rest of the lane is zero. */
void *filchi_lane_memory(filch_pool *pool);
void filchi_lane_init(filchi_lane *lane, filch_pool *pool, void *memory, uint32_t capacity);
void filchi_lane_fini(filchi_lane *lane);
/* Only what is whole at any time, in a child of fork(). */
void filchi_lane_free_regions(filchi_lane *lane);

/* The first free record; `cx` is that of the task that runs, which may have forks outstanding. */
filch_cx *filchi_lane_top(filchi_lane *lane, filch_cx *cx);

/* Debug builds: the caller is the thread of the lane, or becomes it at the first call. */
FILCHI_COLD void filchi_lane_check_owner(filchi_lane *lane);

static inline filchi_lane *filchi_lane_own(const filch_cx *cx)
{
    filchi_lane *lane = filchi_lane_of(cx);
    if (FILCHI_DEBUG) {
        filchi_lane_check_owner(lane);
    }
    return lane;
}

/* Fork: the record, or NULL without memory. Join of the newest record, which a claim begins: true: it
 * is ours, and has not run. False: a thief has it; wait for its latch, then release. */
filch_cx *filchi_lane_push(filchi_lane *lane, filch_cx *cx, filch_word_fn *fn, uintptr_t arg);
bool filchi_lane_pop(filchi_lane *lane, filch_cx *record);
/* The first free record, right after a push, pop or release: not always the neighbour, since any of
 * them may have changed the region. */
static inline filch_cx *filchi_lane_next_free(const filchi_lane *lane)
{
    return lane->hint;
}

/* Every record from this one on is done; some were taken. */
void filchi_lane_release(filchi_lane *lane, filch_cx *record);

/* The slow path of a fork or join: offer what is asked for, and wake somebody for it if need be. */
filchi_settled filchi_lane_settle(filchi_lane *lane, filchi_region *region, uint32_t newest,
                                  filchi_offering offering);

/* Isolated: waits run nothing, and so it is for what is forked from now on, whoever runs it. Returns
 * what it was, for putting it back. */
bool filchi_lane_isolate(filchi_lane *lane, filch_cx *cx, bool isolated);

static inline bool filchi_lane_isolated(const filchi_lane *lane)
{
    /* relaxed: our own */
    return filchi_load_relaxed_u64(&lane->isolated_from) != FILCHI_NOT_ISOLATED;
}

/* Any thread: take the oldest records on offer, at most `most`; ask for as many if there is none. */
filchi_take filchi_lane_steal(filchi_lane *victim, uint32_t most, filchi_loot *out_loot);
/* Is something on offer? seq_cst looks, see README.md. */
bool filchi_lane_offers(const filchi_lane *lane);
/* The region that its owner uses, or used a moment ago. */
filchi_region *filchi_lane_region(const filchi_lane *lane);

/* A thief has taken it: what it has to know besides. Run it. */
void filchi_loot_complete(filchi_loot *loot);
void filchi_loot_run(filch_cx *cx, void *loot);

/* Debug builds: whatever a call forks it joins before it returns. */
static inline uint32_t filchi_call_begin(const filch_cx *cx)
{
    return filchi_lane_of(cx)->open_scopes;
}

static inline void filchi_call_end(const filch_cx *cx, uint32_t open_scopes)
{
    /* relaxed: our own */
    FILCHI_RULE((filchi_load_relaxed_uptr(filchi_record_fn(cx)) == 0 || filchi_record_is_end(cx)) &&
                    filchi_lane_of(cx)->open_scopes == open_scopes,
                "a task joins its forks and ends its scopes before it returns");
    (void)cx;
    (void)open_scopes;
}

/* Run a task of any kind at the top of the lane. */
static inline void filchi_lane_run(filchi_lane *lane, filch_cx *top, filchi_work work)
{
    filch_cx *cx = lane->cx;
    lane->cx = top;
    work.run(top, work.object);
    lane->cx = cx;
}

#endif
