/* SPDX-License-Identifier: MIT */
/* The counters of one worker. Only that worker writes them, with a plain load and store each; any
 * thread may read them. They are on slow paths only: a fork that nobody steals counts nothing. */
#ifndef FILCHI_REC_COUNTERS_H
#define FILCHI_REC_COUNTERS_H

#include "base/atomic.h"

typedef enum filchi_counter {
    FILCHI_COUNT_RUN,
    FILCHI_COUNT_CANCELLED,
    FILCHI_COUNT_LATE, /* of the cancelled */
    FILCHI_COUNT_INLINE,
    FILCHI_COUNT_POSTED,
    FILCHI_COUNT_INJECTED,
    FILCHI_COUNT_FORKS_OFFERED,
    FILCHI_COUNT_FORKS_STOLEN,
    FILCHI_COUNT_FORKS_FORCED,
    FILCHI_COUNT_BARRIERS,
    FILCHI_COUNT_LOOPS_JOINED,
    FILCHI_COUNT_STEALS_WON,
    FILCHI_COUNT_STEALS_LOST,
    FILCHI_COUNT_STEALS_EMPTY,
    FILCHI_COUNT_PARKS,
    FILCHI_COUNT_WAKES,
    FILCHI_COUNT_PLACED,
    FILCHI_COUNT_PACES,
    FILCHI_COUNT_PACED_NS,
    FILCHI_COUNTERS
} filchi_counter;

typedef struct filchi_counters {
    filchi_atomic_u64 values[FILCHI_COUNTERS];
} filchi_counters;

static inline void filchi_counters_add_many(filchi_counters *counters, filchi_counter which,
                                            uint64_t count)
{
    filchi_atomic_u64 *value = &counters->values[which];
    /* relaxed: one writer; readers want a moment's view */
    filchi_store_relaxed_u64(value, filchi_load_relaxed_u64(value) + count);
}

static inline void filchi_counters_add(filchi_counters *counters, filchi_counter which)
{
    filchi_counters_add_many(counters, which, 1);
}

static inline void filchi_counters_take_back(filchi_counters *counters, filchi_counter which)
{
    filchi_atomic_u64 *value = &counters->values[which];
    filchi_store_relaxed_u64(value, filchi_load_relaxed_u64(value) - 1); /* relaxed: as above */
}

static inline uint64_t filchi_counters_get(const filchi_counters *counters, filchi_counter which)
{
    /* relaxed: a moment's view */
    return filchi_load_relaxed_u64(&counters->values[which]);
}

#endif
