/* SPDX-License-Identifier: MIT */
/* The fence for others, by membarrier(2). Old kernels and seccomp filters deny it. */
#include "plat/plat.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool membarrier(int command)
{
    const int saved = errno;
    const bool done = syscall(SYS_membarrier, command, 0, 0) == 0;
    errno = saved;
    return done;
}

bool filchi_barrier_works(void)
{
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && filchi_barrier();
}

bool filchi_barrier(void)
{
    return membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}
