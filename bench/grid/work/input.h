/* SPDX-License-Identifier: MIT */
/* The workloads of the grid: their names, and what a contestant is given to work on.
 *
 * An input is prepared outside of the clock. A contestant reads it, writes where it is told to, and
 * returns a number; the checksum is made from both, outside of the clock again. C11 and C++17. */
#ifndef BENCH_GRID_INPUT_H
#define BENCH_GRID_INPUT_H

#include "bench/grid/work/kernels.h"
#include "bench/grid/work/uts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum grid_workload {
    GRID_FIB,
    GRID_TREE,
    GRID_QUEENS,
    GRID_UTS,
    GRID_SORT,
    GRID_MATMUL,
    GRID_HEAT,
    GRID_SWEEP,
    GRID_COARSE,
    GRID_HANDFUL,
    GRID_FLOOD,
    GRID_SPINE,
    GRID_PARETO,
    GRID_WORKLOADS /* how many there are */
} grid_workload;

enum { GRID_ARGS_BYTES = 64 };

/* Fields that a workload does not name are zero. What `run` returns stands behind the arrow. */
typedef struct grid_input {
    grid_workload workload;
    char args[GRID_ARGS_BYTES]; /* as they were given */

    size_t n;       /* fib: n -> fib(n) · queens: n -> ways · sort, matmul, heat: n -> 0 ·
                       tree: nodes -> sum of the values · sweep: elements -> sum ·
                       coarse, handful, spine: tasks -> sum · flood: tasks -> tasks that ran ·
                       pareto: leaves -> sum; uts -> nodes */
    uint64_t iters; /* sweep, coarse, handful, spine: element or task i is grid_spin(i, iters) */
    size_t grain;   /* sweep: elements of a piece */
    size_t steps;   /* heat: step s reads grid[s % 2] and writes grid[(s + 1) % 2] */
    uint64_t scale; /* pareto: leaf i is grid_spin(i, grid_pareto_cost(i, scale)) */

    grid_uts_tree uts;
    grid_tree_node *tree; /* node 0 is the root */
    uint64_t *words;      /* sort: n numbers to sort in place, filled anew before each run */
    uint64_t *scratch;    /* sort: room for n */
    const double *a;      /* matmul */
    const double *b;
    double *c;         /* zero */
    uint32_t *grid[2]; /* heat; the borders of both are filled in */
} grid_input;

/* What is known of a workload. The lists end with NULL; `sizes` are what is measured, `quick` is for
 * tests. */
typedef struct grid_workload_info {
    const char *name;
    const char *what;     /* a clause, for people */
    const char *sizes[7]; /* arguments, as in "run <workload> <arguments>" */
    const char *quick[2];
} grid_workload_info;

extern const grid_workload_info grid_workloads[GRID_WORKLOADS];

/* The workload of that name; GRID_WORKLOADS if there is none. */
grid_workload grid_find_workload(const char *name, size_t length);

/* Prepare `input` for the next run of a workload; call it before each. What it holds is kept if the
 * workload and the arguments are the same as last time. A zeroed struct is a valid, empty input.
 * NULL, or what is wrong with the arguments (`input` is then empty). */
const char *grid_prepare(grid_input *input, grid_workload workload, const char *args);

uint64_t grid_checksum(const grid_input *input, uint64_t returned);

/* Free what an input holds; it is empty then. */
void grid_release(grid_input *input);

#ifdef __cplusplus
}
#endif

#endif
