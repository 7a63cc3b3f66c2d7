/* SPDX-License-Identifier: MIT */
/* The affinity mask, also on machines with more CPUs than a cpu_set_t holds: the kernel refuses a
 * mask that is too short with EINVAL, so we try longer ones. */
#include "plat/cpus.h"
#include "plat/plat.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

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

bool filchi_cpus_mask(filchi_cpu_set *out_mask)
{
    enum { LONG_BITS = 8 * sizeof(unsigned long), LONGS = FILCHI_CPUS_MAX / LONG_BITS };
    const int saved = errno;
    union {
        cpu_set_t first; /* the call takes an array of these */
        unsigned long longs[LONGS];
    } mask;
    memset(&mask, 0, sizeof(mask));
    memset(out_mask, 0, sizeof(*out_mask));
    const bool known = sched_getaffinity(0, sizeof(mask), &mask.first) == 0;
    for (unsigned i = 0; known && i < LONGS; i++) {
        for (unsigned bit = 0; mask.longs[i] >> bit != 0; bit++) {
            if ((mask.longs[i] >> bit & 1) != 0) {
                filchi_cpu_set_add(out_mask, i * LONG_BITS + bit);
            }
            if (bit + 1 == LONG_BITS) {
                break; /* a shift by all bits is none */
            }
        }
    }
    errno = saved;
    return known && filchi_cpu_set_count(out_mask) != 0;
}
