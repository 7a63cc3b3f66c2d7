/* SPDX-License-Identifier: MIT */
/* Inputs: read the arguments, make the data, sum up the result. See input.h. */
#include "bench/grid/work/input.h"

#include <stdlib.h>

enum { MAX_WORKLOAD_ARGS = 2 };

const grid_workload_info grid_workloads[GRID_WORKLOADS] = {
    { "fib", "fork one call, make the other, at every n from 2 up", { "30" }, { "20" } },
    { "tree", "the sum over a complete binary tree, a fork a node", { "20" }, { "12" } },
    { "queens", "place n queens, the first four rows as tasks", { "12" }, { "8" } },
    { "uts", "count an unbalanced tree, a task a child", { "T1", "T3" }, { "T1 5" } },
    { "sort", "sort n random 64-bit numbers", { "1000000" }, { "10000" } },
    { "matmul", "multiply two n by n matrices, rows in parallel", { "512" }, { "64" } },
    { "heat", "steps of a stencil on a grid, rows in parallel", { "1024 20" }, { "64 4" } },
    { "sweep",
      "a loop over elements of 0.1 us, in pieces of so many",
      { "1 1000000", "10 1000000", "100 1000000", "1000 1000000", "10000 1000000",
        "100000 1000000" },
      { "1000 10000" } },
    { "coarse", "many long tasks of the same length", { "64 500000" }, { "8 1000" } },
    { "handful", "only a few tasks", { "5 2000000" }, { "5 1000" } },
    { "flood", "one thread outside posts empty tasks", { "200000" }, { "1000" } },
    { "spine", "one task forks many tiny ones and joins them", { "100000 100" }, { "1000 10" } },
    { "pareto", "halve down to leaves of very unequal length", { "20000 400" }, { "500 20" } },
};

grid_workload grid_find_workload(const char *name, size_t length)
{
    unsigned found = 0;
    while (found < (unsigned)GRID_WORKLOADS &&
           (strlen(grid_workloads[found].name) != length ||
            memcmp(grid_workloads[found].name, name, length) != 0)) {
        found++;
    }
    return (grid_workload)found;
}

/* ---- arguments ---- */

/* The numbers in `text`, one blank between two; how many, or -1. */
static int read_numbers(const char *text, uint64_t out[MAX_WORKLOAD_ARGS])
{
    int count = 0;
    while (*text != '\0') {
        if (count == MAX_WORKLOAD_ARGS || *text < '0' || *text > '9') {
            return -1;
        }
        uint64_t value = 0;
        for (; *text >= '0' && *text <= '9'; text++) {
            value = value * 10 + (uint64_t)(*text - '0');
            if (value > UINT32_MAX) {
                return -1;
            }
        }
        out[count++] = value;
        if (*text == ' ') {
            text++;
        }
    }
    return count;
}

/* What the numbers of a workload may be; a second of 0 to 0 is none. */
static const struct limits {
    uint64_t least[MAX_WORKLOAD_ARGS];
    uint64_t most[MAX_WORKLOAD_ARGS];
} limits[GRID_WORKLOADS] = {
    [GRID_FIB] = { { 0, 0 }, { 50, 0 } },
    [GRID_TREE] = { { 1, 0 }, { 28, 0 } },
    [GRID_QUEENS] = { { 1, 0 }, { GRID_QUEENS_MOST, 0 } },
    [GRID_SORT] = { { 1, 0 }, { 1u << 28, 0 } },
    [GRID_MATMUL] = { { 1, 0 }, { 4096, 0 } },
    [GRID_HEAT] = { { 3, 1 }, { 16384, 100000 } },
    [GRID_SWEEP] = { { 1, 1 }, { 1u << 30, 1u << 30 } },
    [GRID_COARSE] = { { 1, 1 }, { 1u << 20, UINT32_MAX } },
    [GRID_HANDFUL] = { { 1, 1 }, { 1u << 20, UINT32_MAX } },
    [GRID_FLOOD] = { { 1, 0 }, { 1u << 26, 0 } },
    [GRID_SPINE] = { { 1, 1 }, { 1u << 24, UINT32_MAX } },
    [GRID_PARETO] = { { 1, 1 }, { 1u << 30, 1u << 20 } },
};

static const char *read_uts(grid_input *input, const char *args)
{
    if (strncmp(args, "T1", 2) != 0 && strncmp(args, "T3", 2) != 0) {
        return "the tree must be T1 or T3";
    }
    input->uts = args[1] == '1' ? grid_uts_t1 : grid_uts_t3;
    uint64_t depth[MAX_WORKLOAD_ARGS] = { 0 };
    if (args[2] == '\0') {
        return NULL;
    }
    if (args[2] != ' ' || read_numbers(args + 3, depth) != 1 || depth[0] == 0) {
        return "after the tree may stand a depth";
    }
    if (depth[0] < input->uts.depth) {
        input->uts.depth = (unsigned)depth[0];
    }
    return NULL;
}

