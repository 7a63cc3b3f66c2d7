/* SPDX-License-Identifier: MIT */
/* Which CPU each worker of a pool is bound to, if its configuration asks for that. */
#ifndef FILCHI_CORE_BIND_H
#define FILCHI_CORE_BIND_H

#include <stdbool.h>

#include "plat/cpus.h"

/* Put the CPUs into the order in which workers get them: a core gets a second worker when each has
 * one; compact fills a last-level cache before the next, spread takes the packages and caches in
 * turns. `spots` come in order of their CPU numbers. Pure. */
void filchi_bind_order(filchi_cpu_spot *spots, size_t count, bool spread);

#endif
