/* SPDX-License-Identifier: MIT */
/* Counts the forks between a pool's process and this one. The handler runs in the child before
 * fork() returns there, so a plain load tells a pool that its workers are not in this process; no
 * system call, no lock. */
#include "plat/plat.h"

#include <pthread.h>

static filchi_atomic_u32 generation;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void count_fork(void)
{
    /* relaxed: the child has one thread */
    (void)filchi_add_relaxed_u32(&generation, 1);
}

static void install(void)
{
    (void)pthread_atfork(NULL, NULL, count_fork);
}

/* When the library is loaded: handlers run in the order of their installation, and those of others
 * shall find the child marked already. */
__attribute__((constructor)) static void install_at_load(void)
{
    (void)pthread_once(&once, install);
}

uint32_t filchi_fork_generation(void)
{
    (void)pthread_once(&once, install);
    /* relaxed: changes only while the process has one thread */
    return filchi_load_relaxed_u32(&generation);
}
