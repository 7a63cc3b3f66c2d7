/* SPDX-License-Identifier: MIT */
/* Indexed loops: [0, n) in pieces, the caller takes part, idle workers join in. On them stand
 * reductions, scans and packing; sorting and merging stand on fork-join.
 *
 * Loops: each participant owns a range of pieces and takes from its front; who has none left halves the
 * rest of another. Nothing is split while nobody is idle. A loop is isolated: while it waits for
 * the last pieces it runs nothing else, and inside its body every join waits likewise. So what the
 * body holds - a slot, thread-locals, a lock - stays its own. Loops nest without deadlock.
 *
 * Lazy splitting: Tzannes, Caragea, Barua, Vishkin, PPoPP 2010. Merging by output halves ("merge
 * path"): Odeh, Green, Mwassi, Shmueli, Birk, IPDPSW 2012. */
#ifndef FILCH_PARALLEL_H
#define FILCH_PARALLEL_H

#include <filch/base.h>

FILCH_BEGIN_DECLS

/* One piece: indices lo to hi - 1, and a slot: a dense index below filch_slots(pool) that no other
 * running call of the same loop has, for per-participant scratch. Each nested loop numbers its own;
 * inside a body, filch_slots(filch_cx_pool(cx)) is the number of them. */
typedef struct filch_range {
    size_t lo;
    size_t hi;
    unsigned slot;
} filch_range;

typedef void filch_range_fn(filch_cx *cx, void *ctx, filch_range range);

/* An "Options struct" (base.h). */
typedef struct filch_loop {
    size_t size;
    unsigned flags;        /* none yet */
    unsigned participants; /* threads that take part at most, the caller included; their slots are
                              below this number; 0: as many as the pool has workers */
    size_t grain;          /* indices of a piece: piece k is [k * grain, (k + 1) * grain), the last
                              may be short; 0: measured, see below */
    uintptr_t reserved[4];
} filch_loop;

#define FILCH_LOOP_INIT                                                                            \
    {                                                                                              \
        sizeof(filch_loop), 0, 0, 0,                                                               \
        {                                                                                          \
            0, 0, 0, 0                                                                             \
        }                                                                                          \
    }

/* Call `body` so that each index below n is covered exactly once. n = 0 is FILCH_OK, without a
 * call. NULL options: no grain. Without one the caller runs the first indices alone, for about
 * 5 us, and a loop that is over by then shares nothing; the rest is cut into pieces of about a
 * microsecond or 1/64 of a worker's share, what is more. Less than 64 indices a participant are
 * taken for big ones and shared at once, one by one.
 * Threads: the one `cx` was given to.    Blocks: until all calls have returned.
 * Order:   writes before the loop are visible to the calls, theirs to the caller afterwards.
 * Fails:   FILCH_E_INVALID: body or cx is NULL, bad options; nothing was called. Without memory
 *          for the participants the loop runs serially. */
FILCH_API filch_status filch_for(filch_cx *cx, size_t n, filch_range_fn *body, void *ctx,
                                 const filch_loop *options);

/* The same on a pool: from a foreign thread at most workers - 1 workers join the caller; from a
 * worker of this pool it is filch_for.
 * Threads: any.      Blocks: until all calls have returned.
 * Fails:   as filch_for, and FILCH_E_CLOSED, FILCH_E_NOMEM, FILCH_E_FORKED; nothing was called. */
FILCH_API filch_status filch_for_on(filch_pool *pool, size_t n, filch_range_fn *body, void *ctx,
                                    const filch_loop *options);

/* ---- reductions and scans ----
 *
 * The n elements are cut into leaves; how, and which values are combined with which, depends on n
 * and the grain only: the result has the same bits with any number of workers, for floating-point
 * sums too. A leaf is `grain` elements; 0: n / 1024 (below 16,384 elements: n / 256), rounded up.
 * There are never more than 4,096 leaves: a smaller grain is raised. */

/* What to reduce with; an "Options struct" (base.h). Values are plain bytes: they are copied with
 * memcpy and own nothing. They come aligned to a cache line. */
typedef struct filch_reducer {
    size_t size;
    size_t value_bytes;
    void (*identity)(void *ctx, void *value); /* set to the neutral value; NULL: zero bytes */
    /* take the elements of `range` into `value`, which holds what came before them */
    void (*fold)(filch_cx *cx, void *ctx, filch_range range, void *value);
    /* left = left followed by right; need not commute, must be associative enough for you */
    void (*combine)(void *ctx, void *left, const void *right);
    uintptr_t reserved[4];
} filch_reducer;

