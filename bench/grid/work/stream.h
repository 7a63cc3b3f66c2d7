/* SPDX-License-Identifier: MIT */
/* Numbers that every contestant makes the same way, whatever its language: the input stream, and
 * work that takes time and nothing else. C11 and C++17. */
#ifndef BENCH_GRID_STREAM_H
#define BENCH_GRID_STREAM_H

#include "bench/support/keep.h"

#include <stdint.h>

/* The i-th word of the input stream (the finaliser of splitmix64). */
static inline uint64_t grid_mix(uint64_t i)
{
    uint64_t z = i + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* About a nanosecond an iteration: each needs the result of the one before. */
static inline uint64_t grid_spin(uint64_t x, uint64_t iters)
{
    for (uint64_t i = 0; i < iters; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        BENCH_KEEP(x); /* clang would make one step of eight */
    }
    return x >> 33;
}

/* Iterations of leaf i of `pareto`: a few leaves cost thousands of times as much as most. */
static inline uint64_t grid_pareto_cost(uint64_t i, uint64_t scale)
{
    const uint64_t cost = scale * 65536 / ((grid_mix(i) >> 48) + 1);
    return cost < (1u << 20) ? cost : (1u << 20);
}

#endif
