/* SPDX-License-Identifier: MIT */
/* The public views of clock and CPUs. */
#include <filch/cpus.h>

#include "plat/plat.h"

unsigned filch_cpus_allowed(void)
{
    return filchi_cpus_allowed();
}

filch_time filch_time_now(void)
{
    return filchi_clock_ns();
}

filch_time filch_time_after_ns(uint64_t duration_ns)
{
    const filch_time now = filchi_clock_ns();
    const uint64_t left = (uint64_t)(FILCH_FOREVER - now);
    return duration_ns < left ? now + (filch_time)duration_ns : FILCH_FOREVER;
}

filch_time filch_time_after_ms(uint64_t duration_ms)
{
    const uint64_t ns_per_ms = 1000000;
    return duration_ms <= UINT64_MAX / ns_per_ms ? filch_time_after_ns(duration_ms * ns_per_ms)
                                                 : FILCH_FOREVER;
}
