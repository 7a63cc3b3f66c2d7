/* SPDX-License-Identifier: MIT */
/* How tasks ended, counted: for tests in which each posts with `note_end`. */
#ifndef FILCH_TEST_ENDS_H
#define FILCH_TEST_ENDS_H

#include "support/pool.h"

static atomic_uint runs;
static atomic_uint ends[FILCH_LATE + 1];

static inline void begin(void)
{
    atomic_store(&runs, 0);
    for (size_t i = 0; i < TEST_CASES(ends); i++) {
        atomic_store(&ends[i], 0);
    }
}

static inline void note_end(void *arg, filch_end how)
{
    (void)arg;
    atomic_fetch_add(&ends[how], 1);
}

#endif
