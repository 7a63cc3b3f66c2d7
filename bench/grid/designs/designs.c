/* SPDX-License-Identifier: MIT */
/* Contestants made of the pools of bench/designs: each workload is written once, so that they differ
 * in nothing but where tasks are put and who takes them. */
#include "bench/grid/designs/work.h"

#include "bench/designs/stealing/stealing.h"
#include "bench/grid/contestants.h"

#include <stdlib.h>

designs_state designs;

static const char *start(const grid_contestant *self, unsigned threads)
{
    designs = (designs_state){ .on = self->kind, .threads = threads };
    const int error = designs.on->life->start(designs.on, threads, &designs.pool);
    return error != 0 ? strerror(error) : NULL;
}

static void stop(void)
{
    designs.on->life->stop(designs.pool);
    free(designs.pieces);
    designs.pieces = NULL;
}

const char *designs_ready(size_t count)
{
    if (designs.piece_count < count) {
        free(designs.pieces);
        designs.pieces = calloc(count, sizeof *designs.pieces);
        designs.piece_count = designs.pieces != NULL ? count : 0;
    }
    return designs.pieces != NULL ? NULL : "no memory";
}

/* Who waits runs what it can take, on top of what it was doing. Where that is not the newest of its
 * own tasks, stacks grow with the number of tasks, and these sizes end 64 MiB of them. */
static const char *ready_recursion(grid_input *input)
{
    const bool deep = input->workload == GRID_UTS && input->uts.binomial && input->uts.depth > 100;
    const bool large = (input->workload == GRID_FIB && input->n > 25) ||
                       (input->workload == GRID_TREE && input->n > 1u << 16) ||
                       (input->workload == GRID_UTS && input->uts.depth > 8);
    if ((designs.on == &design_private_queues && large) ||
        (designs.on == &design_lock_free_queue && deep) ||
        (designs.on == &design_overflow_queue && deep)) {
        return "tasks that wait pile up on one another until the stack ends";
    }
    return NULL;
}

void designs_run(design_fn *fn, void *arg)
{
    design_task root = { .fn = fn, .arg = arg };
    designs.on->life->run(designs.pool, &root);
}

#define DESIGN(word, design_of)                                                                    \
    {                                                                                              \
        .name = (word), .version = "bench/designs, the same code for each", .kind = &(design_of),  \
        .start = start, .stop = stop, .ways = {                                                    \
            [GRID_FIB] = { .run = designs_fib, .ready = ready_recursion },                         \
            [GRID_TREE] = { .run = designs_tree, .ready = ready_recursion },                       \
            [GRID_QUEENS] = { .run = designs_queens },                                             \
            [GRID_UTS] = { .run = designs_uts, .ready = ready_recursion },                         \
            [GRID_SORT] = { .run = designs_sort },                                                 \
            [GRID_MATMUL] = { .run = designs_matmul, .ready = designs_ready_loop },                \
            [GRID_HEAT] = { .run = designs_heat, .ready = designs_ready_loop },                    \
            [GRID_SWEEP] = { .run = designs_spins, .ready = designs_ready_loop },                  \
            [GRID_COARSE] = { .run = designs_spins, .ready = designs_ready_loop },                 \
            [GRID_HANDFUL] = { .run = designs_spins, .ready = designs_ready_loop },                \
            [GRID_FLOOD] = { .run = designs_flood, .ready = designs_ready_loop },                  \
            [GRID_SPINE] = { .run = designs_spins, .ready = designs_ready_loop },                  \
            [GRID_PARETO] = { .run = designs_pareto },                                             \
        }                                                                                          \
    }

const grid_contestant grid_designs[GRID_DESIGNS] = {
    DESIGN("stealing", design_stealing),
    DESIGN("shared-queue", design_shared_queue),
    DESIGN("lock-free-queue", design_lock_free_queue),
    DESIGN("private-queues", design_private_queues),
    DESIGN("overflow-queue", design_overflow_queue),
    DESIGN("locked-deques", design_locked_deques),
    DESIGN("static-partition", design_static_partition),
    DESIGN("master-worker", design_master_worker),
};
