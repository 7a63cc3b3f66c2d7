/* SPDX-License-Identifier: MIT */
/* In place of std.cpp where there is no C++ compiler; main.c does not call it. */
#include "bench/loops/work.h"

void loops_std_sort(uint64_t *data, size_t n)
{
    (void)data;
    (void)n;
}

void loops_std_sort_by_call(uint64_t *data, size_t n)
{
    (void)data;
    (void)n;
}
