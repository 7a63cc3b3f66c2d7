/* SPDX-License-Identifier: MIT */
/* Contestant "plain": the recursion and nothing else, two real calls a node.
 *
 * The floor: what is left when forks cost nothing. Without the marks gcc would inline the function
 * several levels into itself and make a loop of the second call; no runtime keeps that, so it is
 * not what a fork is compared with. */
#include "bench/fib/work.h"
#include "bench/support/keep.h"

BENCH_OUT_OF_LINE static uintptr_t node(uintptr_t n)
{
    if (n < 2) {
        return n;
    }
    uintptr_t left = node(n - 1);
    uintptr_t right = node(n - 2);
    BENCH_KEEP(right);
    return left + right;
}

uintptr_t fib_plain(filch_cx *cx, uintptr_t n)
{
    (void)cx;
    return node(n);
}
