/* SPDX-License-Identifier: MIT */
/* The serial code of work.h. */
#include "bench/loops/work.h"

#include <stdbool.h>
#include <string.h>

double loops_sum(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i];
    }
    return sum;
}

void loops_scan(const uint64_t *x, size_t n, uint64_t *out)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i];
        out[i] = sum;
    }
}

int loops_compare(const void *a, const void *b, void *ctx)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    (void)ctx;
    return (x > y) - (x < y);
}

enum { INSERT = 16 };

static void insertion_sort(uint64_t *data, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const uint64_t moving = data[i];
        size_t at = i;
        while (at > 0 && loops_compare(&moving, &data[at - 1], NULL) < 0) {
            data[at] = data[at - 1];
            at--;
        }
        data[at] = moving;
    }
}

static void merge(const uint64_t *a, const uint64_t *a_end, const uint64_t *b,
                  const uint64_t *b_end, uint64_t *out)
{
    while (a < a_end && b < b_end) {
        *out++ = loops_compare(b, a, NULL) < 0 ? *b++ : *a++;
    }
    memcpy(out, a, (size_t)(a_end - a) * sizeof *a);
    memcpy(out + (a_end - a), b, (size_t)(b_end - b) * sizeof *b);
}

static void sort(uint64_t *data, uint64_t *scratch, size_t n, bool into_scratch)
{
    if (n <= INSERT) {
        insertion_sort(data, n);
        if (into_scratch) {
            memcpy(scratch, data, n * sizeof *data);
        }
        return;
    }
    const size_t half = n / 2;
    sort(data, scratch, half, !into_scratch);
    sort(data + half, scratch + half, n - half, !into_scratch);
    const uint64_t *const from = into_scratch ? data : scratch;
    merge(from, from + half, from + half, from + n, into_scratch ? scratch : data);
}

void loops_merge_sort(uint64_t *data, uint64_t *scratch, size_t n)
{
    sort(data, scratch, n, false);
}
