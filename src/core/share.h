/* SPDX-License-Identifier: MIT */
/* The pools of this process that share the CPUs among them: how many there are, and how many workers
 * that leaves for each. docs/decisions/0008. */
#ifndef FILCHI_CORE_SHARE_H
#define FILCHI_CORE_SHARE_H

#include <stdint.h>

/* One pool more, one less. A pool that was made before a fork is no pool of the child: its leaving does
 * nothing there. */
void filchi_share_join(void);
void filchi_share_leave(uint32_t generation);

/* Of `workers` for the whole process, those of one pool that shares; at least 1. */
unsigned filchi_share_of(unsigned workers);

#endif
