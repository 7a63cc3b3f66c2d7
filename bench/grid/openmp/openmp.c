/* SPDX-License-Identifier: MIT */
/* Contestants "gomp" (gcc, libgomp) and "omp" (clang, libomp): tasks and taskwait for forks, loops
 * with dynamic or static schedules, as the OpenMP examples show them. The caller is one of the
 * threads. Environment variables of the runtimes are left alone: what they wait with is theirs. */
#include "bench/grid/openmp/openmp.h"
#include "bench/grid/serve.h"

#include <omp.h>
#include <stdlib.h>

/* A sum for each thread, on a cache line of its own. */
typedef struct slot {
    _Alignas(64) uint64_t sum;
} slot;

static slot *slots;

static void add_to_slot(uint64_t value)
{
    slots[omp_get_thread_num()].sum += value;
}

static uint64_t take_slots(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < omp_get_max_threads(); i++) {
        sum += slots[i].sum;
        slots[i].sum = 0;
    }
    return sum;
}

/* ---- recursion: one thread starts, the others take tasks ---- */

static uint64_t fib(size_t n)
{
    if (n < 2) {
        return n;
    }
    uint64_t first;
#pragma omp task shared(first)
    first = fib(n - 1);
    const uint64_t second = fib(n - 2);
#pragma omp taskwait
    return first + second;
}

static uint64_t run_fib(grid_input *input)
{
    uint64_t result = 0;
#pragma omp parallel
#pragma omp single
    result = fib(input->n);
    return result;
}

static uint64_t tree_sum(const grid_tree_node *nodes, uint32_t at)
{
    const grid_tree_node *const node = &nodes[at];
    if (node->left == 0) {
        return node->value;
    }
    uint64_t left;
#pragma omp task shared(left)
    left = tree_sum(nodes, node->left);
    const uint64_t right = tree_sum(nodes, node->right);
#pragma omp taskwait
    return node->value + left + right;
}

static uint64_t run_tree(grid_input *input)
{
    uint64_t result = 0;
#pragma omp parallel
#pragma omp single
    result = tree_sum(input->tree, 0);
    return result;
}

static uint64_t pareto(size_t lo, size_t hi, uint64_t scale)
{
    if (hi - lo == 1) {
        return grid_spin(lo, grid_pareto_cost(lo, scale));
    }
    const size_t middle = lo + (hi - lo) / 2;
    uint64_t low;
#pragma omp task shared(low)
    low = pareto(lo, middle, scale);
    const uint64_t high = pareto(middle, hi, scale);
#pragma omp taskwait
    return low + high;
}

static uint64_t run_pareto(grid_input *input)
{
    uint64_t result = 0;
#pragma omp parallel
#pragma omp single
    result = pareto(0, input->n, input->scale);
    return result;
}

static uint64_t place(grid_queens board, unsigned row)
{
    if (grid_queens_is_leaf(board, row)) {
        return grid_queens_count(board);
    }
    uint64_t ways[GRID_QUEENS_MOST] = { 0 };
    unsigned count = 0;
    for (uint32_t open = grid_queens_free(board); open != 0; open &= open - 1) {
        const uint32_t bit = open & (~open + 1);
#pragma omp task shared(ways)
        ways[count] = place(grid_queens_place(board, bit), row + 1);
        count++;
    }
#pragma omp taskwait
    uint64_t sum = 0;
    for (unsigned i = 0; i < count; i++) {
        sum += ways[i];
    }
    return sum;
}

static uint64_t run_queens(grid_input *input)
{
    uint64_t result = 0;
#pragma omp parallel
#pragma omp single
    result = place(grid_queens_start((unsigned)input->n), 0);
    return result;
}

static uint64_t search(const grid_uts_tree *tree, const grid_uts_node *node)
{
    const unsigned children = grid_uts_children(tree, node);
    if (children == 0) {
        return 1;
    }
    uint64_t found[children];
    for (unsigned i = 0; i < children; i++) {
#pragma omp task shared(found)
        {
            const grid_uts_node child = grid_uts_child(node, i);
            found[i] = search(tree, &child);
        }
    }
#pragma omp taskwait
    uint64_t nodes = 1;
    for (unsigned i = 0; i < children; i++) {
        nodes += found[i];
    }
    return nodes;
}

