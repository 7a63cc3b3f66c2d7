/* SPDX-License-Identifier: MIT */
/* Indexed loops. [0, n) is cut into units of one grain; each participant owns a range of units in
 * one word, takes units from its front, and steals the back half of another's when its own is
 * empty. A range says nothing but which units nobody has taken yet, so an old value in a CAS is
 * as good as a new one with the same bits.
 *
 * Without a grain the caller runs the first indices alone, until it knows what one of them costs;
 * a loop that is over by then was not worth waking anybody.
 *
 * The caller is participant 0. Others are admitted through the pool's board until the loop closes;
 * the caller then waits for those inside, and runs nothing meanwhile. */
#include <filch/parallel.h>

#include "base/compiler.h"
#include "par/caller.h"
#include "par/split.h"
#include "plat/plat.h"

#include <string.h>

enum {
    UNITS_PER_WORKER = 64, /* automatic grain: the last unit costs at most 1/64 of a share, */
    LEAST_UNITS = 16,      /* or 1/16 where units of 1/64 would be shorter than UNIT_NS */
    UNIT_NS = 1000,        /* taking a unit, some 20 ns, is 2 % of it */
    PROBE_NS = 5000,       /* about what waking a thread costs the waker */
    STEAL_SWEEPS = 2       /* a thief between its CAS and its store hides a range for a moment */
};

static const uint64_t max_block_units = (uint64_t)1 << 31; /* units that one loop object serves */

/* A range of units, lo in the high half, hi in the low half; empty when they are equal. */
typedef struct part {
    _Alignas(FILCHI_CACHELINE) filchi_atomic_u64 range;
} part;

/* I: set at init   B: under the board's lock   A: atomic */
typedef struct loop {
    filchi_offer offer;       /* B */
    filch_range_fn *body;     /* I */
    void *ctx;                /* I */
    size_t n;                 /* I */
    size_t grain;             /* I */
    size_t first_index;       /* I: of unit 0 */
    size_t first_unit;        /* I: of this block */
    part *parts;              /* I */
    unsigned most;            /* I: participants asked for */
    unsigned limit;           /* I: participants of this block */
    unsigned admitted;        /* B: the caller included */
    filchi_atomic_u32 slots;  /* A: slots given out */
    filchi_atomic_u64 inside; /* A: participants that have not left */
    filchi_latch done;        /* A: set by the last to leave, unless it is the caller */
} loop;

static uint64_t range_of(uint64_t lo, uint64_t hi)
{
    return lo << 32 | hi;
}

static uint64_t range_lo(uint64_t range)
{
    return range >> 32;
}

static uint64_t range_hi(uint64_t range)
{
    return range & 0xffffffffu;
}

/* Take the first unit of an own range. */
static bool take_unit(part *own, uint64_t *out_unit)
{
    /* relaxed, here and below: a range carries no data; the board and the latch order the rest */
    uint64_t range = filchi_load_relaxed_u64(&own->range);
    while (range_lo(range) < range_hi(range)) {
        const uint64_t rest = range_of(range_lo(range) + 1, range_hi(range));
        if (filchi_cas_relaxed_u64(&own->range, &range, rest)) {
            *out_unit = range_lo(range);
            return true;
        }
    }
    return false;
}

/* Move the back half of the victim's units into the own range, which is empty. */
static bool steal_half(part *victim, part *own)
{
    uint64_t range = filchi_load_relaxed_u64(&victim->range);
    while (range_lo(range) < range_hi(range)) {
        const uint64_t units = range_hi(range) - range_lo(range);
        const uint64_t middle = range_hi(range) - (units + 1) / 2;
        if (filchi_cas_relaxed_u64(&victim->range, &range, range_of(range_lo(range), middle))) {
            filchi_store_relaxed_u64(&own->range, range_of(middle, range_hi(range)));
            return true;
        }
    }
    return false;
}

static bool steal_units(loop *job, unsigned slot)
{
    for (int sweep = 0; sweep < STEAL_SWEEPS; sweep++) {
        for (unsigned i = 1; i < job->limit; i++) {
            if (steal_half(&job->parts[(slot + i) % job->limit], &job->parts[slot])) {
                return true;
            }
        }
    }
    return false;
}

