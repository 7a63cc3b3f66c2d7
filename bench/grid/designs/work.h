/* SPDX-License-Identifier: MIT */
/* The workloads of the grid against design.h, for designs.c. */
#ifndef BENCH_GRID_DESIGNS_WORK_H
#define BENCH_GRID_DESIGNS_WORK_H

#include "bench/designs/design.h"
#include "bench/grid/work/input.h"

/* One piece of a loop, or one of many tasks. */
typedef struct designs_piece {
    design_task task;
    size_t lo;
    size_t hi;
    uint64_t sum;
} designs_piece;

/* The one pool that runs, and what its tasks share. */
typedef struct designs_state {
    const design *on;
    void *pool;
    unsigned threads;
    const grid_input *input;
    designs_piece *pieces;
    size_t piece_count;
} designs_state;

extern designs_state designs;

/* Have room for `count` pieces; NULL, or what is wrong. */
const char *designs_ready(size_t count);

/* Run a root and wait for it. */
void designs_run(design_fn *fn, void *arg);

/* forks.c */
uint64_t designs_fib(grid_input *input);
uint64_t designs_tree(grid_input *input);
uint64_t designs_queens(grid_input *input);
uint64_t designs_uts(grid_input *input);
uint64_t designs_pareto(grid_input *input);
uint64_t designs_sort(grid_input *input);

/* loops.c; designs_spins is sweep, coarse, handful and spine */
const char *designs_ready_loop(grid_input *input);
uint64_t designs_matmul(grid_input *input);
uint64_t designs_heat(grid_input *input);
uint64_t designs_spins(grid_input *input);
uint64_t designs_flood(grid_input *input);

#endif
