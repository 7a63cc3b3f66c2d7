/* SPDX-License-Identifier: MIT */
/* Counts the forks between a pool's process and this one. The handler runs in the child before
 * fork() returns there, so a plain load tells a pool that its workers are not in this process; no
 * system call, no lock. */
#include "plat/plat.h"

#include <errno.h>

static filchi_atomic_u32 generation;
static filchi_atomic_u32 watching;

static void count_fork(void)
{
    /* relaxed: the child has one thread */
    (void)filchi_add_relaxed_u32(&generation, 1);
}

bool filchi_fork_watch(void)
{
    /* relaxed: if two threads get past here forks count twice, which does no harm */
    if (filchi_load_relaxed_u32(&watching) != 0) {
        return true;
    }
    const int saved = errno;
    const bool installed = pthread_atfork(NULL, NULL, count_fork) == 0;
    errno = saved;
    if (installed) {
        filchi_store_relaxed_u32(&watching, 1);
    }
    return installed;
}

/* When the library is loaded: handlers run in the order of their installation, and those of others
 * shall find the child marked already. If there is no memory the first pool tries again. */
__attribute__((constructor)) static void install_at_load(void)
{
    (void)filchi_fork_watch();
}

uint32_t filchi_fork_generation(void)
{
    /* relaxed: changes only while the process has one thread */
    return filchi_load_relaxed_u32(&generation);
}
