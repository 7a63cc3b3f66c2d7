/* SPDX-License-Identifier: MIT */
/* Reductions. The leaves are the bottom of a fixed binary tree: a span of 2^k leaves that begins at
 * a multiple of 2^k, cut off at the end, is one node. A participant folds the largest nodes that
 * fit into its piece, left to right, and hands each up: of two siblings the first to arrive leaves
 * its value at the parent, the second combines both and goes on. Which of them is first changes
 * nothing in the result, and nobody waits. See README.md. */
#include <filch/parallel.h>

#include "base/compiler.h"
#include "par/caller.h"
#include "par/split.h"

#include <string.h>

/* A value that is not in use. */
typedef struct spare {
    struct spare *next;
} spare;

/* Values that the owner of a slot has used before. */
typedef struct shelf {
    _Alignas(FILCHI_CACHELINE) spare *first;
} shelf;

/* I: set at init   S: by the owner of the slot   A: atomic */
typedef struct reduction {
    const filch_reducer *reducer; /* I */
    void *ctx;                    /* I */
    filchi_leaves leaves;         /* I */
    size_t stride;                /* I */
    shelf *shelves;               /* S */
    filchi_atomic_uptr *waiting;  /* A: [m]: the first value at the node whose halves meet at m */
    void *result;                 /* of the whole; by whoever handed up the root */
    filchi_atomic_u32 failed;     /* A: there was no memory for a value */
} reduction;

/* A new value, neutral. NULL: no memory. */
static void *take_value(filch_cx *cx, reduction *r, unsigned slot)
{
    spare *value = r->shelves[slot].first;
    if (value != NULL) {
        r->shelves[slot].first = value->next;
    } else {
        value = filchi_spi_alloc(cx, r->stride);
        if (value == NULL) {
            filchi_store_relaxed_u32(&r->failed, 1); /* relaxed: only saves the others work */
            return NULL;
        }
    }
    filchi_reducer_identity(r->reducer, r->ctx, value);
    return value;
}

static void put_back(reduction *r, unsigned slot, void *value)
{
    spare *unused = value;
    unused->next = r->shelves[slot].first;
    r->shelves[slot].first = unused;
}

static size_t power_below(size_t count)
{
    size_t power = 1;
    while (power < count - power) {
        power *= 2;
    }
    return power;
}

/* Fold the node of the leaves from lo to hi - 1 into a neutral value. False: no memory. */
static bool fold_node(filch_cx *cx, reduction *r, filch_range leaves, void *value)
{
    if (leaves.hi - leaves.lo == 1) {
        r->reducer->fold(cx, r->ctx, filchi_leaf(&r->leaves, leaves.lo, leaves.slot), value);
        return true;
    }
    const size_t middle = leaves.lo + power_below(leaves.hi - leaves.lo);
    if (!fold_node(cx, r, (filch_range){ leaves.lo, middle, leaves.slot }, value)) {
        return false;
    }
    void *right = take_value(cx, r, leaves.slot);
    if (right == NULL) {
        return false;
    }
    const bool done = fold_node(cx, r, (filch_range){ middle, leaves.hi, leaves.slot }, right);
    if (done) {
        r->reducer->combine(r->ctx, value, right);
    }
    put_back(r, leaves.slot, right);
    return done;
}

/* The value of the node that begins at `lo` and is `width` leaves wide goes up. */
static void hand_up(reduction *r, unsigned slot, size_t lo, size_t width, void *value)
{
    for (; width < r->leaves.count; width *= 2) {
        const bool is_right = (lo & width) != 0;
        const size_t middle = is_right ? lo : lo + width;
        lo &= ~width;
        if (middle >= r->leaves.count) {
            continue; /* no sibling: the parent is the same node */
        }
        filchi_atomic_uptr *place = &r->waiting[middle];
        /* [REDUCE-1] acq_rel, pairs with REDUCE-1: who comes second sees the value of the first. */
        void *other = (void *)filchi_xchg_acq_rel_uptr(place, (uintptr_t)value);
        if (other == NULL) {
            return;
        }
        filchi_store_relaxed_uptr(place, 0); /* relaxed: nobody else comes; for clear_up */
        void *left = is_right ? other : value;
        void *right = is_right ? value : other;
        r->reducer->combine(r->ctx, left, right);
        put_back(r, slot, right);
        value = left;
    }
    r->result = value;
}

