/* SPDX-License-Identifier: MIT */
/* How long a thread runs before it is another's turn. Since Linux 6.12 a thread can ask for a slice of its
 * own, and one that wakes with a shorter slice takes the CPU from it at once. Its share of the CPU
 * stays the same. Older systems take the call and change nothing. */
#include "plat/plat.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/* struct sched_attr of the kernel, which some C libraries declare and some do not. */
typedef struct scheduling {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns; /* of the fair policies: the slice */
    uint64_t deadline_ns;
    uint64_t period_ns;
} scheduling;

static bool read_scheduling(scheduling *now)
{
    *now = (scheduling){ .size = sizeof(*now) };
    return syscall(SYS_sched_getattr, 0, now, (unsigned)sizeof(*now), 0) == 0 &&
           (now->policy == SCHED_OTHER || now->policy == SCHED_BATCH);
}

bool filchi_thread_slice(uint64_t slice_ns)
{
    const int saved = errno;
    scheduling wanted;
    bool done = read_scheduling(&wanted);
    if (done) {
        wanted.runtime_ns = slice_ns;
        done = syscall(SYS_sched_setattr, 0, &wanted, 0) == 0;
    }
    errno = saved;
    return done;
}

uint64_t filchi_thread_slice_now(void)
{
    const int saved = errno;
    scheduling now;
    const uint64_t slice_ns = read_scheduling(&now) ? now.runtime_ns : 0;
    errno = saved;
    return slice_ns;
}
