/* SPDX-License-Identifier: MIT */
/* The workload of the fork benchmark: fib(n) by plain recursion, one fork a node, no cut-off.
 *
 * A node does next to nothing, so the time of a run is the cost of its forks and joins. All
 * contestants share the signature, the shape of the node and the flags; each is one translation
 * unit, so that no compiler sees through more than its own contestant. They differ in what stands
 * between the two recursive calls, and in who makes them. All run on one thread. */
#ifndef BENCH_FIB_WORK_H
#define BENCH_FIB_WORK_H

#include <filch/base.h>

#include <stdint.h>

enum { FIB_N = 22, FIB_ROUNDS = 1000 };

/* fib(n) by n additions: what every contestant must return. */
static inline uint64_t fib_value(unsigned n)
{
    uint64_t here = 0;
    uint64_t next = 1;
    for (unsigned i = 0; i < n; i++) {
        const uint64_t sum = here + next;
        here = next;
        next = sum;
    }
    return here;
}

/* Forks of one run: a node with n >= 2 forks once, so forks(n) = forks(n-1) + forks(n-2) + 1. */
static inline uint64_t fib_forks(unsigned n)
{
    return fib_value(n + 1) - 1;
}

/* One run. `cx` is the context of the worker all this runs on; only those of Filch use it. */
typedef uintptr_t fib_fn(filch_cx *cx, uintptr_t n);

uintptr_t fib_plain(filch_cx *cx, uintptr_t n);
uintptr_t fib_locked(filch_cx *cx, uintptr_t n);
uintptr_t fib_byhand(filch_cx *cx, uintptr_t n);
uintptr_t fib_filch_join2(filch_cx *cx, uintptr_t n);
uintptr_t fib_filch_inline(filch_cx *cx, uintptr_t n);
uintptr_t fib_filch_void(filch_cx *cx, uintptr_t n);
uintptr_t fib_filch_fork(filch_cx *cx, uintptr_t n);

/* The same code as fib_byhand with a second thread that steals all it can. Not a contestant: it
 * shows that what fib_byhand is timed with is a deque that works. */
uintptr_t fib_byhand_robbed(uintptr_t n, uint64_t *out_steals);

#endif
