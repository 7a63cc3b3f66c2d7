/* SPDX-License-Identifier: MIT */
/* The monotonic clock: jumps of the wall clock never move a deadline. */
#include "plat/plat.h"

#include <time.h>

static int64_t read_clock(clockid_t clock)
{
    struct timespec now = { 0, 0 };
    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t filchi_clock_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t filchi_clock_coarse_ns(void)
{
#ifdef CLOCK_MONOTONIC_COARSE
    return read_clock(CLOCK_MONOTONIC_COARSE);
#else
    return read_clock(CLOCK_MONOTONIC);
#endif
}
