/* SPDX-License-Identifier: MIT */
/* How many CPUs this process may use. So far that is the affinity mask of the calling thread;
 * cgroup quotas and physical cores are not looked at yet. */
#ifndef FILCH_CPUS_H
#define FILCH_CPUS_H

#include <filch/base.h>

FILCH_BEGIN_DECLS

/* CPUs in the affinity mask of the calling thread, at least 1; 1 too when the mask cannot be read.
 * Threads: any. */
FILCH_API unsigned filch_cpus_allowed(void);

FILCH_END_DECLS

#endif
