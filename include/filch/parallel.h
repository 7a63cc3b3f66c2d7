/* SPDX-License-Identifier: MIT */
/* Indexed loops: [0, n) in pieces, the caller takes part, idle workers join in.
 *
 * Each participant owns a range of pieces and takes from its front; who has none left halves the
 * rest of another. Nothing is split while nobody is idle. A loop is isolated: while it waits for
 * the last pieces it runs nothing else, and inside its body every join waits likewise. So what the
 * body holds - a slot, thread-locals, a lock - stays its own. Loops nest without deadlock.
 *
 * Lazy splitting: Tzannes, Caragea, Barua, Vishkin, PPoPP 2010. */
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
    unsigned flags; /* none yet */
    size_t grain;   /* indices of a piece: piece k is [k * grain, (k + 1) * grain), the last may be
                       short; 0: n / (64 * workers), at least 1 */
    uintptr_t reserved[4];
} filch_loop;

#define FILCH_LOOP_INIT                                                                            \
    {                                                                                              \
        sizeof(filch_loop), 0, 0,                                                                  \
        {                                                                                          \
            0, 0, 0, 0                                                                             \
        }                                                                                          \
    }

/* Call `body` so that each index below n is covered exactly once. n = 0 is FILCH_OK, without a
 * call. NULL options: automatic grain.
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

FILCH_END_DECLS

#endif
