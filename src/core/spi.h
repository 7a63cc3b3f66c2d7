/* SPDX-License-Identifier: MIT */
/* The narrow door for the rooms above core: what loops and statistics need, and no more. */
#ifndef FILCHI_CORE_SPI_H
#define FILCHI_CORE_SPI_H

#include <filch/pool.h>

#include "core/offer.h"
#include "core/place.h"
#include "core/sizing.h"
#include "core/timing.h"
#include "rec/counters.h"
#include "rec/lengths.h"
#include "rec/timesheet.h"
#include "sync/latch.h"

/* Lanes. */

/* Set whether waits on this lane run other work; returns what it was. */
bool filchi_spi_isolate(filch_cx *cx, bool isolated);

/* Scratch memory on the lane, in last-in first-out order. NULL without memory. */
void *filchi_spi_scratch(filch_cx *cx, size_t bytes, filchi_arena_mark *out_mark);
void filchi_spi_scratch_release(filch_cx *cx, filchi_arena_mark mark);

/* Memory from the pool's allocator, aligned to a cache line. NULL without memory. */
void *filchi_spi_alloc(filch_cx *cx, size_t bytes);
void filchi_spi_free(filch_cx *cx, void *block, size_t bytes);

/* Wait for a latch on this lane without running anything. */
void filchi_spi_wait(filch_cx *cx, filchi_latch *latch);

/* Foreign threads: a lane for the length of one call. */

typedef struct filchi_guest {
    filchi_lane lane;
    filchi_parker parker;
    filchi_place place;
    bool own_isolated; /* of the thread's own lane, if it is a worker of another pool */
} filchi_guest;

/* The calling thread's own lane if it is a worker of `pool`, else NULL. */
filch_cx *filchi_spi_own_cx(filch_pool *pool);

/* Enter the pool as a guest; it counts as a pending task until it leaves. FILCH_E_CLOSED,
 * FILCH_E_NOMEM. */
filch_status filchi_guest_enter(filchi_guest *guest, filch_pool *pool);
void filchi_guest_leave(filchi_guest *guest);

/* Pools. */

bool filchi_spi_forked(const filch_pool *pool);

/* Between two pieces: should this lane's thread leave what it shares with others? Not a guest. */
bool filchi_spi_off_duty(const filch_cx *cx);
const filchi_counters *filchi_spi_counters(const filch_pool *pool, unsigned worker);
const filchi_lengths *filchi_spi_lengths(const filch_pool *pool, unsigned worker); /* or NULL */
const filchi_lengths *filchi_spi_waits(const filch_pool *pool, unsigned worker);   /* or NULL */

/* What readers of time need is not const: readers leave word of what they were told. */
filchi_timesheet *filchi_spi_timesheet(const filch_pool *pool, unsigned worker);
filchi_stopwatch *filchi_spi_wall(const filch_pool *pool);

/* Pool-wide figures for filch_stats_read. */
typedef struct filchi_spi_figures {
    unsigned workers_asked;
    bool barrier;
    unsigned bound;
    uint64_t resizes;
    size_t queue_tasks;
    uint64_t injected;
    uint64_t refused;
    uint64_t pending;
    uint64_t room_waits;
    uint64_t depth;
    uint64_t high;
    uint64_t rejected;
    uint64_t run_inside;
    uint64_t dropped;
    uint64_t cancelled; /* by foreign threads */
} filchi_spi_figures;

filchi_spi_figures filchi_spi_read_figures(const filch_pool *pool);

#endif
