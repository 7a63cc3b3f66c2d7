/* SPDX-License-Identifier: MIT */
/* Which CPU each worker of a pool is bound to, if its configuration asks for that. */
#ifndef FILCHI_CORE_BIND_H
#define FILCHI_CORE_BIND_H

#include <stdbool.h>

#include "base/rng.h"
#include "plat/cpus.h"

/* Put the CPUs into the order in which workers get them: a core gets a second worker when each has
 * one; compact fills a last-level cache before the next, spread takes the packages and caches in
 * turns. `spots` come in order of their CPU numbers. Pure. */
void filchi_bind_order(filchi_cpu_spot *spots, size_t count, bool spread);

/* The CPUs of the calling thread in that order, at most `most`; returns how many. */
size_t filchi_bind_read(filchi_cpu_spot *out_spots, size_t most, bool spread);

/* Where a bound worker sits among the others, in order of their places, so that those on the same core,
 * last-level cache, package are neighbours. */
enum { FILCHI_NEAR_CORE, FILCHI_NEAR_CACHE, FILCHI_NEAR_PACKAGE, FILCHI_NEAR_LEVELS };

typedef struct filchi_near {
    uint32_t worker;
    unsigned place[FILCHI_NEAR_LEVELS];
    uint32_t lo[FILCHI_NEAR_LEVELS]; /* seats of the same place: from lo, below hi */
    uint32_t hi[FILCHI_NEAR_LEVELS];
} filchi_near;

/* Seats of workers that have these spots in turns. Pure. */
void filchi_bind_nears(const filchi_cpu_spot *spots, size_t spot_count, filchi_near *out_seats,
                       uint32_t workers);

/* A victim near the worker in `own`: with a probability of 3/4 one on its core, else with 3/4 one of its
 * cache, else with 3/4 one of its package; levels with nobody new are left out. False: anyone. */
bool filchi_bind_near(const filchi_near *seats, uint32_t own, filchi_rng *rng,
                      uint32_t *out_worker);

#endif
