/* SPDX-License-Identifier: MIT */
/* The workload of the counterparts benchmark: what two of the designs in bench/designs do, done by the
 * libraries that C programs would use for it.
 *
 *   coarse   64 equal tasks of a millisecond or two, divided among the threads beforehand
 *   loop     500 loops of 1,000 steps of some 10 ns, one after the other, divided likewise
 *   post     200,000 tasks of next to nothing through a bounded queue, from one thread
 *
 * Each has its threads from the start. A piece of work adds to a place of its own, and the places are
 * looked at before anything is measured. */
#ifndef BENCH_COUNTERPARTS_WORK_H
#define BENCH_COUNTERPARTS_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WORK_THREADS = 2, WORK_ROUNDS = 21, WORK_MOST_PIECES = 200000 };

typedef struct work {
    const char *name;
    size_t repeats;
    size_t pieces; /* WORK_MOST_PIECES at most */
    size_t steps;  /* of a piece */
} work;

extern const work work_coarse;
extern const work work_loop;
extern const work work_post;

/* Piece `i` on the place it adds to. */
static inline void work_piece(const work *job, uint64_t *place, size_t i)
{
    uint64_t value = i;
    for (size_t step = 0; step < job->steps; step++) {
        value = value * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    }
    *place += value | 1;
}

typedef struct counterpart {
    const char *name;
    const char *missing; /* why it is not here; NULL: it is, and the rest is set */

    /* NULL: it could not. Not timed, as is the stop. */
    void *(*start)(unsigned threads);
    /* All repeats, on `places`, one a piece. Timed. */
    bool (*run)(void *pool, const work *job, uint64_t *places);
    void (*stop)(void *pool);
} counterpart;

extern const counterpart counterpart_static; /* bench/designs */
extern const counterpart counterpart_openmp;
extern const counterpart counterpart_queue; /* bench/designs */
extern const counterpart counterpart_ck;

#endif
