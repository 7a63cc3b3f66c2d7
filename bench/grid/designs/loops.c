/* SPDX-License-Identifier: MIT */
/* Loops and independent tasks on the designs: a task a piece, all of them handed in at once. */
#include "bench/grid/designs/work.h"

enum { PIECES_A_THREAD = 8 };

/* Indices of a piece, and how many indices there are. */
static size_t grain_of(const grid_input *input)
{
    switch (input->workload) {
    case GRID_SWEEP:
        return input->grain;
    case GRID_MATMUL:
    case GRID_HEAT: {
        const size_t pieces = (size_t)PIECES_A_THREAD * designs.threads;
        return (input->n + pieces - 1) / pieces;
    }
    default:
        return 1;
    }
}

static size_t range_of(const grid_input *input)
{
    return input->workload == GRID_HEAT ? input->n - 2 : input->n;
}

static size_t count_pieces(const grid_input *input)
{
    const size_t grain = grain_of(input);
    return (range_of(input) + grain - 1) / grain;
}

const char *designs_ready_loop(grid_input *input)
{
    return designs_ready(count_pieces(input));
}

/* Run `body` on every piece; its argument is the piece. */
static void loop(const design_cx *cx, const grid_input *input, design_fn *body)
{
    const size_t grain = grain_of(input);
    const size_t end = range_of(input);
    const size_t count = count_pieces(input);
    for (size_t k = 0; k < count; k++) {
        designs_piece *const piece = &designs.pieces[k];
        piece->lo = k * grain;
        piece->hi = end - piece->lo < grain ? end : piece->lo + grain;
        piece->task.fn = body;
        piece->task.arg = piece;
    }
    cx->on->all(cx, &designs.pieces->task, sizeof *designs.pieces, count);
}

static void matmul_rows(const design_cx *cx, void *arg)
{
    const designs_piece *const piece = arg;
    const grid_input *const input = designs.input;
    (void)cx;
    for (size_t i = piece->lo; i < piece->hi; i++) {
        grid_matmul_row(input->a, input->b, input->c, input->n, i);
    }
}

static void matmul(const design_cx *cx, void *arg)
{
    loop(cx, arg, matmul_rows);
}

uint64_t designs_matmul(grid_input *input)
{
    designs.input = input;
    designs_run(matmul, input);
    return 0;
}

static size_t heat_step; /* written between two loops only */

static void heat_rows(const design_cx *cx, void *arg)
{
    const designs_piece *const piece = arg;
    const grid_input *const input = designs.input;
    (void)cx;
    for (size_t i = piece->lo; i < piece->hi; i++) {
        grid_heat_row(input->grid[heat_step % 2], input->grid[(heat_step + 1) % 2], input->n,
                      i + 1);
    }
}

static void heat(const design_cx *cx, void *arg)
{
    const grid_input *const input = arg;
    for (heat_step = 0; heat_step < input->steps; heat_step++) {
        loop(cx, input, heat_rows);
    }
}

uint64_t designs_heat(grid_input *input)
{
    designs.input = input;
    designs_run(heat, input);
    return 0;
}

static void spin_piece(const design_cx *cx, void *arg)
{
    designs_piece *const piece = arg;
    uint64_t sum = 0;
    (void)cx;
    for (size_t i = piece->lo; i < piece->hi; i++) {
        sum += grid_spin(i, designs.input->iters);
    }
    piece->sum = sum;
}

static uint64_t sum_pieces(size_t count)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < count; k++) {
        sum += designs.pieces[k].sum;
    }
    return sum;
}

static void spins(const design_cx *cx, void *arg)
{
    loop(cx, arg, spin_piece);
}

uint64_t designs_spins(grid_input *input)
{
    designs.input = input;
    designs_run(spins, input);
    return sum_pieces(count_pieces(input));
}

static void count_one(const design_cx *cx, void *arg)
{
    designs_piece *const piece = arg;
    (void)cx;
    piece->sum = 1;
}

/* From outside of the pool. Where a task was not run its piece says 0. */
uint64_t designs_flood(grid_input *input)
{
    for (size_t k = 0; k < input->n; k++) {
        designs_piece *const piece = &designs.pieces[k];
        piece->sum = 0;
        piece->task.fn = count_one;
        piece->task.arg = piece;
        designs.on->life->post(designs.pool, &piece->task);
    }
    designs.on->life->drain(designs.pool);
    return sum_pieces(input->n);
}
