/* SPDX-License-Identifier: MIT */
/* All of Filch, a work-stealing task runtime and thread pool for C. Where to look:
 *   pool.h      pools and roots            fork.h      fork-join and scopes
 *   parallel.h  loops                      task.h      detached tasks
 *   future.h    futures, continuations     stats.h     counters
 *   cpus.h      how many CPUs there are
 *   deque.h     the deque on its own       base.h      status codes, time, allocator */
#ifndef FILCH_FILCH_H
#define FILCH_FILCH_H

#include <filch/base.h>
#include <filch/cpus.h>
#include <filch/deque.h>
#include <filch/fork.h>
#include <filch/future.h>
#include <filch/parallel.h>
#include <filch/pool.h>
#include <filch/stats.h>
#include <filch/task.h>

#endif