static const char *read_args(grid_input *input, const char *args)
{
    if (input->workload == GRID_UTS) {
        return read_uts(input, args);
    }
    const struct limits *const limit = &limits[input->workload];
    uint64_t number[MAX_WORKLOAD_ARGS] = { 0 };
    if (read_numbers(args, number) != (limit->most[1] > 0 ? 2 : 1)) {
        return "wrong number of arguments, or no numbers";
    }
    for (unsigned i = 0; i < MAX_WORKLOAD_ARGS; i++) {
        if (number[i] < limit->least[i] || number[i] > limit->most[i]) {
            return "an argument is out of range";
        }
    }
    input->n = (size_t)number[0];
    switch (input->workload) {
    case GRID_TREE:
        input->n = ((size_t)1 << number[0]) - 1;
        break;
    case GRID_HEAT:
        input->steps = (size_t)number[1];
        break;
    case GRID_SWEEP:
        input->grain = (size_t)number[0];
        input->n = (size_t)number[1];
        input->iters = 100;
        break;
    case GRID_PARETO:
        input->scale = number[1];
        break;
    default:
        input->iters = number[1];
        break;
    }
    return NULL;
}

/* ---- data ---- */

/* Lay out the subtree of so many nodes at `at`. */
static void build_tree(grid_tree_node *tree, uint32_t at, uint32_t nodes)
{
    const uint32_t half = nodes / 2;
    tree[at] = (grid_tree_node){ half > 0 ? at + 1 : 0, half > 0 ? at + 1 + half : 0,
                                 grid_mix(at) & 0xffff };
    if (half > 0) {
        build_tree(tree, at + 1, half);
        build_tree(tree, at + 1 + half, half);
    }
}

static void fill_factors(double *a, double *b, size_t cells)
{
    for (size_t i = 0; i < cells; i++) {
        a[i] = (double)(grid_mix(i) & 7);
        b[i] = (double)(grid_mix(cells + i) & 7);
    }
}

/* What stays the same from run to run. False without memory. */
static bool make_data(grid_input *input)
{
    const size_t n = input->n;
    switch (input->workload) {
    case GRID_TREE:
        input->tree = malloc(n * sizeof *input->tree);
        if (input->tree != NULL) {
            build_tree(input->tree, 0, (uint32_t)n);
        }
        return input->tree != NULL;
    case GRID_SORT:
        input->words = malloc(n * sizeof *input->words);
        input->scratch = malloc(n * sizeof *input->scratch);
        return input->words != NULL && input->scratch != NULL;
    case GRID_MATMUL: {
        double *const a = malloc(n * n * sizeof *a);
        double *const b = malloc(n * n * sizeof *b);
        input->a = a;
        input->b = b;
        input->c = malloc(n * n * sizeof *input->c);
        if (a != NULL && b != NULL) {
            fill_factors(a, b, n * n);
        }
        return a != NULL && b != NULL && input->c != NULL;
    }
    case GRID_HEAT:
        input->grid[0] = malloc(n * n * sizeof *input->grid[0]);
        input->grid[1] = malloc(n * n * sizeof *input->grid[1]);
        return input->grid[0] != NULL && input->grid[1] != NULL;
    default:
        return true;
    }
}

/* What a run uses up. */
static void refill(grid_input *input)
{
    const size_t n = input->n;
    if (input->workload == GRID_SORT) {
        for (size_t i = 0; i < n; i++) {
            input->words[i] = grid_mix(i);
        }
    } else if (input->workload == GRID_MATMUL) {
        memset(input->c, 0, n * n * sizeof *input->c);
    } else if (input->workload == GRID_HEAT) {
        for (size_t i = 0; i < n * n; i++) {
            input->grid[0][i] = (uint32_t)(grid_mix(i) & 0xffff);
            input->grid[1][i] = input->grid[0][i];
        }
    }
}

const char *grid_prepare(grid_input *input, grid_workload workload, const char *args)
{
    if (input->workload != workload || input->args[0] == '\0' || strcmp(input->args, args) != 0) {
        grid_release(input);
        if (strlen(args) >= GRID_ARGS_BYTES) {
            return "the arguments are too long";
        }
        input->workload = workload;
        const char *wrong = read_args(input, args);
        if (wrong == NULL && !make_data(input)) {
            wrong = "no memory";
        }
        if (wrong != NULL) {
            grid_release(input);
            return wrong;
        }
        memcpy(input->args, args, strlen(args) + 1);
    }
    refill(input);
    return NULL;
}

uint64_t grid_checksum(const grid_input *input, uint64_t returned)
{
    const size_t cells = input->n * input->n;
    uint64_t sum = 0;
    switch (input->workload) {
    case GRID_SORT:
        for (size_t i = 0; i < input->n; i++) {
            sum ^= grid_mix(input->words[i] + i);
        }
        return sum;
    case GRID_MATMUL:
        for (size_t i = 0; i < cells; i++) {
            sum += (uint64_t)input->c[i];
        }
        return sum;
    case GRID_HEAT:
        for (size_t i = 0; i < cells; i++) {
            sum += input->grid[input->steps % 2][i];
        }
        return sum;
    default:
        return returned;
    }
}

void grid_release(grid_input *input)
{
    free(input->tree);
    free(input->words);
    free(input->scratch);
    free((void *)(uintptr_t)input->a); /* they are const for the contestants only */
    free((void *)(uintptr_t)input->b);
    free(input->c);
    free(input->grid[0]);
    free(input->grid[1]);
    memset(input, 0, sizeof *input);
}
