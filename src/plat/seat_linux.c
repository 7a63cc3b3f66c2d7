/* SPDX-License-Identifier: MIT */
/* Where a sleeping thread runs when it is woken. Linux may put it onto the CPU of its waker and leave
 * it there, waiting, while another CPU is idle: between two virtual CPUs it sees no common cache. A
 * mask without that CPU, for as long as the wake takes, makes it choose another. */
#include "plat/plat.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(sizeof(cpu_set_t) <= sizeof(((filchi_seat *)0)->mask), "a seat holds a cpu_set_t");

unsigned filchi_cpu_here(void)
{
    const int saved = errno;
    const int cpu = sched_getcpu();
    errno = saved;
    return cpu >= 0 ? (unsigned)cpu : FILCHI_CPU_UNKNOWN;
}

static bool read_mask(int32_t thread, cpu_set_t *mask)
{
    CPU_ZERO(mask);
    return sched_getaffinity(thread, sizeof(*mask), mask) == 0;
}

/* Nobody has narrowed the mask of a thread that may run wherever its cpuset allows: then a mask of all
 * CPUs is its own mask, now and when the cpuset grows. */
static bool mask_is_open(const cpu_set_t *own)
{
    cpu_set_t all;
    cpu_set_t now;
    memset(&all, 0xff, sizeof(all));
    if (sched_setaffinity(0, sizeof(all), &all) != 0) {
        return false;
    }
    if (read_mask(0, &now) && CPU_EQUAL(&now, own)) {
        return true;
    }
    (void)sched_setaffinity(0, sizeof(*own), own);
    return false;
}

bool filchi_seat_init(filchi_seat *seat)
{
    const int saved = errno;
    cpu_set_t own;
    seat->thread = (int32_t)syscall(SYS_gettid);
    /* with more than 1,024 CPUs the call fails: such a thread stays where it is put */
    const bool known = read_mask(0, &own) && CPU_COUNT(&own) > 1;
    if (known) {
        memcpy(seat->mask, &own, sizeof(own));
        seat->open = mask_is_open(&own);
    }
    errno = saved;
    return known;
}

bool filchi_seat_move(const filchi_seat *seat, unsigned cpu)
{
    const int saved = errno;
    cpu_set_t now;
    bool moved = false;
    if (cpu < CPU_SETSIZE && read_mask(seat->thread, &now) &&
        memcmp(&now, seat->mask, sizeof(now)) == 0) {
        CPU_CLR(cpu, &now);
        moved = sched_setaffinity(seat->thread, sizeof(now), &now) == 0;
    }
    errno = saved;
    return moved;
}

void filchi_seat_restore(const filchi_seat *seat)
{
    const int saved = errno;
    cpu_set_t mask;
    if (seat->open) {
        memset(&mask, 0xff, sizeof(mask));
    } else {
        memcpy(&mask, seat->mask, sizeof(mask));
    }
    (void)sched_setaffinity(0, sizeof(mask), &mask);
    errno = saved;
}
