/* SPDX-License-Identifier: MIT */
/* The order of CPUs for bound workers: see bind.h. */
#include "core/bind.h"

#include <stdlib.h>

/* What is compared, most important first. */
enum { KEYS = 5 };

/* How many of the CPUs before `i` are in the same core; cores before it in the same cache; caches
 * before it in the same package. The first CPU of a group stands for it. */
static void rank(filchi_cpu_spot *spots, size_t i)
{
    filchi_cpu_spot *spot = &spots[i];
    spot->thread_rank = spot->core_rank = spot->cache_rank = 0;
    for (size_t k = 0; k < i; k++) {
        const filchi_cpu_spot *other = &spots[k];
        const bool first_of_core = other->thread_rank == 0;
        const bool first_of_cache = first_of_core && other->core_rank == 0;
        spot->thread_rank += other->core == spot->core;
        spot->core_rank +=
            first_of_core && other->cache == spot->cache && other->core != spot->core;
        spot->cache_rank +=
            first_of_cache && other->package == spot->package && other->cache != spot->cache;
    }
}

/* A later thread of a core is ranked as the first, and a later core of a cache as its cache. */
static void copy_ranks(filchi_cpu_spot *spots, size_t i)
{
    filchi_cpu_spot *spot = &spots[i];
    for (size_t k = 0; k < i; k++) {
        const filchi_cpu_spot *other = &spots[k];
        if (spot->thread_rank != 0 && other->core == spot->core) {
            spot->core_rank = other->core_rank;
            spot->cache_rank = other->cache_rank;
            return;
        }
        if (spot->thread_rank == 0 && spot->core_rank != 0 && other->cache == spot->cache) {
            spot->cache_rank = other->cache_rank;
            return;
        }
    }
}

static int compare(const unsigned a[KEYS], const unsigned b[KEYS])
{
    int i = 0;
    while (i < KEYS - 1 && a[i] == b[i]) {
        i++;
    }
    return a[i] < b[i] ? -1 : 1; /* the last, the number of the CPU, is never the same */
}

static int by_nearness(const void *left, const void *right)
{
    const filchi_cpu_spot *a = left;
    const filchi_cpu_spot *b = right;
    const unsigned keys_a[KEYS] = { a->thread_rank, a->package, a->cache, a->core, a->cpu };
    const unsigned keys_b[KEYS] = { b->thread_rank, b->package, b->cache, b->core, b->cpu };
    return compare(keys_a, keys_b);
}

static int by_turns(const void *left, const void *right)
{
    const filchi_cpu_spot *a = left;
    const filchi_cpu_spot *b = right;
    const unsigned keys_a[KEYS] = { a->thread_rank, a->core_rank, a->cache_rank, a->package,
                                    a->cpu };
    const unsigned keys_b[KEYS] = { b->thread_rank, b->core_rank, b->cache_rank, b->package,
                                    b->cpu };
    return compare(keys_a, keys_b);
}

void filchi_bind_order(filchi_cpu_spot *spots, size_t count, bool spread)
{
    for (size_t i = 0; i < count; i++) {
        rank(spots, i);
        copy_ranks(spots, i);
    }
    qsort(spots, count, sizeof(*spots), spread ? by_turns : by_nearness);
}

size_t filchi_bind_read(filchi_cpu_spot *out_spots, size_t most, bool spread)
{
    const size_t count = filchi_cpus_spots(out_spots, most);
    filchi_bind_order(out_spots, count, spread);
    return count;
}

static int by_place(const void *left, const void *right)
{
    const filchi_near *a = left;
    const filchi_near *b = right;
    int level = FILCHI_NEAR_LEVELS - 1;
    while (level > 0 && a->place[level] == b->place[level]) {
        level--;
    }
    if (a->place[level] != b->place[level]) {
        return a->place[level] < b->place[level] ? -1 : 1;
    }
    return a->worker < b->worker ? -1 : 1;
}

void filchi_bind_nears(const filchi_cpu_spot *spots, size_t spot_count, filchi_near *out_seats,
                       uint32_t workers)
{
    for (uint32_t i = 0; i < workers; i++) {
        const filchi_cpu_spot *spot = &spots[i % spot_count];
        out_seats[i].worker = i;
        out_seats[i].place[FILCHI_NEAR_CORE] = spot->core;
        out_seats[i].place[FILCHI_NEAR_CACHE] = spot->cache;
        out_seats[i].place[FILCHI_NEAR_PACKAGE] = spot->package;
    }
    qsort(out_seats, workers, sizeof(*out_seats), by_place);
    for (int level = 0; level < FILCHI_NEAR_LEVELS; level++) {
        uint32_t lo = 0;
        for (uint32_t i = 1; i <= workers; i++) {
            if (i < workers && out_seats[i].place[level] == out_seats[lo].place[level]) {
                continue;
            }
            for (uint32_t k = lo; k < i; k++) {
                out_seats[k].lo[level] = lo;
                out_seats[k].hi[level] = i;
            }
            lo = i;
        }
    }
}

bool filchi_bind_near(const filchi_near *seats, uint32_t own, filchi_rng *rng, uint32_t *out_worker)
{
    uint32_t known = 1; /* itself */
    for (int level = 0; level < FILCHI_NEAR_LEVELS; level++) {
        const uint32_t lo = seats[own].lo[level];
        const uint32_t together = seats[own].hi[level] - lo;
        if (together > known && filchi_rng_below(rng, 4) != 0) {
            const uint32_t other = lo + filchi_rng_below(rng, together - 1);
            *out_worker = seats[other < own ? other : other + 1].worker;
            return true;
        }
        known = together;
    }
    return false;
}
