/* SPDX-License-Identifier: MIT */
/* The sort by the standard library of C++, with the comparator inlined and called. */
#include "bench/loops/work.h"

#include <algorithm>

void loops_std_sort(uint64_t *data, size_t n)
{
    std::stable_sort(data, data + n);
}

void loops_std_sort_by_call(uint64_t *data, size_t n)
{
    std::stable_sort(data, data + n, [](const uint64_t &a, const uint64_t &b) {
        return loops_compare(&a, &b, nullptr) < 0;
    });
}
