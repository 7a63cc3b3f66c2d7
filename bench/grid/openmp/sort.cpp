/* SPDX-License-Identifier: MIT */
/* libstdc++'s parallel mode sorts with OpenMP: a multiway merge sort. */
#include "bench/grid/openmp/openmp.h"

#include <parallel/algorithm>

void openmp_sort(uint64_t *words, size_t count)
{
    __gnu_parallel::sort(words, words + count);
}
