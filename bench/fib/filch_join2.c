/* SPDX-License-Identifier: MIT */
/* Contestant "filch": filch_join2_word, called as every user calls it, an exported function.
 *
 * Three calls a node instead of two: join2, and from there both children through pointers. The
 * difference to "byhand" is the price of keeping the protocol inside the library. */
#include "bench/fib/work.h"
#include "bench/support/keep.h"

#include <filch/fork.h>

BENCH_OUT_OF_LINE static uintptr_t node(filch_cx *cx, uintptr_t n)
{
    if (n < 2) {
        return n;
    }
    const filch_pair both = filch_join2_word(cx, node, n - 1, node, n - 2);
    return both.first + both.second;
}

uintptr_t fib_filch_join2(filch_cx *cx, uintptr_t n)
{
    return node(cx, n);
}