static uint64_t run_uts(grid_input *input)
{
    const grid_uts_node root = grid_uts_root(&input->uts);
    uint64_t result = 0;
#pragma omp parallel
#pragma omp single
    result = search(&input->uts, &root);
    return result;
}

static uint64_t run_sort(grid_input *input)
{
    openmp_sort(input->words, input->n);
    return 0;
}

/* ---- loops ---- */

static uint64_t run_matmul(grid_input *input)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < input->n; i++) {
        grid_matmul_row(input->a, input->b, input->c, input->n, i);
    }
    return 0;
}

/* One parallel region for all steps: the loop ends with a barrier. */
static uint64_t run_heat(grid_input *input)
{
#pragma omp parallel
    for (size_t step = 0; step < input->steps; step++) {
#pragma omp for schedule(static)
        for (size_t i = 1; i < input->n - 1; i++) {
            grid_heat_row(input->grid[step % 2], input->grid[(step + 1) % 2], input->n, i);
        }
    }
    return 0;
}

static uint64_t spins(const grid_input *input, size_t grain)
{
    uint64_t sum = 0;
#pragma omp parallel for schedule(dynamic, grain) reduction(+ : sum)
    for (size_t i = 0; i < input->n; i++) {
        sum += grid_spin(i, input->iters);
    }
    return sum;
}

static uint64_t run_sweep(grid_input *input)
{
    return spins(input, input->grain);
}

static uint64_t run_coarse(grid_input *input)
{
    return spins(input, 1);
}

/* ---- many tiny tasks ---- */

static uint64_t run_flood(grid_input *input)
{
#pragma omp parallel
#pragma omp single
    for (size_t i = 0; i < input->n; i++) {
#pragma omp task
        add_to_slot(1);
    }
    return take_slots(); /* the barrier of `single` waits for all tasks */
}

static uint64_t run_spine(grid_input *input)
{
#pragma omp parallel
#pragma omp single
    {
        for (size_t i = 0; i < input->n; i++) {
#pragma omp task
            add_to_slot(grid_spin(i, input->iters));
        }
#pragma omp taskwait
    }
    return take_slots();
}

/* ---- life ---- */

static const char *start(const grid_contestant *self, unsigned threads)
{
    int running = 0;
    (void)self;
    omp_set_dynamic(0);
    omp_set_num_threads((int)threads);
#pragma omp parallel
#pragma omp single
    running = omp_get_num_threads();
    if (running != (int)threads) {
        return "fewer threads than asked for";
    }
    slots = aligned_alloc(sizeof(slot), threads * sizeof *slots);
    if (slots == NULL) {
        return "no memory";
    }
    memset(slots, 0, threads * sizeof *slots);
    return NULL;
}

static void stop(void)
{
    free(slots);
    slots = NULL;
}

#ifdef __clang__
#define NAME "omp"
#define RUNTIME "libomp of clang " __clang_version__
#else
#define NAME "gomp"
#define RUNTIME "libgomp of gcc " __VERSION__
#endif

static const grid_contestant openmp = {
    .name = NAME,
    .version = RUNTIME ", tied tasks, loops with schedule(dynamic, grain) or static, sort: "
                       "__gnu_parallel of libstdc++, waiting as the runtime does by itself",
    .start = start,
    .stop = stop,
    .ways = { [GRID_FIB] = { .run = run_fib },
              [GRID_TREE] = { .run = run_tree },
              [GRID_QUEENS] = { .run = run_queens },
              [GRID_UTS] = { .run = run_uts },
              [GRID_SORT] = { .run = run_sort },
              [GRID_MATMUL] = { .run = run_matmul },
              [GRID_HEAT] = { .run = run_heat },
              [GRID_SWEEP] = { .run = run_sweep },
              [GRID_COARSE] = { .run = run_coarse },
              [GRID_HANDFUL] = { .run = run_coarse },
              [GRID_FLOOD] = { .run = run_flood },
              [GRID_SPINE] = { .run = run_spine },
              [GRID_PARETO] = { .run = run_pareto } },
};

int main(int argc, char **argv)
{
    return grid_serve(&openmp, argc, argv);
}
