/* SPDX-License-Identifier: MIT */
/* Whether waiting works at all: a seccomp filter may deny the futex, or single operations of it. */
#include "plat/plat.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A wait for a value that the word does not have comes back at once, with EAGAIN. */
static bool wait_is_allowed(const uint32_t *word, int operation)
{
    const uint32_t other = *word + 1;
    return syscall(SYS_futex, word, operation, other, NULL, NULL, FUTEX_BITSET_MATCH_ANY) == -1 &&
           errno == EAGAIN;
}

bool filchi_wait_works(void)
{
    const int saved = errno;
    const uint32_t word = 0;
    /* what park_linux.c uses, and what locks and joins of libc use */
    const bool works =
        wait_is_allowed(&word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG) &&
        wait_is_allowed(&word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG) &&
        wait_is_allowed(&word, FUTEX_WAIT_BITSET) &&
        syscall(SYS_futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0) == 0;
    errno = saved;
    return works;
}
