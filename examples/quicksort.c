/* SPDX-License-Identifier: MIT */
/* Quicksort with filch_join2: one half is sorted here, the other may be stolen.
 *
 * The arguments lie in the caller's frame, so a fork allocates nothing. Small parts are sorted by
 * qsort: a task should be worth some microseconds. Prints whether the result is in order and holds
 * the same numbers as before, and exits with 1 if not. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <filch/filch.h>

enum { COUNT = 2 * 1000 * 1000, SMALL = 2000 };

typedef struct part {
    uint32_t *numbers;
    size_t count;
} part;

static int by_value(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Hoare's partition: returns n so that numbers[0..n) <= numbers[n..count), with 0 < n < count. */
static size_t split(uint32_t *numbers, size_t count)
{
    const uint32_t pivot = numbers[(count - 1) / 2];
    size_t low = 0;
    size_t high = count - 1;
    for (;; low++, high--) {
        while (numbers[low] < pivot) {
            low++;
        }
        while (numbers[high] > pivot) {
            high--;
        }
        if (low >= high) {
            return high + 1;
        }
        const uint32_t swapped = numbers[low];
        numbers[low] = numbers[high];
        numbers[high] = swapped;
    }
}

static void sort_part(filch_cx *cx, void *arg)
{
    const part *const p = arg;
    if (p->count <= SMALL) {
        qsort(p->numbers, p->count, sizeof *p->numbers, by_value);
        return;
    }
    const size_t cut = split(p->numbers, p->count);
    part low = { p->numbers, cut };
    part high = { p->numbers + cut, p->count - cut };
    filch_join2(cx, sort_part, &low, sort_part, &high);
}

int main(void)
{
    part all = { malloc(COUNT * sizeof(uint32_t)), COUNT };
    filch_pool *const pool = filch_default_pool();
    if (pool == NULL || all.numbers == NULL) {
        return 2;
    }
    uint64_t sum = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        all.numbers[i] = (i ^ 0x55555) * 2654435761u;
        sum += all.numbers[i];
    }
    const filch_status status = filch_run(pool, sort_part, &all);
    int right = status == FILCH_OK;
    for (size_t i = 0; i < COUNT; i++) {
        right = right && (i == 0 || all.numbers[i - 1] <= all.numbers[i]);
        sum -= all.numbers[i];
    }
    right = right && sum == 0;
    printf("sorted %d numbers: %s\n", COUNT, right ? "right" : "WRONG");
    free(all.numbers);
    return right ? 0 : 1;
}
