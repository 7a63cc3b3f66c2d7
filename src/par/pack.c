/* SPDX-License-Identifier: MIT */
/* Packing: a scan over how many elements are kept. Each is asked once; the answers are kept as
 * bits. A leaf begins at a multiple of 64, so that its words of bits are its own. */
#include <filch/parallel.h>

#include "par/caller.h"
#include "par/split.h"

#include <string.h>

enum { WORD_BITS = 64 };

typedef struct packing {
    const char *base;
    size_t width;
    filch_keep_fn *keep;
    void *ctx;
    char *out;
    uint64_t *kept;
} packing;

static void count_kept(filch_cx *cx, void *ctx, filch_range range, void *value)
{
    const packing *p = ctx;
    size_t count = 0;
    (void)cx;
    for (size_t word_lo = range.lo; word_lo < range.hi; word_lo += WORD_BITS) {
        const size_t left = range.hi - word_lo;
        const size_t bits = left < WORD_BITS ? left : WORD_BITS;
        uint64_t word = 0;
        for (size_t i = 0; i < bits; i++) {
            const uint64_t keep = p->keep(p->base + (word_lo + i) * p->width, p->ctx) != 0;
            word |= keep << i;
            count += (size_t)keep;
        }
        p->kept[word_lo / WORD_BITS] = word;
    }
    memcpy(value, &count, sizeof(count));
}

static void add_counts(void *ctx, void *left, const void *right)
{
    size_t *sum = left;
    const size_t *more = right;
    (void)ctx;
    *sum += *more;
}

static void copy_kept(filch_cx *cx, void *ctx, filch_range range, void *value)
{
    const packing *p = ctx;
    const size_t *before = value;
    char *to = p->out + *before * p->width;
    (void)cx;
    for (size_t i = range.lo; i < range.hi; i++) {
        if ((p->kept[i / WORD_BITS] >> i % WORD_BITS & 1) != 0) {
            memcpy(to, p->base + i * p->width, p->width);
            to += p->width;
        }
    }
}

filch_status filch_pack(filch_cx *cx, const void *base, size_t n, size_t width, filch_keep_fn *keep,
                        void *ctx, void *out, size_t *out_count, const filch_loop *options)
{
    if (cx == NULL || width == 0 || keep == NULL || out_count == NULL || n > SIZE_MAX / width ||
        (n != 0 && (base == NULL || out == NULL)) || !filchi_loop_valid(options)) {
        return FILCH_E_INVALID;
    }
    if (n == 0) {
        *out_count = 0;
        return FILCH_OK;
    }
    filch_loop loop = FILCH_LOOP_INIT;
    loop.participants = options != NULL ? options->participants : 0;
    const size_t grain = filchi_leaves_cut(n, options).grain;
    loop.grain =
        grain <= SIZE_MAX - WORD_BITS ? (grain + WORD_BITS - 1) / WORD_BITS * WORD_BITS : grain;
    filch_reducer reducer = FILCH_REDUCER_INIT;
    reducer.value_bytes = sizeof(size_t);
    reducer.fold = count_kept;
    reducer.combine = add_counts;
    const size_t kept_bytes = (n / WORD_BITS + 1) * sizeof(uint64_t);
    packing p = { base, width, keep, ctx, out, filchi_spi_alloc(cx, kept_bytes) };
    if (p.kept == NULL) {
        return FILCH_E_NOMEM;
    }
    const filch_status status = filch_scan(cx, n, &reducer, copy_kept, &p, out_count, &loop);
    filchi_spi_free(cx, p.kept, kept_bytes);
    return status;
}

filch_status filch_pack_on(filch_pool *pool, const void *base, size_t n, size_t width,
                           filch_keep_fn *keep, void *ctx, void *out, size_t *out_count,
                           const filch_loop *options)
{
    if (pool == NULL) {
        return FILCH_E_INVALID;
    }
    filchi_caller caller;
    filch_status status = filchi_caller_enter(&caller, pool);
    if (status == FILCH_OK) {
        status = filch_pack(caller.cx, base, n, width, keep, ctx, out, out_count, options);
        filchi_caller_leave(&caller);
    }
    return status;
}
