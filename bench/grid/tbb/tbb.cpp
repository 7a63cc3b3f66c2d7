/* SPDX-License-Identifier: MIT */
/* Contestant "tbb": oneTBB. parallel_invoke for two tasks, task_group for more, parallel_for with the
 * partitioner that the documentation names for the case, parallel_sort. All runs in one arena of as
 * many threads as asked for; the caller is one of them. */
#include "bench/grid/serve.h"

#include <tbb/tbb.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

namespace {

/* A sum for each thread, on a cache line of its own: sums of tiny tasks go here, since a
 * parallel_reduce over as many pieces costs more. */
struct alignas(64) slot {
    uint64_t sum = 0;
};

std::optional<tbb::global_control> most_threads;
std::optional<tbb::global_control> stack_bytes;
std::optional<tbb::task_arena> arena;
std::vector<slot> slots;

using range = tbb::blocked_range<size_t>;

void add_to_slot(uint64_t value)
{
    slots[static_cast<size_t>(tbb::this_task_arena::current_thread_index())].sum += value;
}

uint64_t take_slots()
{
    uint64_t sum = 0;
    for (slot &s : slots) {
        sum += s.sum;
        s.sum = 0;
    }
    return sum;
}

/* ---- recursion ---- */

uint64_t fib(size_t n)
{
    if (n < 2) {
        return n;
    }
    uint64_t first = 0;
    uint64_t second = 0;
    tbb::parallel_invoke([&] { first = fib(n - 1); }, [&] { second = fib(n - 2); });
    return first + second;
}

uint64_t run_fib(grid_input *input)
{
    return arena->execute([&] { return fib(input->n); });
}

uint64_t tree_sum(const grid_tree_node *nodes, uint32_t at)
{
    const grid_tree_node &node = nodes[at];
    if (node.left == 0) {
        return node.value;
    }
    uint64_t left = 0;
    uint64_t right = 0;
    tbb::parallel_invoke([&] { left = tree_sum(nodes, node.left); },
                         [&] { right = tree_sum(nodes, node.right); });
    return node.value + left + right;
}

uint64_t run_tree(grid_input *input)
{
    return arena->execute([&] { return tree_sum(input->tree, 0); });
}

uint64_t pareto(size_t lo, size_t hi, uint64_t scale)
{
    if (hi - lo == 1) {
        return grid_spin(lo, grid_pareto_cost(lo, scale));
    }
    const size_t middle = lo + (hi - lo) / 2;
    uint64_t low = 0;
    uint64_t high = 0;
    tbb::parallel_invoke([&] { low = pareto(lo, middle, scale); },
                         [&] { high = pareto(middle, hi, scale); });
    return low + high;
}

uint64_t run_pareto(grid_input *input)
{
    return arena->execute([&] { return pareto(0, input->n, input->scale); });
}

uint64_t place(grid_queens board, unsigned row)
{
    if (grid_queens_is_leaf(board, row)) {
        return grid_queens_count(board);
    }
    uint64_t ways[GRID_QUEENS_MOST] = {};
    unsigned count = 0;
    tbb::task_group group;
    for (uint32_t open = grid_queens_free(board); open != 0; open &= open - 1) {
        const grid_queens next = grid_queens_place(board, open & (~open + 1));
        group.run([next, row, &result = ways[count++]] { result = place(next, row + 1); });
    }
    group.wait();
    uint64_t sum = 0;
    for (unsigned i = 0; i < count; i++) {
        sum += ways[i];
    }
    return sum;
}

uint64_t run_queens(grid_input *input)
{
    return arena->execute([&] { return place(grid_queens_start(unsigned(input->n)), 0); });
}

uint64_t search(const grid_uts_tree &tree, const grid_uts_node &node)
{
    const unsigned children = grid_uts_children(&tree, &node);
    if (children == 0) {
        return 1;
    }
    std::vector<uint64_t> found(children);
    tbb::task_group group;
    for (unsigned i = 0; i < children; i++) {
        group.run([&, i] { found[i] = search(tree, grid_uts_child(&node, i)); });
    }
    group.wait();
    return std::accumulate(found.begin(), found.end(), uint64_t{ 1 });
}

uint64_t run_uts(grid_input *input)
{
    const grid_uts_node root = grid_uts_root(&input->uts);
    return arena->execute([&] { return search(input->uts, root); });
}

uint64_t run_sort(grid_input *input)
{
    arena->execute([&] { tbb::parallel_sort(input->words, input->words + input->n); });
    return 0;
}

/* ---- loops ---- */

uint64_t run_matmul(grid_input *input)
{
    arena->execute([&] {
        tbb::parallel_for(range(0, input->n), [&](const range &rows) {
            for (size_t i = rows.begin(); i != rows.end(); i++) {
                grid_matmul_row(input->a, input->b, input->c, input->n, i);
            }
        });
    });
    return 0;
}

/* affinity_partitioner: the same rows again and again. */
uint64_t run_heat(grid_input *input)
{
    arena->execute([&] {
        tbb::affinity_partitioner partitioner;
        for (size_t step = 0; step < input->steps; step++) {
            const auto some = [&](const range &rows) {
                for (size_t i = rows.begin(); i != rows.end(); i++) {
                    grid_heat_row(input->grid[step % 2], input->grid[(step + 1) % 2], input->n, i);
                }
            };
            tbb::parallel_for(range(1, input->n - 1), some, partitioner);
        }
    });
    return 0;
}

/* simple_partitioner on a range of pieces: one a task, each exactly as long as asked for. */
uint64_t spins(const grid_input *input, size_t grain)
{
    const auto some = [&](const range &pieces) {
        const size_t end = std::min(input->n, pieces.end() * grain);
        uint64_t sum = 0;
        for (size_t i = pieces.begin() * grain; i < end; i++) {
            sum += grid_spin(i, input->iters);
        }
        add_to_slot(sum);
    };
    const range pieces(0, (input->n + grain - 1) / grain);
    arena->execute([&] { tbb::parallel_for(pieces, some, tbb::simple_partitioner()); });
    return take_slots();
}

uint64_t run_sweep(grid_input *input)
{
    return spins(input, input->grain);
}

uint64_t run_coarse(grid_input *input)
{
    return spins(input, 1);
}

/* ---- many tiny tasks ---- */

uint64_t run_flood(grid_input *input)
{
    arena->execute([&] {
        tbb::task_group group;
        for (size_t i = 0; i < input->n; i++) {
            group.run([] { add_to_slot(1); });
        }
        group.wait();
    });
    return take_slots();
}

uint64_t run_spine(grid_input *input)
{
    arena->execute([&] {
        tbb::task_group group;
        for (size_t i = 0; i < input->n; i++) {
            group.run([i, iters = input->iters] { add_to_slot(grid_spin(i, iters)); });
        }
        group.wait();
    });
    return take_slots();
}

/* ---- life ---- */

const char *start(const grid_contestant *, unsigned threads)
{
    const size_t deep = size_t{ 64 } << 20; /* uts T3 is 1,572 deep, and waits nest */
    most_threads.emplace(tbb::global_control::max_allowed_parallelism, threads);
    stack_bytes.emplace(tbb::global_control::thread_stack_size, deep);
    arena.emplace(int(threads));
    arena->initialize();
    slots.resize(threads);
    return nullptr;
}

void stop()
{
    arena.reset();
    stack_bytes.reset();
    most_threads.reset();
}

/* C++17 has no designated initialisers: in the order of grid_workload. */
const grid_contestant contestant = {
    "tbb",
    "oneTBB " TBB_VERSION_STRING
    ", one arena, parallel_invoke, task_group, simple_partitioner over "
    "pieces for exact grains, affinity_partitioner for heat, parallel_sort",
    nullptr,
    start,
    stop,
    { { run_fib, nullptr, nullptr },
      { run_tree, nullptr, nullptr },
      { run_queens, nullptr, nullptr },
      { run_uts, nullptr, nullptr },
      { run_sort, nullptr, nullptr },
      { run_matmul, nullptr, nullptr },
      { run_heat, nullptr, nullptr },
      { run_sweep, nullptr, nullptr },
      { run_coarse, nullptr, nullptr },
      { run_coarse, nullptr, nullptr },
      { run_flood, nullptr, nullptr },
      { run_spine, nullptr, nullptr },
      { run_pareto, nullptr, nullptr } },
};
} // namespace

int main(int argc, char **argv)
{
    return grid_serve(&contestant, argc, argv);
}
