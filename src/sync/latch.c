/* SPDX-License-Identifier: MIT */
/* The slow side of the latch. See latch.h for the states. */
#include "sync/latch.h"

#include "sync/backoff.h"

enum { SPIN_ROUNDS = 16 /* about 15 us: the latency of a wake */ };

void filchi_latch_set(filchi_latch *latch)
{
    /* [LATCH-2] acq_rel, pairs with LATCH-1, LATCH-3, LATCH-4: the result is written before DONE
     * is seen, and the waiter's parker is ready before it is used. */
    const uintptr_t before = filchi_xchg_acq_rel_uptr(&latch->state, FILCHI_LATCH_DONE);
    if (before != FILCHI_LATCH_OPEN) {
        filchi_unpark((filchi_parker *)before); /* the latch may be gone */
    }
}

bool filchi_latch_register(filchi_latch *latch, filchi_parker *parker)
{
    /* [LATCH-3] acq_rel, pairs with LATCH-2: the setter sees the parker, or we see the result. */
    return filchi_cas_acq_rel_uptr(&latch->state, FILCHI_LATCH_OPEN, (uintptr_t)parker);
}

bool filchi_latch_unregister(filchi_latch *latch, filchi_parker *parker)
{
    /* [LATCH-4] acquire, pairs with LATCH-2: failing, we see the result. A setter that finds the
     * latch open again uses nothing of ours. */
    return filchi_cas_acquire_uptr(&latch->state, (uintptr_t)parker, FILCHI_LATCH_OPEN);
}

bool filchi_latch_spin(const filchi_latch *latch)
{
    filchi_backoff backoff;
    filchi_backoff_reset(&backoff);
    for (int round = 0; round < SPIN_ROUNDS; round++) {
        if (filchi_latch_is_set(latch)) {
            return true;
        }
        filchi_backoff_wait(&backoff);
    }
    return false;
}

void filchi_latch_sleep(filchi_latch *latch, filchi_parker *parker)
{
    if (!filchi_latch_register(latch, parker)) {
        return;
    }
    do {
        (void)filchi_park(parker, INT64_MAX);
    } while (!filchi_latch_is_set(latch));
}

void filchi_latch_wait(filchi_latch *latch, filchi_parker *parker)
{
    if (!filchi_latch_spin(latch)) {
        filchi_latch_sleep(latch, parker);
    }
}