#define FILCH_REDUCER_INIT                                                                         \
    {                                                                                              \
        sizeof(filch_reducer), 0, NULL, NULL, NULL,                                                \
        {                                                                                          \
            0, 0, 0, 0                                                                             \
        }                                                                                          \
    }

/* Reduce n elements to one value; n = 0 gives the neutral value.
 * Threads, Blocks, Order: as filch_for, filch_for_on.
 * Fails:   FILCH_E_INVALID, FILCH_E_NOMEM (*out_value is untouched); _on also as filch_for_on. */
FILCH_API filch_status filch_reduce(filch_cx *cx, size_t n, const filch_reducer *reducer, void *ctx,
                                    void *out_value, const filch_loop *options);
FILCH_API filch_status filch_reduce_on(filch_pool *pool, size_t n, const filch_reducer *reducer,
                                       void *ctx, void *out_value, const filch_loop *options);

/* Write the results of the elements of `range`. `value` is a copy of all that comes before them, to
 * go on with: for an exclusive scan write it and then add the element, for an inclusive one add the
 * element first. */
typedef void filch_emit_fn(filch_cx *cx, void *ctx, filch_range range, void *value);

/* Running totals. Each leaf is folded, then emitted; those at the front are emitted while others are
 * still folded. If there is only one leaf it is not folded, unless the total is asked for.
 * `out_total` may be NULL. Emitting may overwrite the elements of its range.
 * Threads, Blocks, Order, Fails: as filch_reduce; after a failure nothing was emitted. */
FILCH_API filch_status filch_scan(filch_cx *cx, size_t n, const filch_reducer *reducer,
                                  filch_emit_fn *emit, void *ctx, void *out_total,
                                  const filch_loop *options);
FILCH_API filch_status filch_scan_on(filch_pool *pool, size_t n, const filch_reducer *reducer,
                                     filch_emit_fn *emit, void *ctx, void *out_total,
                                     const filch_loop *options);

/* Not zero: keep the element. Called once for each, in any order, from several threads at once. */
typedef int filch_keep_fn(const void *element, void *ctx);

/* Copy those of n elements of `width` bytes that are to be kept to `out`, in their order, and count
 * them. `out` has room for all that are kept and does not overlap `base`.
 * Threads, Blocks, Order, Fails: as filch_reduce; after a failure nothing was copied. */
FILCH_API filch_status filch_pack(filch_cx *cx, const void *base, size_t n, size_t width,
                                  filch_keep_fn *keep, void *ctx, void *out, size_t *out_count,
                                  const filch_loop *options);
FILCH_API filch_status filch_pack_on(filch_pool *pool, const void *base, size_t n, size_t width,
                                     filch_keep_fn *keep, void *ctx, void *out, size_t *out_count,
                                     const filch_loop *options);

/* ---- sorting and merging ---- */

/* Below zero: a comes before b. Nothing else is asked: zero and above mean the same. */
typedef int filch_compare_fn(const void *a, const void *b, void *ctx);

/* Sort n elements of `width` bytes; equal ones keep their order. A comparator that contradicts itself
 * gives some order, with each element in it once. Needs n * width bytes of scratch from the pool's
 * allocator. While it waits it may run other forks, as any join (fork.h); in the body of a loop it
 * runs on its own thread.
 * Threads: the one `cx` was given to.    Blocks: until all is sorted.
 * Fails:   FILCH_E_INVALID, FILCH_E_NOMEM; the elements are untouched. */
FILCH_API filch_status filch_sort(filch_cx *cx, void *base, size_t n, size_t width,
                                  filch_compare_fn *compare, void *ctx);

/* The same on a pool; it runs on a worker while the caller waits.
 * Threads: any.      Blocks: until all is sorted; first while the injector is full.
 * Fails:   as filch_sort, and as filch_run. */
FILCH_API filch_status filch_sort_on(filch_pool *pool, void *base, size_t n, size_t width,
                                     filch_compare_fn *compare, void *ctx);

/* Merge the sorted elements at `a` and at `b` into `out`, which overlaps neither; of equal ones
 * those of `a` come first.
 * Threads, Blocks: as filch_sort, filch_sort_on.    Fails: FILCH_E_INVALID; _on: as filch_run. */
FILCH_API filch_status filch_merge(filch_cx *cx, const void *a, size_t a_count, const void *b,
                                   size_t b_count, void *out, size_t width,
                                   filch_compare_fn *compare, void *ctx);
FILCH_API filch_status filch_merge_on(filch_pool *pool, const void *a, size_t a_count,
                                      const void *b, size_t b_count, void *out, size_t width,
                                      filch_compare_fn *compare, void *ctx);

FILCH_END_DECLS

#endif
