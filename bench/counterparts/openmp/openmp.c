/* SPDX-License-Identifier: MIT */
/* Contestant "openmp": a loop with schedule(static), by the OpenMP of the compiler that builds this. The
 * caller is one of the threads; what they wait with between two loops is the runtime's affair. */
#include "bench/counterparts/work.h"

#include <stdlib.h>

static void *start(unsigned threads)
{
    int *made = malloc(sizeof(*made));
    int ran = 0;
    if (made == NULL) {
        return NULL;
    }
    *made = (int)threads;
#pragma omp parallel num_threads(*made) reduction(+ : ran)
    ran += 1;
    if (ran != *made) {
        free(made);
        return NULL;
    }
    return made;
}

static bool run(void *pool, const work *job, uint64_t *places)
{
    const int *threads = pool;
    for (size_t i = 0; i < job->repeats; i++) {
#pragma omp parallel for schedule(static) num_threads(*threads)
        for (size_t k = 0; k < job->pieces; k++) {
            work_piece(job, &places[k], k);
        }
    }
    return true;
}

const counterpart counterpart_openmp = {
    .name = "openmp", .start = start, .run = run, .stop = free
};
