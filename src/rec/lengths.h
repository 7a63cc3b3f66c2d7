/* SPDX-License-Identifier: MIT */
/* How long a worker's tasks took: a count for each bucket of lengths. A power of two has eight
 * buckets, so that a bucket is at most an eighth wider than its shortest length; lengths below
 * sixteen have one each. Only the worker counts, any thread may read. */
#ifndef FILCHI_REC_LENGTHS_H
#define FILCHI_REC_LENGTHS_H

#include <filch/stats.h>

#include "base/atomic.h"
#include "base/compiler.h"

enum { FILCHI_LENGTH_SPLIT_LOG2 = 3, FILCHI_LENGTH_SPLIT = 1 << FILCHI_LENGTH_SPLIT_LOG2 };

typedef struct filchi_lengths {
    filchi_atomic_u64 counts[FILCH_LENGTH_BUCKETS];
    filchi_atomic_u64 sum_ns;
    uint64_t inner_ns; /* the worker's own: of tasks that ran inside the present one */
} filchi_lengths;

static inline unsigned filchi_length_bucket(uint64_t ns)
{
    if (ns < FILCHI_LENGTH_SPLIT) {
        return (unsigned)ns;
    }
    const unsigned shift = filchi_log2_u64(ns) - FILCHI_LENGTH_SPLIT_LOG2;
    return shift * FILCHI_LENGTH_SPLIT + (unsigned)(ns >> shift);
}

/* The shortest length in a bucket. */
static inline uint64_t filchi_length_from(unsigned bucket)
{
    if (bucket < 2 * FILCHI_LENGTH_SPLIT) {
        return bucket;
    }
    const unsigned shift = bucket / FILCHI_LENGTH_SPLIT - 1;
    return (uint64_t)(FILCHI_LENGTH_SPLIT + bucket % FILCHI_LENGTH_SPLIT) << shift;
}

static inline void filchi_lengths_record(filchi_lengths *lengths, uint64_t ns)
{
    filchi_atomic_u64 *count = &lengths->counts[filchi_length_bucket(ns)];
    /* relaxed: one writer; readers want a moment's view */
    filchi_store_relaxed_u64(count, filchi_load_relaxed_u64(count) + 1);
    filchi_store_relaxed_u64(&lengths->sum_ns, filchi_load_relaxed_u64(&lengths->sum_ns) + ns);
}

#endif