static void run_unit(filch_cx *cx, const loop *job, uint64_t unit, unsigned slot)
{
    const size_t lo = job->first_index + (job->first_unit + (size_t)unit) * job->grain;
    const size_t hi = job->n - lo > job->grain ? lo + job->grain : job->n;
    job->body(cx, job->ctx, (filch_range){ lo, hi, slot });
}

static void participate(filch_cx *cx, loop *job, unsigned slot)
{
    part *own = &job->parts[slot];
    const bool isolated = filchi_spi_isolate(cx, true);
    do {
        uint64_t unit;
        while (take_unit(own, &unit)) {
            run_unit(cx, job, unit, slot);
            if (filchi_spi_off_duty(cx) && slot != 0) {
                (void)filchi_spi_isolate(cx, isolated);
                return; /* others take what is left of its range, at last the caller */
            }
        }
    } while (steal_units(job, slot));
    (void)filchi_spi_isolate(cx, isolated);
}

static bool has_units(const loop *job)
{
    for (unsigned i = 0; i < job->limit; i++) {
        const uint64_t range = filchi_load_relaxed_u64(&job->parts[i].range);
        if (range_lo(range) < range_hi(range)) {
            return true;
        }
    }
    return false;
}

/* Under the board's lock, so never after the close. */
static filchi_admission admit(filchi_offer *offer)
{
    loop *job = FILCHI_CONTAINER(offer, loop, offer);
    if (job->admitted == job->limit || !has_units(job)) {
        return FILCHI_EXHAUSTED;
    }
    job->admitted++;
    /* relaxed: the caller, inside itself, reads it after the close */
    (void)filchi_add_relaxed_u64(&job->inside, 1);
    return job->admitted == job->limit ? FILCHI_ADMITTED_LAST : FILCHI_ADMITTED;
}

/* Leave the loop. True for the last one. */
static bool leave(loop *job)
{
    /* [LOOP-1] acq_rel, pairs with LOOP-1: what the bodies wrote is visible to the last to leave,
     * who is the caller or sets the latch for it. */
    return filchi_add_acq_rel_u64(&job->inside, (uint64_t)-1) == 1;
}

static void run_joined(filch_cx *cx, void *object)
{
    loop *job = FILCHI_CONTAINER(object, loop, offer);
    const filchi_timing timing = filchi_timing_begin(cx);
    /* relaxed: a number of its own is all it has to be */
    participate(cx, job, filchi_add_relaxed_u32(&job->slots, 1));
    filchi_timing_end(cx, timing);
    if (leave(job)) {
        filchi_latch_set(&job->done); /* the loop may be gone */
    }
}

static void run_shared(filch_cx *cx, loop *job, uint64_t units)
{
    for (unsigned i = 0; i < job->limit; i++) {
        filchi_store_relaxed_u64(&job->parts[i].range, range_of(0, i == 0 ? units : 0));
    }
    job->offer.admit = admit;
    job->offer.run = run_joined;
    job->admitted = 1;
    filchi_store_relaxed_u32(&job->slots, 1);
    filchi_store_relaxed_u64(&job->inside, 1);
    filchi_latch_init(&job->done);
    filchi_offer_open(filch_cx_pool(cx), &job->offer);
    participate(cx, job, 0);
    filchi_offer_close(filch_cx_pool(cx), &job->offer);
    if (!leave(job)) {
        filchi_spi_wait(cx, &job->done);
    }
    if (has_units(job)) {
        participate(cx, job, 0); /* left by somebody who went off duty; nobody else is inside */
    }
}

static void run_serial(filch_cx *cx, const loop *job, uint64_t units)
{
    const bool isolated = filchi_spi_isolate(cx, true);
    for (uint64_t unit = 0; unit < units; unit++) {
        run_unit(cx, job, unit, 0);
    }
    (void)filchi_spi_isolate(cx, isolated);
}

/* At most max_block_units units from job->first_unit on. */
static void run_block(filch_cx *cx, loop *job, uint64_t units)
{
    filch_pool *pool = filch_cx_pool(cx);
    /* a child of fork() in a task is alone, and the board's lock may be held for ever */
    const unsigned most = filchi_spi_forked(pool) ? 1 : job->most;
    filchi_arena_mark mark;
    job->limit = units < most ? (unsigned)units : most;
    job->parts = job->limit > 1 ? filchi_spi_scratch(cx, job->limit * sizeof(part), &mark) : NULL;
    if (job->parts == NULL) {
        run_serial(cx, job, units);
        return;
    }
    run_shared(cx, job, units);
    filchi_spi_scratch_release(cx, mark);
}

