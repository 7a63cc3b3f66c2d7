/* SPDX-License-Identifier: MIT */
/* The narrow door for the rooms above core: what loops and statistics need, and no more. */
#ifndef FILCHI_CORE_SPI_H
#define FILCHI_CORE_SPI_H

#include <filch/pool.h>
#include <filch/task.h>

#include "core/group.h"
#include "core/job.h"
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

/* Futures: tasks that are posted later, and threads that wait for them. */

/* Until it is let go the pool is not destroyed; any thread, any number. */
void filchi_spi_hold(filch_pool *pool);
void filchi_spi_let_go(filch_pool *pool);

/* Post without a bound: enter, then post, which never fails. In between the pool is there for whatever
 * the task does, and not destroyed. FILCH_E_CLOSED: nothing is to be posted. */
typedef struct filchi_loose {
    filch_pool *pool;
    filchi_worker *worker; /* that this thread is, or NULL */
} filchi_loose;

filch_status filchi_loose_enter(filchi_loose *loose, filch_pool *pool);
void filchi_loose_post(filchi_loose *loose, filch_task *task, filch_end_fn *end, const char *label,
                       filch_time start_by);

/* A thread that waits for a future with `parker`. If it is a worker, the post of a loose task to its pool
 * unparks it, once, after each time that it has enlisted. */
typedef struct filchi_helper {
    filchi_group_waiter waiter;
    filchi_worker *worker; /* or NULL */
} filchi_helper;

/* The parker of the worker that the calling thread is; NULL: it needs one of its own. */
filchi_parker *filchi_helper_parker(void);
void filchi_helper_init(filchi_helper *helper, filchi_parker *parker);
void filchi_helper_enlist(filchi_helper *helper);
void filchi_helper_leave(filchi_helper *helper);
void filchi_helper_park(filchi_helper *helper, filch_time until);

/* As for a post to this pool; NULL is fine. */
bool filchi_spi_options_valid(const filch_pool *pool, const filch_submit_options *options);

/* Run `fn` on this lane as a task with that label and token, either may be NULL. */
void filchi_spi_run(filch_cx *cx, filch_fn *fn, void *arg, const char *label, filch_token *stop);

/* Pools. */

const filch_allocator *filchi_spi_allocator(const filch_pool *pool);
/* Does it refuse to start anything? */
bool filchi_spi_cancelling(const filch_pool *pool);

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
