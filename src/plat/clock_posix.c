/* SPDX-License-Identifier: MIT */
/* The monotonic clock: jumps of the wall clock never move a deadline. */
#include "plat/plat.h"

#include <time.h>

int64_t filchi_clock_ns(void)
{
    struct timespec now = { 0, 0 };
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
