/* SPDX-License-Identifier: MIT */
/* One-shot completion with at most one waiter: "this child is done". Setting it is the setter's
 * last touch of the latch, so the waiter may free it as soon as it sees it set.
 *
 * The state is 0 (open), DONE, or the parker of the waiter. A setter takes the parker out of the
 * state with the very exchange that sets it; the parker is then all it touches.
 *
 * A thread whose parker serves other wakers too (a worker) may leave before its token arrives and
 * finds a stale one later. A thread that frees its parker (a foreign thread, whose parker lies on
 * its stack) must take the token once it has registered: filchi_latch_wait does. */
#ifndef FILCHI_SYNC_LATCH_H
#define FILCHI_SYNC_LATCH_H

#include "plat/plat.h"

typedef struct filchi_latch {
    filchi_atomic_uptr state;
} filchi_latch;

enum { FILCHI_LATCH_OPEN = 0, FILCHI_LATCH_DONE = 1 };

static inline void filchi_latch_init(filchi_latch *latch)
{
    /* relaxed: whatever publishes the latch to its setter publishes this */
    filchi_store_relaxed_uptr(&latch->state, FILCHI_LATCH_OPEN);
}

/* What the setter wrote before is visible when this is true. */
static inline bool filchi_latch_is_set(const filchi_latch *latch)
{
    /* [LATCH-1] acquire, pairs with LATCH-2: the result is visible once the latch reads DONE. */
    return filchi_load_acquire_uptr(&latch->state) == FILCHI_LATCH_DONE;
}

/* Set it and wake the waiter, if one has registered. Any thread, once. */
void filchi_latch_set(filchi_latch *latch);

/* Ask for `parker` to be unparked at the set. False: it is set already. */
bool filchi_latch_register(filchi_latch *latch, filchi_parker *parker);

/* Take that back. False: it was set meanwhile, and a token is on its way to the parker. */
bool filchi_latch_unregister(filchi_latch *latch, filchi_parker *parker);

/* Spin briefly. Is it set? */
bool filchi_latch_spin(const filchi_latch *latch);

/* Park until it is set; takes the token it was promised. */
void filchi_latch_sleep(filchi_latch *latch, filchi_parker *parker);

/* Spin, then sleep. */
void filchi_latch_wait(filchi_latch *latch, filchi_parker *parker);

#endif
