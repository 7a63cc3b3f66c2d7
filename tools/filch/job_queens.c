/* SPDX-License-Identifier: MIT */
/* Job "queens": count the ways to place N queens on an N x N board, an unbalanced search tree.
 *
 * One row a level; columns and both diagonals are bit masks. The first queen stands in the left
 * half, and the mirror images are counted with it. Every placement in the first FORK_ROWS rows is a
 * task; below, plain recursion. For N = 15 that is 300,823 tasks, most of them of 2 to 4 us: fine
 * enough that the cost of a fork shows, coarse enough that no contestant drowns. The counts are
 * known (sequence A000170 of the OEIS), so the result is checked against the literature. */
#include "job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { FORK_ROWS = 6 };

static const uint64_t known[QUEENS_MOST + 1] = { 1,     1,     0,      0,       2,       10,
                                                 4,     40,    92,     352,     724,     2680,
                                                 14200, 73712, 365596, 2279184, 14772512 };

typedef struct queens_job {
    job *base;
    unsigned size;
    uint32_t board;  /* a bit a column */
    uint32_t middle; /* the middle column of a board of odd size, or 0 */
    uint64_t found;
} queens_job;

/* The rows above are filled; what they attack in this row. */
typedef struct placement {
    design_task task;
    const queens_job *of;
    unsigned row;
    uint32_t columns;
    uint32_t falling;
    uint32_t rising;
    uint64_t found;
} placement;

static uint64_t count_below(uint32_t columns, uint32_t falling, uint32_t rising, uint32_t board)
{
    if (columns == board) {
        return 1;
    }
    uint64_t found = 0;
    uint32_t open = board & ~(columns | falling | rising);
    while (open != 0) {
        const uint32_t queen = open & (~open + 1);
        open ^= queen;
        found += count_below(columns | queen, (falling | queen) << 1, (rising | queen) >> 1, board);
    }
    return found;
}

/* Columns to try in the row; in the first one, each also stands for its mirror image. */
static uint32_t open_columns(const placement *here)
{
    const queens_job *const q = here->of;
    if (here->row == 0) {
        return ((UINT32_C(1) << q->size / 2) - 1) | q->middle;
    }
    return q->board & ~(here->columns | here->falling | here->rising);
}

static uint64_t with_mirror_image(const placement *first)
{
    return first->columns == first->of->middle ? first->found : 2 * first->found;
}

static void place_row(const design_cx *cx, void *arg)
{
    placement *const here = arg;
    const queens_job *const q = here->of;
    if (here->row >= FORK_ROWS || here->columns == q->board) {
        here->found = count_below(here->columns, here->falling, here->rising, q->board);
        return;
    }
    placement next[QUEENS_MOST];
    size_t count = 0;
    for (uint32_t open = open_columns(here); open != 0; open &= open - 1) {
        const uint32_t queen = open & (~open + 1);
        next[count] = (placement){ .task = { .fn = place_row, .arg = &next[count] },
                                   .of = q,
                                   .row = here->row + 1,
                                   .columns = here->columns | queen,
                                   .falling = (here->falling | queen) << 1,
                                   .rising = (here->rising | queen) >> 1 };
        count++;
    }
    here->found = 0;
    job_run_all(cx, &next[0].task, sizeof next[0], count);
    for (size_t i = 0; i < count; i++) {
        here->found += here->row == 0 ? with_mirror_image(&next[i]) : next[i].found;
    }
}

static void run_queens(void *state, const contestant *on)
{
    queens_job *const q = state;
    placement root = { .task = { .fn = place_row, .arg = &root }, .of = q };
    on->design->life->run(on->pool, &root.task);
    q->found = root.found;
}

static job_verdict check_queens(void *state)
{
    queens_job *const q = state;
    snprintf(q->base->result, sizeof q->base->result, "%" PRIu64, q->found);
    if (q->found == known[q->size]) {
        return JOB_EQUAL;
    }
    snprintf(q->base->note, sizeof q->base->note, "found %" PRIu64 " solutions, there are %" PRIu64,
             q->found, known[q->size]);
    return JOB_DIFFERS;
}

bool queens_job_open(job *out_job, unsigned board)
{
    queens_job *const q = malloc(sizeof *q);
    if (q == NULL) {
        return false;
    }
    *q = (queens_job){ .base = out_job,
                       .size = board,
                       .board = (UINT32_C(1) << board) - 1,
                       .middle = board % 2 == 1 ? UINT32_C(1) << board / 2 : 0 };
    *out_job = (job){
        .name = "queens", .state = q, .run = run_queens, .check = check_queens, .close = free
    };
    return true;
}
