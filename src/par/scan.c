/* SPDX-License-Identifier: MIT */
/* Running totals. Every leaf is folded; then a serial pass over the leaves makes each one's value that
 * of all before it, and every leaf is emitted. The caller, who goes through the leaves from the front
 * on, knows what comes before and emits at once, while the elements are in its cache: alone it reads
 * them once, and with others the last pass is shorter. */
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
    size_t front; /* leaves from 0 on that are emitted; the caller's, slot 0, until the loop ends */
    char *before; /* value of all before `front` */
    char *spare;
    char *values; /* one a leaf, and the two above */
} scan;

static void emit_leaf(filch_cx *cx, scan *s, size_t i, unsigned slot, void *value)
{
    s->emit(cx, s->ctx, filchi_leaf(&s->leaves, i, slot), value);
}

static char *fold_leaf(filch_cx *cx, scan *s, size_t i, unsigned slot)
{
    char *value = s->values + i * s->stride;
    filchi_reducer_identity(s->reducer, s->ctx, value);
    s->reducer->fold(cx, s->ctx, filchi_leaf(&s->leaves, i, slot), value);
    return value;
}

static void fold_piece(filch_cx *cx, void *ctx, filch_range leaves)
{
    scan *s = ctx;
    size_t i = leaves.lo;
    while (leaves.slot == 0 && i < leaves.hi && i == s->front) {
        const char *value = fold_leaf(cx, s, i, 0);
        memcpy(s->spare, s->before, s->reducer->value_bytes);
        emit_leaf(cx, s, i, 0, s->spare);
        s->reducer->combine(s->ctx, s->before, value);
        s->front = ++i;
    }
    for (; i < leaves.hi; i++) {
        (void)fold_leaf(cx, s, i, leaves.slot);
    }
}

static void emit_piece(filch_cx *cx, void *ctx, filch_range leaves)
{
    scan *s = ctx;
    for (size_t i = s->front + leaves.lo; i < s->front + leaves.hi; i++) {
        emit_leaf(cx, s, i, leaves.slot, s->values + i * s->stride);
    }
}

/* From the front on each leaf's value becomes that of all before it; `before` becomes the total. */
static void sum_up(scan *s)
{
    for (size_t i = s->front; i < s->leaves.count; i++) {
        char *value = s->values + i * s->stride;
        memcpy(s->spare, s->before, s->reducer->value_bytes);
        s->reducer->combine(s->ctx, s->before, value);
        memcpy(value, s->spare, s->reducer->value_bytes);
    }
}

static void run_scan(filch_cx *cx, scan *s, void *out_total, const filch_loop *options)
{
    s->before = s->values + s->leaves.count * s->stride;
    s->spare = s->before + s->stride;
    filchi_reducer_identity(s->reducer, s->ctx, s->before);
    if (s->leaves.count == 1 && out_total == NULL) {
        filchi_reducer_identity(s->reducer, s->ctx, s->values);
    } else {
        filchi_leaves_for(cx, &s->leaves, fold_piece, s, options);
        sum_up(s);
    }
    if (out_total != NULL) {
        memcpy(out_total, s->before, s->reducer->value_bytes);
    }
    filchi_leaves rest = s->leaves;
    rest.count -= s->front;
    filchi_leaves_for(cx, &rest, emit_piece, s, options);
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
