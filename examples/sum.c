/* SPDX-License-Identifier: MIT */
/* Sum an array in parallel: a loop over its indices, and one partial sum for each slot.
 *
 * A slot belongs to one running call of the body at a time, so the partial sums need no lock and no
 * atomics; each has a cache line of its own, or the workers would slow each other down. Prints the
 * sum and exits with 1 if it is wrong. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <filch/filch.h>

typedef struct partial {
    _Alignas(64) uint64_t sum;
} partial;

typedef struct summing {
    const uint32_t *numbers;
    partial *partials; /* one a slot */
} summing;

static void sum_piece(filch_cx *cx, void *ctx, filch_range range)
{
    (void)cx;
    const summing *const s = ctx;
    uint64_t sum = 0;
    for (size_t i = range.lo; i < range.hi; i++) {
        sum += s->numbers[i];
    }
    s->partials[range.slot].sum += sum;
}

int main(void)
{
    enum { COUNT = 10 * 1000 * 1000 };
    filch_pool *const pool = filch_default_pool();
    const unsigned slots = filch_slots(pool); /* 0 if there is no pool */
    uint32_t *const numbers = malloc(COUNT * sizeof *numbers);
    partial *const partials = aligned_alloc(64, (slots + 1) * sizeof *partials);
    if (pool == NULL || numbers == NULL || partials == NULL) {
        fputs("sum: no pool, or no memory\n", stderr);
        return 2;
    }
    uint64_t expected = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        numbers[i] = i * 2654435761u;
        expected += numbers[i];
    }
    for (unsigned slot = 0; slot < slots; slot++) {
        partials[slot].sum = 0;
    }

    summing s = { numbers, partials };
    const filch_status status = filch_for_on(pool, COUNT, sum_piece, &s, NULL);

    uint64_t sum = 0;
    for (unsigned slot = 0; slot < slots; slot++) {
        sum += partials[slot].sum;
    }
    printf("sum of %d numbers by %u workers: %" PRIu64 " (%s)\n", COUNT, filch_pool_workers(pool),
           sum, sum == expected ? "right" : "WRONG");
    free(partials);
    free(numbers);
    return status == FILCH_OK && sum == expected ? 0 : 1;
}
