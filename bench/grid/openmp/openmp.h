/* SPDX-License-Identifier: MIT */
/* The part of the OpenMP contestants that is C++: the sort of libstdc++'s parallel mode. */
#ifndef BENCH_GRID_OPENMP_H
#define BENCH_GRID_OPENMP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void openmp_sort(uint64_t *words, size_t count);

#ifdef __cplusplus
}
#endif

#endif
