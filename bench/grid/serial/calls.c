/* SPDX-License-Identifier: MIT */
/* Contestant "serial-calls": the same code, but recursion and leaves are real calls. That is what a
 * runtime can be compared with, since it calls its tasks; sorting calls a comparison for that. */
#include "bench/grid/contestants.h"
#include "bench/support/keep.h"

#include <stdlib.h>

#define SERIAL_CALL BENCH_OUT_OF_LINE static
#define SERIAL_KEEP(value) BENCH_KEEP(value)

static int compare_words(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void serial_sort(grid_input *input)
{
    qsort(input->words, input->n, sizeof *input->words, compare_words);
}

#include "bench/grid/serial/body.h"

const grid_contestant grid_serial_calls = {
    .name = "serial-calls",
    .version = "one thread, recursion and leaves out of line, qsort",
    .ways = SERIAL_WAYS
};
