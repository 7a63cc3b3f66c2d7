/* SPDX-License-Identifier: MIT */
/* Running totals and packing. First every leaf is folded, then a serial pass over the leaves makes
 * each one's value that of all before it, then every leaf is emitted. */
#include <filch/parallel.h>

#include "par/caller.h"
#include "par/split.h"

#include <limits.h>
#include <string.h>

typedef struct scan {
    const filch_reducer *reducer;
    filch_emit_fn *emit;
    void *ctx;
    filchi_leaves leaves;
    size_t stride;
    char *values; /* one a leaf, and two more */
} scan;

static void fold_piece(filch_cx *cx, void *ctx, filch_range leaves)
{
    const scan *s = ctx;
    for (size_t i = leaves.lo; i < leaves.hi; i++) {
        void *value = s->values + i * s->stride;
        filchi_reducer_identity(s->reducer, s->ctx, value);
        s->reducer->fold(cx, s->ctx, filchi_leaf(&s->leaves, i, leaves.slot), value);
    }
}

static void emit_piece(filch_cx *cx, void *ctx, filch_range leaves)
{
    const scan *s = ctx;
    for (size_t i = leaves.lo; i < leaves.hi; i++) {
        s->emit(cx, s->ctx, filchi_leaf(&s->leaves, i, leaves.slot), s->values + i * s->stride);
    }
}

/* Each leaf's value becomes that of all before it. Returns the total. */
static const void *sum_up(const scan *s)
{
    char *before = s->values + s->leaves.count * s->stride;
    char *with = before + s->stride;
    filchi_reducer_identity(s->reducer, s->ctx, before);
    for (size_t i = 0; i < s->leaves.count; i++) {
        char *value = s->values + i * s->stride;
        memcpy(with, before, s->reducer->value_bytes);
        s->reducer->combine(s->ctx, with, value);
        memcpy(value, before, s->reducer->value_bytes);
        char *const spare = before;
        before = with;
        with = spare;
    }
    return before;
}

static void run_scan(filch_cx *cx, scan *s, void *out_total, const filch_loop *options)
{
    if (s->leaves.count == 1 && out_total == NULL) {
        filchi_reducer_identity(s->reducer, s->ctx, s->values);
    } else {
        filchi_leaves_for(cx, &s->leaves, fold_piece, s, options);
        const void *total = sum_up(s);
        if (out_total != NULL) {
            memcpy(out_total, total, s->reducer->value_bytes);
        }
    }
    filchi_leaves_for(cx, &s->leaves, emit_piece, s, options);
}

filch_status filch_scan(filch_cx *cx, size_t n, const filch_reducer *reducer, filch_emit_fn *emit,
                        void *ctx, void *out_total, const filch_loop *options)
{
    if (cx == NULL || emit == NULL || !filchi_reducer_valid(reducer) ||
        !filchi_loop_valid(options)) {
        return FILCH_E_INVALID;
    }
    if (n == 0) {
        if (out_total != NULL) {
            filchi_reducer_identity(reducer, ctx, out_total);
        }
        return FILCH_OK;
    }
    scan s = { .reducer = reducer,
               .emit = emit,
               .ctx = ctx,
               .leaves = filchi_leaves_cut(n, options),
               .stride = filchi_reducer_stride(reducer) };
    const size_t values = s.leaves.count + 2;
    if (s.stride == 0 || s.stride > SIZE_MAX / values) {
        return FILCH_E_NOMEM;
    }
    s.values = filchi_spi_alloc(cx, values * s.stride);
    if (s.values == NULL) {
        return FILCH_E_NOMEM;
    }
    run_scan(cx, &s, out_total, options);
    filchi_spi_free(cx, s.values, values * s.stride);
    return FILCH_OK;
}

filch_status filch_scan_on(filch_pool *pool, size_t n, const filch_reducer *reducer,
                           filch_emit_fn *emit, void *ctx, void *out_total,
                           const filch_loop *options)
{
    if (pool == NULL) {
        return FILCH_E_INVALID;
    }
    filchi_caller caller;
    filch_status status = filchi_caller_enter(&caller, pool);
    if (status == FILCH_OK) {
        status = filch_scan(caller.cx, n, reducer, emit, ctx, out_total, options);
        filchi_caller_leave(&caller);
    }
    return status;
}
