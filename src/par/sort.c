/* SPDX-License-Identifier: MIT */
/* A stable merge sort between the elements and a scratch array of the same size, on fork-join.
 * Merging is parallel too: the output is cut in the middle, a binary search finds where that cuts
 * the two inputs ("merge path"), and both halves are merged on their own. */
#include <filch/fork.h>
#include <filch/parallel.h>
#include <filch/pool.h>

#include "par/caller.h"
#include "par/merge.h"

enum {
    SORT_COUNT = 2048, /* up to so many are sorted by one task: some 60 us */
    MERGE_COUNT = 8192 /* up to so many are merged by one task: some 30 us */
};

typedef struct sorter {
    filchi_order order;
    filchi_kernel kernel;
} sorter;

typedef struct merge_task {
    const sorter *s;
    const char *a;
    const char *b;
    size_t a_count;
    size_t b_count;
    char *out;
} merge_task;

typedef struct sort_task {
    const sorter *s;
    char *data;
    char *scratch;
    size_t count;
    bool into_scratch;
} sort_task;

/* How many of the first `count` elements of the output come from `a`. */
static size_t count_from_a(const merge_task *m, size_t count)
{
    const filchi_order *order = &m->s->order;
    size_t low = count > m->b_count ? count - m->b_count : 0;
    size_t high = count < m->a_count ? count : m->a_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const char *a = m->a + middle * order->width;
        const char *b = m->b + (count - 1 - middle) * order->width;
        if (order->compare(b, a, order->ctx) < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static void run_merge(filch_cx *cx, void *arg)
{
    const merge_task *m = arg;
    const size_t count = m->a_count + m->b_count;
    if (count <= MERGE_COUNT) {
        m->s->kernel.merge(&m->s->order, m->a, m->a_count, m->b, m->b_count, m->out);
        return;
    }
    const size_t width = m->s->order.width;
    const size_t half = count / 2;
    const size_t a_cut = count_from_a(m, half);
    const size_t b_cut = half - a_cut;
    merge_task low = { m->s, m->a, m->b, a_cut, b_cut, m->out };
    merge_task high = { m->s,
                        m->a + a_cut * width,
                        m->b + b_cut * width,
                        m->a_count - a_cut,
                        m->b_count - b_cut,
                        m->out + half * width };
    filch_join2(cx, run_merge, &low, run_merge, &high);
}

static void run_sort(filch_cx *cx, void *arg)
{
    const sort_task *t = arg;
    if (t->count <= SORT_COUNT) {
        t->s->kernel.sort(&t->s->order, t->data, t->scratch, t->count, t->into_scratch);
        return;
    }
    const size_t half = t->count / 2;
    const size_t cut = half * t->s->order.width;
    sort_task low = { t->s, t->data, t->scratch, half, !t->into_scratch };
    sort_task high = { t->s, t->data + cut, t->scratch + cut, t->count - half, !t->into_scratch };
    filch_join2(cx, run_sort, &low, run_sort, &high);
    const char *from = t->into_scratch ? t->data : t->scratch;
    merge_task merge = {
        t->s, from, from + cut, half, t->count - half, t->into_scratch ? t->scratch : t->data
    };
    run_merge(cx, &merge);
}

static bool elements_valid(const void *base, size_t n, size_t width)
{
    return width != 0 && n <= SIZE_MAX / width && (base != NULL || n == 0);
}

filch_status filch_sort(filch_cx *cx, void *base, size_t n, size_t width, filch_compare_fn *compare,
                        void *ctx)
{
    if (cx == NULL || compare == NULL || !elements_valid(base, n, width)) {
        return FILCH_E_INVALID;
    }
    if (n < 2) {
        return FILCH_OK;
    }
    char *scratch = filchi_spi_alloc(cx, n * width);
    if (scratch == NULL) {
        return FILCH_E_NOMEM;
    }
    const sorter s = { { compare, ctx, width }, filchi_kernel_for(width) };
    sort_task all = { &s, base, scratch, n, false };
    run_sort(cx, &all);
    filchi_spi_free(cx, scratch, n * width);
    return FILCH_OK;
}

filch_status filch_merge(filch_cx *cx, const void *a, size_t a_count, const void *b, size_t b_count,
                         void *out, size_t width, filch_compare_fn *compare, void *ctx)
{
    if (cx == NULL || compare == NULL || !elements_valid(a, a_count, width) ||
        !elements_valid(b, b_count, width) || a_count > SIZE_MAX / width - b_count ||
        (out == NULL && a_count + b_count != 0)) {
        return FILCH_E_INVALID;
    }
    const sorter s = { { compare, ctx, width }, filchi_kernel_for(width) };
    if (a_count + b_count != 0) {
        /* an empty run may be NULL, to which not even 0 can be added */
        merge_task all = {
            &s, a_count != 0 ? a : out, b_count != 0 ? b : out, a_count, b_count, out
        };
        run_merge(cx, &all);
    }
    return FILCH_OK;
}

/* On a pool. A guest could not fork, so a worker does the work. */

typedef struct root {
    bool is_merge;
    const void *a;
    const void *b;
    size_t a_count;
    size_t b_count;
    void *out;
    size_t width;
    filch_compare_fn *compare;
    void *ctx;
    filch_status status;
} root;

static void run_root(filch_cx *cx, void *arg)
{
    root *r = arg;
    r->status = r->is_merge ? filch_merge(cx, r->a, r->a_count, r->b, r->b_count, r->out, r->width,
                                          r->compare, r->ctx)
                            : filch_sort(cx, r->out, r->a_count, r->width, r->compare, r->ctx);
}

static filch_status run_on(filch_pool *pool, root *r)
{
    const filch_status status = filch_run(pool, run_root, r);
    return status == FILCH_OK ? r->status : status;
}

filch_status filch_sort_on(filch_pool *pool, void *base, size_t n, size_t width,
                           filch_compare_fn *compare, void *ctx)
{
    root r = { .out = base, .a_count = n, .width = width, .compare = compare, .ctx = ctx };
    return run_on(pool, &r);
}

filch_status filch_merge_on(filch_pool *pool, const void *a, size_t a_count, const void *b,
                            size_t b_count, void *out, size_t width, filch_compare_fn *compare,
                            void *ctx)
{
    root r = { true, a, b, a_count, b_count, out, width, compare, ctx, FILCH_OK };
    return run_on(pool, &r);
}
