/* SPDX-License-Identifier: MIT */
/* Contestant "filch_fork": filch_fork, a direct call, filch_join.
 *
 * The form for code that wants to do something of its own between fork and join. Two calls into the
 * library a node, and the record lies in this frame. */
#include "bench/fib/work.h"
#include "bench/support/keep.h"

#include <filch/fork.h>

BENCH_OUT_OF_LINE static uintptr_t node(filch_cx *cx, uintptr_t n)
{
    if (n < 2) {
        return n;
    }
    filch_fork_handle handle;
    filch_fork(cx, &handle, node, n - 2);
    uintptr_t left = node(cx, n - 1);
    uintptr_t right = filch_join(cx, &handle);
    return left + right;
}

uintptr_t fib_filch_fork(filch_cx *cx, uintptr_t n)
{
    return node(cx, n);
}