/* The width of the largest node that begins at `lo` and does not end behind `hi`. */
static size_t widest_node(const reduction *r, size_t lo, size_t hi)
{
    size_t width = 1;
    while (width < r->leaves.count && (lo & width) == 0 &&
           (lo + 2 * width <= hi || hi == r->leaves.count)) {
        width *= 2;
    }
    return width;
}

static void reduce_piece(filch_cx *cx, void *ctx, filch_range leaves)
{
    reduction *r = ctx;
    /* relaxed: if it is seen late, some work is for nothing */
    while (leaves.lo < leaves.hi && filchi_load_relaxed_u32(&r->failed) == 0) {
        const size_t width = widest_node(r, leaves.lo, leaves.hi);
        const size_t left = leaves.hi - leaves.lo;
        const size_t end = leaves.lo + (width < left ? width : left);
        void *value = take_value(cx, r, leaves.slot);
        if (value == NULL) {
            return;
        }
        if (fold_node(cx, r, (filch_range){ leaves.lo, end, leaves.slot }, value)) {
            hand_up(r, leaves.slot, leaves.lo, width, value);
        } else {
            put_back(r, leaves.slot, value);
        }
        leaves.lo = end;
    }
}

/* Free all values that are on shelves or still wait at a node. */
static void clear_up(filch_cx *cx, reduction *r, unsigned slots)
{
    for (unsigned slot = 0; slot < slots; slot++) {
        while (r->shelves[slot].first != NULL) {
            spare *value = r->shelves[slot].first;
            r->shelves[slot].first = value->next;
            filchi_spi_free(cx, value, r->stride);
        }
    }
    for (size_t i = 0; i < r->leaves.count; i++) {
        /* relaxed, here and below: before and after the loop there is one thread */
        filchi_spi_free(cx, (void *)filchi_load_relaxed_uptr(&r->waiting[i]), r->stride);
    }
}

static filch_status reduce(filch_cx *cx, reduction *r, void *out_value, const filch_loop *options)
{
    const unsigned slots = filch_slots(filch_cx_pool(cx));
    filchi_arena_mark mark;
    const size_t shelf_bytes = slots * sizeof(shelf);
    r->shelves = filchi_spi_scratch(cx, shelf_bytes + r->leaves.count * sizeof(*r->waiting), &mark);
    if (r->shelves == NULL) {
        return FILCH_E_NOMEM;
    }
    r->waiting = (filchi_atomic_uptr *)(void *)((char *)r->shelves + shelf_bytes);
    for (unsigned slot = 0; slot < slots; slot++) {
        r->shelves[slot].first = NULL;
    }
    for (size_t i = 0; i < r->leaves.count; i++) {
        filchi_store_relaxed_uptr(&r->waiting[i], 0);
    }
    filchi_leaves_for(cx, &r->leaves, reduce_piece, r, options);
    const bool done = r->result != NULL;
    if (done) {
        memcpy(out_value, r->result, r->reducer->value_bytes);
        filchi_spi_free(cx, r->result, r->stride);
    }
    clear_up(cx, r, slots);
    filchi_spi_scratch_release(cx, mark);
    return done ? FILCH_OK : FILCH_E_NOMEM;
}

filch_status filch_reduce(filch_cx *cx, size_t n, const filch_reducer *reducer, void *ctx,
                          void *out_value, const filch_loop *options)
{
    if (cx == NULL || out_value == NULL || !filchi_reducer_valid(reducer) ||
        !filchi_loop_valid(options)) {
        return FILCH_E_INVALID;
    }
    if (n == 0) {
        filchi_reducer_identity(reducer, ctx, out_value);
        return FILCH_OK;
    }
    reduction r = { .reducer = reducer,
                    .ctx = ctx,
                    .leaves = filchi_leaves_cut(n, options),
                    .stride = filchi_reducer_stride(reducer) };
    return r.stride != 0 ? reduce(cx, &r, out_value, options) : FILCH_E_NOMEM;
}

filch_status filch_reduce_on(filch_pool *pool, size_t n, const filch_reducer *reducer, void *ctx,
                             void *out_value, const filch_loop *options)
{
    if (pool == NULL) {
        return FILCH_E_INVALID;
    }
    filchi_caller caller;
    filch_status status = filchi_caller_enter(&caller, pool);
    if (status == FILCH_OK) {
        status = filch_reduce(caller.cx, n, reducer, ctx, out_value, options);
        filchi_caller_leave(&caller);
    }
    return status;
}
