/* SPDX-License-Identifier: MIT */
/* Every workload in plain code on one thread; the files of the two serial contestants include it,
 * each once. They define SERIAL_CALL, how a recursive function or a leaf is declared,
 * SERIAL_KEEP(value), which may keep the call before it a call, and serial_sort. */
#include "bench/grid/serve.h"
#include "bench/support/keep.h"

SERIAL_CALL uint64_t fib(size_t n)
{
    if (n < 2) {
        return n;
    }
    const uint64_t first = fib(n - 1);
    uint64_t second = fib(n - 2);
    SERIAL_KEEP(second);
    return first + second;
}

static uint64_t run_fib(grid_input *input)
{
    return fib(input->n);
}

SERIAL_CALL uint64_t tree_sum(const grid_tree_node *nodes, uint32_t at)
{
    const grid_tree_node *const node = &nodes[at];
    if (node->left == 0) {
        return node->value;
    }
    const uint64_t left = tree_sum(nodes, node->left);
    uint64_t right = tree_sum(nodes, node->right);
    SERIAL_KEEP(right);
    return node->value + left + right;
}

static uint64_t run_tree(grid_input *input)
{
    return tree_sum(input->tree, 0);
}

SERIAL_CALL uint64_t queens(uint32_t all, uint32_t columns, uint32_t left, uint32_t right)
{
    if (columns == all) {
        return 1;
    }
    uint64_t ways = 0;
    for (uint32_t open = all & ~(columns | left | right); open != 0; open &= open - 1) {
        const uint32_t bit = open & (~open + 1);
        ways += queens(all, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return ways;
}

static uint64_t run_queens(grid_input *input)
{
    const grid_queens start = grid_queens_start((unsigned)input->n);
    return queens(start.all, start.columns, start.left, start.right);
}

SERIAL_CALL uint64_t uts(const grid_uts_tree *tree, const grid_uts_node *node)
{
    const unsigned children = grid_uts_children(tree, node);
    uint64_t nodes = 1;
    for (unsigned i = 0; i < children; i++) {
        const grid_uts_node child = grid_uts_child(node, i);
        nodes += uts(tree, &child);
    }
    return nodes;
}

static uint64_t run_uts(grid_input *input)
{
    const grid_uts_node root = grid_uts_root(&input->uts);
    return uts(&input->uts, &root);
}

static uint64_t run_sort(grid_input *input)
{
    serial_sort(input);
    return 0;
}

SERIAL_CALL void matmul_row(grid_input *input, size_t i)
{
    grid_matmul_row(input->a, input->b, input->c, input->n, i);
}

static uint64_t run_matmul(grid_input *input)
{
    for (size_t i = 0; i < input->n; i++) {
        matmul_row(input, i);
    }
    return 0;
}

SERIAL_CALL void heat_row(grid_input *input, size_t step, size_t i)
{
    grid_heat_row(input->grid[step % 2], input->grid[(step + 1) % 2], input->n, i);
}

static uint64_t run_heat(grid_input *input)
{
    for (size_t step = 0; step < input->steps; step++) {
        for (size_t i = 1; i + 1 < input->n; i++) {
            heat_row(input, step, i);
        }
    }
    return 0;
}

SERIAL_CALL uint64_t spin(uint64_t x, uint64_t iters)
{
    return grid_spin(x, iters);
}

/* sweep, coarse, handful, spine: without tasks they are the same. */
static uint64_t run_spins(grid_input *input)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < input->n; i++) {
        sum += spin(i, input->iters);
    }
    return sum;
}

BENCH_OUT_OF_LINE static void add_one(uint64_t *count)
{
    ++*count;
}

/* An empty task is still a call, to a function that nobody knows before. */
static uint64_t run_flood(grid_input *input)
{
    void (*task)(uint64_t * count) = add_one;
    uint64_t count = 0;
    for (size_t i = 0; i < input->n; i++) {
        BENCH_KEEP(task);
        task(&count);
    }
    return count;
}

SERIAL_CALL uint64_t pareto(const grid_input *input, size_t lo, size_t hi)
{
    if (hi - lo == 1) {
        return grid_spin(lo, grid_pareto_cost(lo, input->scale));
    }
    const size_t middle = lo + (hi - lo) / 2;
    const uint64_t first = pareto(input, lo, middle);
    uint64_t second = pareto(input, middle, hi);
    SERIAL_KEEP(second);
    return first + second;
}

static uint64_t run_pareto(grid_input *input)
{
    return pareto(input, 0, input->n);
}

#define SERIAL_WAYS                                                                                \
    {                                                                                              \
        [GRID_FIB] = { .run = run_fib }, [GRID_TREE] = { .run = run_tree },                        \
        [GRID_QUEENS] = { .run = run_queens }, [GRID_UTS] = { .run = run_uts },                    \
        [GRID_SORT] = { .run = run_sort }, [GRID_MATMUL] = { .run = run_matmul },                  \
        [GRID_HEAT] = { .run = run_heat }, [GRID_SWEEP] = { .run = run_spins },                    \
        [GRID_COARSE] = { .run = run_spins }, [GRID_HANDFUL] = { .run = run_spins },               \
        [GRID_FLOOD] = { .run = run_flood }, [GRID_SPINE] = { .run = run_spins },                  \
        [GRID_PARETO] = {                                                                          \
            .run = run_pareto                                                                      \
        }                                                                                          \
    }
