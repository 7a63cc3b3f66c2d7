/* SPDX-License-Identifier: MIT */
/* A contestant of the grid in C or C++: what it brings, and the line protocol that runs it.
 *
 * A program is `int main(int argc, char **argv) { return grid_serve(&me, argc, argv); }`. The
 * protocol is in README.md; contestants in other languages speak it themselves. */
#ifndef BENCH_GRID_SERVE_H
#define BENCH_GRID_SERVE_H

#include "bench/grid/work/input.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct grid_contestant grid_contestant;

/* Does the work once and returns what input.h says. Only this is timed. */
typedef uint64_t grid_run_fn(grid_input *input);

/* One workload of a contestant: how to run it, or why there is no way. */
typedef struct grid_way {
    grid_run_fn *run;
    const char *none; /* if `run` is NULL */
    /* Get ready for `input`, not timed; before each run. Returns NULL, or why it cannot be done.
     * May be NULL itself. */
    const char *(*ready)(grid_input *input);
} grid_way;

struct grid_contestant {
    const char *name;    /* one word */
    const char *version; /* in words, with the configuration */
    const void *kind;    /* the contestant's own */

    /* Make `threads` threads ready; NULL, or what is wrong. Both may be NULL. */
    const char *(*start)(const grid_contestant *self, unsigned threads);
    void (*stop)(void);

    grid_way ways[GRID_WORKLOADS]; /* in the order of grid_workload */
};

/* Answer lines from stdin on stdout until `quit` or the end of input. argv[1] is the number of
 * threads. Returns the exit code. */
int grid_serve(const grid_contestant *contestant, int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
