/* SPDX-License-Identifier: MIT */
/* The affinity mask, also on machines with more CPUs than a cpu_set_t holds: the kernel refuses a
 * mask that is too short with EINVAL, so we try longer ones. */
#include "plat/plat.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

enum { FIRST_CPUS = 1024, LAST_CPUS = 1 << 18 };

/* CPUs counted in a mask for `cpus` CPUs; 0: too short or no memory. */
static unsigned count_in_mask(int cpus)
{
    cpu_set_t *mask = CPU_ALLOC((size_t)cpus);
    if (mask == NULL) {
        return 0;
    }
    const size_t bytes = CPU_ALLOC_SIZE((size_t)cpus);
    unsigned count = 0;
    if (sched_getaffinity(0, bytes, mask) == 0) {
        count = (unsigned)CPU_COUNT_S(bytes, mask);
    }
    CPU_FREE(mask);
    return count;
}

unsigned filchi_cpus_allowed(void)
{
    const int saved = errno;
    unsigned count = 0;
    for (int cpus = FIRST_CPUS; count == 0 && cpus <= LAST_CPUS; cpus *= 4) {
        count = count_in_mask(cpus);
    }
    errno = saved;
    return count != 0 ? count : 1;
}
