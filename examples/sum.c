/* SPDX-License-Identifier: MIT */
/* Sum an array in parallel: a reduction. The function adds a piece of the array to a total; Filch
 * cuts the pieces, gives each worker totals of its own, and joins them in a fixed order, so that the
 * same numbers give the same bits however many workers there are. Prints the sum and exits with 1 if
 * it is wrong. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <filch/filch.h>

static void add_piece(filch_cx *cx, void *ctx, filch_range range, void *value)
{
    (void)cx;
    const uint32_t *const numbers = ctx;
    uint64_t sum = *(uint64_t *)value;
    for (size_t i = range.lo; i < range.hi; i++) {
        sum += numbers[i];
    }
    *(uint64_t *)value = sum;
}

static void add_totals(void *ctx, void *left, const void *right)
{
    (void)ctx;
    *(uint64_t *)left += *(const uint64_t *)right;
}

int main(void)
{
    enum { COUNT = 10 * 1000 * 1000 };
    filch_pool *const pool = filch_default_pool();
    uint32_t *const numbers = malloc(COUNT * sizeof *numbers);
    if (pool == NULL || numbers == NULL) {
        fputs("sum: no pool, or no memory\n", stderr);
        return 2;
    }
    uint64_t expected = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        numbers[i] = i * 2654435761u;
        expected += numbers[i];
    }

    filch_reducer sums = FILCH_REDUCER_INIT;
    sums.value_bytes = sizeof(uint64_t);
    sums.fold = add_piece;
    sums.combine = add_totals;
    uint64_t sum = 0;
    const filch_status status = filch_reduce_on(pool, COUNT, &sums, numbers, &sum, NULL);

    printf("sum of %d numbers by %u workers: %" PRIu64 " (%s)\n", COUNT, filch_pool_workers(pool),
           sum, sum == expected ? "right" : "WRONG");
    free(numbers);
    return status == FILCH_OK && sum == expected ? 0 : 1;
}