/* Run the first indices on the caller, twice as many each time, until they have taken PROBE_NS.
 * Returns how many it ran. */
static size_t probe(filch_cx *cx, const loop *job, int64_t *out_ns)
{
    const size_t most = job->n / ((size_t)LEAST_UNITS * job->most);
    const int64_t began = filchi_clock_ns();
    const bool isolated = filchi_spi_isolate(cx, true);
    size_t done = 0;
    size_t next = 1;
    do {
        const size_t count = next < job->n - done ? next : job->n - done;
        job->body(cx, job->ctx, (filch_range){ done, done + count, 0 });
        done += count;
        next = 2 * next < most ? 2 * next : most;
        *out_ns = filchi_clock_ns() - began;
    } while (done < job->n && *out_ns < PROBE_NS);
    (void)filchi_spi_isolate(cx, isolated);
    return done;
}

/* Units of 1/64 of a share; of UNIT_NS if that is more, but no more than 1/16 of a share, since
 * the indices that were run may have been the cheap ones. */
static size_t measured_grain(size_t left, unsigned participants, size_t done, int64_t ns)
{
    const size_t share = left / participants;
    const double worth = (double)UNIT_NS * (double)done / (double)ns;
    const size_t most = share / LEAST_UNITS;
    const size_t least = share / UNITS_PER_WORKER;
    const size_t wanted = worth < (double)most ? (size_t)worth : most;
    const size_t grain = wanted > least ? wanted : least;
    return grain != 0 ? grain : 1;
}

/* Few indices are taken for big ones: they are shared at once, one by one. Otherwise the first
 * ones run here, which makes a loop longer by PROBE_NS and one index of many. */
static void choose_grain(filch_cx *cx, loop *job)
{
    if (job->n / UNITS_PER_WORKER < job->most || job->most == 1) {
        job->grain = job->most > 1 ? 1 : job->n / UNITS_PER_WORKER + 1;
        return;
    }
    int64_t ns = 0;
    job->first_index = probe(cx, job, &ns);
    job->grain = measured_grain(job->n - job->first_index, job->most, job->first_index, ns);
}

static void run_loop(filch_cx *cx, size_t n, filch_range_fn *body, void *ctx,
                     const filch_loop *options)
{
    const unsigned workers = filch_pool_workers(filch_cx_pool(cx));
    loop job = { .body = body, .ctx = ctx, .n = n, .most = workers };
    if (options != NULL && options->participants != 0 && options->participants < workers) {
        job.most = options->participants;
    }
    if (options != NULL && options->grain != 0) {
        job.grain = options->grain;
    } else {
        choose_grain(cx, &job);
    }
    const size_t rest = n - job.first_index;
    uint64_t left = rest / job.grain + (rest % job.grain != 0);
    while (left != 0) {
        const uint64_t units = left < max_block_units ? left : max_block_units;
        run_block(cx, &job, units);
        job.first_unit += (size_t)units;
        left -= units;
    }
}

bool filchi_loop_valid(const filch_loop *options)
{
    static const filch_loop empty = FILCH_LOOP_INIT;
    return options == NULL ||
           (options->size == sizeof(*options) && options->flags == 0 &&
            memcmp(options->reserved, empty.reserved, sizeof(empty.reserved)) == 0);
}

filch_status filch_for(filch_cx *cx, size_t n, filch_range_fn *body, void *ctx,
                       const filch_loop *options)
{
    if (cx == NULL || body == NULL || !filchi_loop_valid(options)) {
        return FILCH_E_INVALID;
    }
    run_loop(cx, n, body, ctx, options);
    return FILCH_OK;
}

filch_status filch_for_on(filch_pool *pool, size_t n, filch_range_fn *body, void *ctx,
                          const filch_loop *options)
{
    if (pool == NULL || body == NULL || !filchi_loop_valid(options)) {
        return FILCH_E_INVALID;
    }
    filchi_caller caller;
    const filch_status status = filchi_caller_enter(&caller, pool);
    if (status == FILCH_OK) {
        run_loop(caller.cx, n, body, ctx, options);
        filchi_caller_leave(&caller);
    }
    return status;
}
