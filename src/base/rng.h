/* SPDX-License-Identifier: MIT */
/* Random numbers for victim choice: xorshift64* (Vigna, ACM TOMS 42, 2016), one state a lane. Fast
 * and well spread; not for secrets. */
#ifndef FILCHI_BASE_RNG_H
#define FILCHI_BASE_RNG_H

#include <stdint.h>

typedef struct filchi_rng {
    uint64_t state; /* never 0 */
} filchi_rng;

/* Seeds that differ in one bit give unrelated streams (splitmix64 finaliser). */
static inline void filchi_rng_seed(filchi_rng *rng, uint64_t seed)
{
    uint64_t z = seed + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    rng->state = z != 0 ? z : 1;
}

static inline uint32_t filchi_rng_next(filchi_rng *rng)
{
    uint64_t x = rng->state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    rng->state = x;
    return (uint32_t)((x * 0x2545f4914f6cdd1du) >> 32);
}

/* Uniform in [0, bound), up to a bias of bound / 2^32. `bound` > 0. */
static inline uint32_t filchi_rng_below(filchi_rng *rng, uint32_t bound)
{
    return (uint32_t)(((uint64_t)filchi_rng_next(rng) * bound) >> 32);
}

#endif
