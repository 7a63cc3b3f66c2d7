/* SPDX-License-Identifier: MIT */
/* Contestant "inline": filch_join2_word compiled into its caller, by FILCH_INLINE.
 * Two calls a node, as in "plain", and the slow paths behind a branch. */
#include "bench/fib/work.h"
#include "bench/support/keep.h"

#define FILCH_INLINE
#include <filch/fork.h>

BENCH_OUT_OF_LINE static uintptr_t node(filch_cx *cx, uintptr_t n)
{
    if (n < 2) {
        return n;
    }
    const filch_pair both = filch_join2_word(cx, node, n - 1, node, n - 2);
    return both.first + both.second;
}

uintptr_t fib_filch_inline(filch_cx *cx, uintptr_t n)
{
    return node(cx, n);
}
