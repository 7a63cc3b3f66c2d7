/* SPDX-License-Identifier: MIT */
/* Parking on a futex. The word is EMPTY, TOKEN, or PARKED while a thread sleeps on it, so that an
 * unpark that finds nobody asleep makes no system call. */
#include "base/compiler.h"
#include "plat/plat.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { EMPTY = 0, TOKEN = 1, PARKED = 2 };

bool filchi_parker_init(filchi_parker *parker)
{
    filchi_store_relaxed_u32(&parker->state, EMPTY);
    return true;
}

void filchi_parker_destroy(filchi_parker *parker)
{
    (void)parker;
}

/* A filter that was put on after the pool was made denies the futex: look at the word again now
 * and then, so that no thread spins and deadlines hold. */
static FILCHI_COLD bool wait_denied(int64_t deadline_ns)
{
    static const struct timespec pause = { .tv_nsec = 1000000 };
    (void)nanosleep(&pause, NULL);
    return deadline_ns != INT64_MAX && filchi_clock_ns() >= deadline_ns;
}

/* Sleep while the word is PARKED. Returns early for a wake, a signal, or the deadline; the caller
 * looks at the word again in each case. True: the deadline passed. */
static bool futex_wait(filchi_parker *parker, int64_t deadline_ns)
{
    const int64_t at_ns = deadline_ns > 0 ? deadline_ns : 0; /* the kernel refuses negatives */
    const struct timespec until = { .tv_sec = (time_t)(at_ns / 1000000000),
                                    .tv_nsec = (long)(at_ns % 1000000000) };
    /* WAIT_BITSET takes an absolute monotonic time, so that a restart keeps the deadline */
    const long result =
        syscall(SYS_futex, &parker->state.value, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG,
                (uint32_t)PARKED, deadline_ns == INT64_MAX ? NULL : &until, NULL,
                FUTEX_BITSET_MATCH_ANY);
    if (result == 0 || errno == EAGAIN || errno == EINTR) {
        return false;
    }
    return errno == ETIMEDOUT || wait_denied(deadline_ns);
}

bool filchi_park(filchi_parker *parker, int64_t deadline_ns)
{
    /* relaxed: only announces the sleep; the token is taken with acquire below */
    if (!filchi_cas_relaxed_u32(&parker->state, EMPTY, PARKED)) {
        /* [PARK-1] acquire, pairs with PARK-4: what the unparker wrote is visible. */
        (void)filchi_xchg_acquire_u32(&parker->state, EMPTY);
        return true;
    }
    const int saved = errno;
    bool late = false;
    bool got = false;
    while (!got && !late) {
        late = futex_wait(parker, deadline_ns);
        /* [PARK-2] acquire, pairs with PARK-4: what the unparker wrote is visible. */
        got = filchi_cas_acquire_u32(&parker->state, TOKEN, EMPTY);
    }
    if (!got) {
        /* [PARK-3] acquire, pairs with PARK-4: a token that came with the deadline is taken. */
        got = filchi_xchg_acquire_u32(&parker->state, EMPTY) == TOKEN;
    }
    errno = saved;
    return got;
}

void filchi_unpark(filchi_parker *parker)
{
    uint32_t *word = &parker->state.value;
    /* [PARK-4] release, pairs with PARK-1, PARK-2, PARK-3: writes before the wake are visible. */
    if (filchi_xchg_release_u32(&parker->state, TOKEN) == PARKED) {
        /* The parker may be gone by now. The kernel uses the address as a name only: at worst
         * somebody else wakes once for nothing, as any futex user must expect. */
        const int saved = errno;
        (void)syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
        errno = saved;
    }
}

const char *filchi_park_backend(void)
{
    return "futex";
}
