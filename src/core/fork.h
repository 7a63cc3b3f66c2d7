/* SPDX-License-Identifier: MIT */
/* The record of one outstanding fork, in the frame of whoever forked. A thief copies nothing: it
 * runs the record in place and sets the latch as its last touch. */
#ifndef FILCHI_CORE_FORK_H
#define FILCHI_CORE_FORK_H

#include <filch/fork.h>

#include "core/cx.h"
#include "sync/latch.h"

struct filchi_fork {
    filch_word_fn *fn;
    uintptr_t arg; /* brings the result back when a thief ran it */
    filchi_latch latch;
    filchi_fork *older; /* debug builds: outstanding before this one */
    bool isolated;      /* inherited by whoever runs it */
    bool ran_at_once;   /* there was no room in the deque; arg is the result */
};

_Static_assert(sizeof(filchi_fork) <= sizeof(filch_fork_handle), "the public handle is too small");

/* Wait for a record that a thief has: help with other forks, then sleep. */
void filchi_join_wait(filch_cx *cx, filchi_latch *latch);

/* Wait for a latch and run nothing meanwhile. */
void filchi_wait_alone(filch_cx *cx, filchi_latch *latch);

/* May a wait on this lane run other work? Not if it is isolated, or too deep. */
bool filchi_may_help(const filch_cx *cx);

#endif
