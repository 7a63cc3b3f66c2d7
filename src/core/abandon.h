/* SPDX-License-Identifier: MIT */
/* Pools whose tasks do not end: which ones they are, and a thread that waits for them in place of the
 * owner. */
#ifndef FILCHI_CORE_ABANDON_H
#define FILCHI_CORE_ABANDON_H

#include <filch/pool.h>

#include "core/worker.h"

/* What a report may say about the detached task that runs; one may run inside the post of another.
 * Relaxed, all: a moment's view, one writer. Returns the label of the one beneath. */
static inline const char *filchi_abandon_began(filchi_worker *worker, const char *label)
{
    const uintptr_t outer = filchi_load_relaxed_uptr(&worker->label);
    filchi_store_relaxed_uptr(&worker->label, (uintptr_t)label);
    if (FILCHI_UNLIKELY(worker->lengths != NULL)) {
        filchi_store_relaxed_u64(&worker->began_ns, (uint64_t)filchi_clock_ns());
    }
    filchi_store_relaxed_u32(&worker->running, filchi_load_relaxed_u32(&worker->running) + 1);
    return (const char *)outer;
}

static inline void filchi_abandon_ended(filchi_worker *worker, const char *outer_label)
{
    filchi_store_relaxed_u32(&worker->running, filchi_load_relaxed_u32(&worker->running) - 1);
    filchi_store_relaxed_uptr(&worker->label, (uintptr_t)outer_label);
}

/* Which tasks run now. */
void filchi_abandon_report(const filch_pool *pool, filch_shutdown_report *report);

/* Under `life`. Give the pool to a thread that destroys it when its tasks have ended; `life` is the
 * caller's last touch of it. FILCH_E_THREAD: nothing has changed. */
filch_status filchi_abandon_hand_over(filch_pool *pool);

#endif
