/* SPDX-License-Identifier: MIT */
/* Sum and running totals by filch_reduce and filch_scan, with automatic leaves. */
#include "bench/loops/work.h"

static void add(filch_cx *cx, void *ctx, filch_range range, void *value)
{
    const double *const x = ctx;
    double sum = *(double *)value;
    (void)cx;
    for (size_t i = range.lo; i < range.hi; i++) {
        sum += x[i];
    }
    *(double *)value = sum;
}

static void join(void *ctx, void *left, const void *right)
{
    (void)ctx;
    *(double *)left += *(const double *)right;
}

filch_status loops_filch_sum(filch_pool *pool, const double *x, size_t n, double *out)
{
    filch_reducer reducer = FILCH_REDUCER_INIT;
    reducer.value_bytes = sizeof(double);
    reducer.fold = add;
    reducer.combine = join;
    return filch_reduce_on(pool, n, &reducer, (void *)(uintptr_t)x, out, NULL);
}

typedef struct scan {
    const uint64_t *x;
    uint64_t *out;
} scan;

static void count(filch_cx *cx, void *ctx, filch_range range, void *value)
{
    const scan *const s = ctx;
    uint64_t sum = *(uint64_t *)value;
    (void)cx;
    for (size_t i = range.lo; i < range.hi; i++) {
        sum += s->x[i];
    }
    *(uint64_t *)value = sum;
}

static void join_counts(void *ctx, void *left, const void *right)
{
    (void)ctx;
    *(uint64_t *)left += *(const uint64_t *)right;
}

static void emit(filch_cx *cx, void *ctx, filch_range range, void *value)
{
    const scan *const s = ctx;
    uint64_t sum = *(uint64_t *)value;
    (void)cx;
    for (size_t i = range.lo; i < range.hi; i++) {
        sum += s->x[i];
        s->out[i] = sum;
    }
}

filch_status loops_filch_scan(filch_pool *pool, const uint64_t *x, size_t n, uint64_t *out)
{
    filch_reducer reducer = FILCH_REDUCER_INIT;
    scan s = { x, out };
    reducer.value_bytes = sizeof(uint64_t);
    reducer.fold = count;
    reducer.combine = join_counts;
    return filch_scan_on(pool, n, &reducer, emit, &s, NULL, NULL);
}
