/* SPDX-License-Identifier: MIT */
/* The workloads of the loops benchmark, on one array: the sum of doubles, the running totals of
 * words, and a stable sort of words. Serial code is what one would write without a library; the sort comes
 * three times, since what a comparator costs depends on whether the compiler sees it. */
#ifndef BENCH_LOOPS_WORK_H
#define BENCH_LOOPS_WORK_H

#include <filch/parallel.h>

#include <stddef.h>
#include <stdint.h>

enum { LOOPS_N = 1 << 20, LOOPS_ROUNDS = 60 };

#ifdef __cplusplus
extern "C" {
#endif

double loops_sum(const double *x, size_t n);
void loops_scan(const uint64_t *x, size_t n, uint64_t *out);

int loops_compare(const void *a, const void *b, void *ctx);

/* A merge sort with that comparator, as a textbook has it: insertion at the bottom, halves merged
 * between two arrays. */
void loops_merge_sort(uint64_t *data, uint64_t *scratch, size_t n);

/* std::stable_sort with a comparator that the compiler inlines, and with a call of loops_compare.
 * Not there without a C++ compiler. */
void loops_std_sort(uint64_t *data, size_t n);
void loops_std_sort_by_call(uint64_t *data, size_t n);

/* The same work on a pool. */
filch_status loops_filch_sum(filch_pool *pool, const double *x, size_t n, double *out);
filch_status loops_filch_scan(filch_pool *pool, const uint64_t *x, size_t n, uint64_t *out);

#ifdef __cplusplus
}
#endif

#endif
