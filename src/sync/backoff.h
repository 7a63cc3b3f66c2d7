/* SPDX-License-Identifier: MIT */
/* How a thread waits that expects its turn soon: pauses that double up to a limit. */
#ifndef FILCHI_SYNC_BACKOFF_H
#define FILCHI_SYNC_BACKOFF_H

#include "base/compiler.h"

enum { FILCHI_BACKOFF_LIMIT = 64 /* pauses; about 1.5 us at 25 ns each */ };

typedef struct filchi_backoff {
    unsigned pauses;
} filchi_backoff;

static inline void filchi_backoff_reset(filchi_backoff *backoff)
{
    backoff->pauses = 1;
}

static inline void filchi_backoff_wait(filchi_backoff *backoff)
{
    for (unsigned i = 0; i < backoff->pauses; i++) {
        filchi_cpu_pause();
    }
    if (backoff->pauses < FILCHI_BACKOFF_LIMIT) {
        backoff->pauses *= 2;
    }
}

#endif
