/* SPDX-License-Identifier: MIT */
/* The contestants that are part of the command: `filch bench` runs itself to be one of them. */
#ifndef BENCH_GRID_CONTESTANTS_H
#define BENCH_GRID_CONTESTANTS_H

#include <filch/base.h>

#include "bench/grid/serve.h"

enum { GRID_CONTESTANTS = 11 };

/* In the order in which they are shown; serial first. */
extern const grid_contestant *const grid_contestants[GRID_CONTESTANTS];

extern const grid_contestant grid_serial;
extern const grid_contestant grid_serial_calls;
extern const grid_contestant grid_filch;
const filch_pool *grid_filch_pool(void); /* between its start and its stop */

/* Each workload on a pool of another design, and on Filch through the same interface. */
enum { GRID_DESIGNS = 8 };
extern const grid_contestant grid_designs[GRID_DESIGNS];

/* The contestant of that name, NULL if there is none. */
const grid_contestant *grid_find_contestant(const char *name);

#endif
