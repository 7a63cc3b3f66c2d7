/* SPDX-License-Identifier: MIT */
/* Contestant "locked": the plain recursion and two locked instructions a node, on a word that no
 * other thread touches.
 *
 * The floor of this design: a Chase-Lev deque with seq_cst accesses stores `bottom` once in push
 * and once in pop, and on x86 each such store is an xchg. They stand where a deque has them, before
 * the first call and between the two. What a deque costs beyond this is its own instructions. */
#include "bench/fib/work.h"
#include "bench/support/keep.h"

/* On lines of its own, so that the cell shares a line with nothing. */
typedef struct private_cell {
    _Alignas(128) uintptr_t word;
} private_cell;

BENCH_OUT_OF_LINE static uintptr_t node(uintptr_t *cell, uintptr_t n)
{
    if (n < 2) {
        return n;
    }
    (void)__atomic_exchange_n(cell, n, __ATOMIC_SEQ_CST);
    uintptr_t left = node(cell, n - 1);
    (void)__atomic_exchange_n(cell, n, __ATOMIC_SEQ_CST);
    uintptr_t right = node(cell, n - 2);
    BENCH_KEEP(right);
    return left + right;
}

uintptr_t fib_locked(filch_cx *cx, uintptr_t n)
{
    private_cell cell = { 0 };
    (void)cx;
    return node(&cell.word, n);
}
