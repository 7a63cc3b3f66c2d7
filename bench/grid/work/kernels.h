/* SPDX-License-Identifier: MIT */
/* What a task of the grid does once it runs: serial code that all contestants in C and C++ share,
 * so that they differ in nothing but how tasks are made, found and waited for. C11 and C++17. */
#ifndef BENCH_GRID_KERNELS_H
#define BENCH_GRID_KERNELS_H

#include "bench/grid/work/stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- tree: a complete binary tree, its nodes in depth-first order ---- */

typedef struct grid_tree_node {
    uint32_t left; /* index of a child; 0: none */
    uint32_t right;
    uint64_t value;
} grid_tree_node;

/* ---- queens: a bit for each column; all placements of the first rows are tasks ---- */

enum { GRID_QUEENS_ROWS = 4, GRID_QUEENS_MOST = 16 };

typedef struct grid_queens {
    uint32_t all; /* a bit for each column of the board */
    uint32_t columns;
    uint32_t left; /* attacked along the diagonals, in the row to fill */
    uint32_t right;
} grid_queens;

static inline grid_queens grid_queens_start(unsigned n)
{
    const grid_queens start = { (1u << n) - 1, 0, 0, 0 };
    return start;
}

/* The free columns of the row to fill. */
static inline uint32_t grid_queens_free(grid_queens board)
{
    return board.all & ~(board.columns | board.left | board.right);
}

/* The board with a queen in the column `bit` of that row, and the next row to fill. */
static inline grid_queens grid_queens_place(grid_queens board, uint32_t bit)
{
    board.columns |= bit;
    board.left = (board.left | bit) << 1;
    board.right = (board.right | bit) >> 1;
    return board;
}

/* No more tasks from here on: `row` rows are filled. */
static inline bool grid_queens_is_leaf(grid_queens board, unsigned row)
{
    return row >= GRID_QUEENS_ROWS || board.columns == board.all;
}

/* Ways to fill the rest of the board; the words of a board one by one, which compilers keep in
 * registers. */
static inline uint64_t grid_queens_rest(uint32_t all, uint32_t columns, uint32_t left,
                                        uint32_t right)
{
    if (columns == all) {
        return 1;
    }
    uint64_t ways = 0;
    for (uint32_t open = all & ~(columns | left | right); open != 0; open &= open - 1) {
        const uint32_t bit = open & (~open + 1);
        ways += grid_queens_rest(all, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return ways;
}

static inline uint64_t grid_queens_count(grid_queens board)
{
    return grid_queens_rest(board.all, board.columns, board.left, board.right);
}

/* ---- sort: for contestants without a sort of their own, and below their cut-off ---- */

/* Merge two sorted runs into `out`. */
static inline void grid_merge(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count,
                              uint64_t *out)
{
    size_t i = 0;
    size_t j = 0;
    while (i < a_count && j < b_count) {
        *out++ = b[j] < a[i] ? b[j++] : a[i++];
    }
    memcpy(out, a + i, (a_count - i) * sizeof *a);
    memcpy(out + (a_count - i), b + j, (b_count - j) * sizeof *b);
}

/* Merge sort; `scratch` has room for n. */
static inline void grid_sort(uint64_t *a, size_t n, uint64_t *scratch)
{
    if (n <= 16) {
        for (size_t i = 1; i < n; i++) {
            const uint64_t value = a[i];
            size_t at = i;
            for (; at > 0 && value < a[at - 1]; at--) {
                a[at] = a[at - 1];
            }
            a[at] = value;
        }
        return;
    }
    const size_t half = n / 2;
    grid_sort(a, half, scratch);
    grid_sort(a + half, n - half, scratch);
    memcpy(scratch, a, half * sizeof *a);
    size_t i = 0;
    size_t j = half;
    size_t out = 0;
    while (i < half && j < n) {
        a[out++] = a[j] < scratch[i] ? a[j++] : scratch[i++];
    }
    memcpy(a + out, scratch + i, (half - i) * sizeof *a);
}

/* ---- matmul and heat: one row; __restrict so that it is the same code wherever it is inlined ---- */

/* Row i of c = a * b, all n by n; c is zero before. */
static inline void grid_matmul_row(const double *__restrict a, const double *__restrict b,
                                   double *__restrict c, size_t n, size_t i)
{
    double *const row = c + i * n;
    for (size_t k = 0; k < n; k++) {
        const double factor = a[i * n + k];
        const double *const other = b + k * n;
        for (size_t j = 0; j < n; j++) {
            row[j] += factor * other[j];
        }
    }
}

/* Row i (1 to n - 2) of the next step. The border stays as it is. */
static inline void grid_heat_row(const uint32_t *__restrict from, uint32_t *__restrict to, size_t n,
                                 size_t i)
{
    const uint32_t *const row = from + i * n;
    for (size_t j = 1; j + 1 < n; j++) {
        to[i * n + j] = (row[j - n] + row[j + n] + row[j - 1] + row[j + 1]) / 4;
    }
}

#endif
