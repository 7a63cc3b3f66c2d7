/* SPDX-License-Identifier: MIT */
/* Two marks that keep a compiler from measuring something else than what is written.
 *
 * Without them gcc inlines a recursion several levels into itself, clones it per argument, and both
 * compilers turn the last call of `f(a) + f(b)` into a loop with an accumulator. A runtime cannot
 * do any of that across its own call, so the contestants must not do it either. */
#ifndef BENCH_SUPPORT_KEEP_H
#define BENCH_SUPPORT_KEEP_H

/* One real function, reached by real calls: not inlined, not specialised per argument. It begins a
 * cache line: where a linker happens to put a function of a nanosecond changes its time by a fifth. */
#if defined(__clang__)
#define BENCH_OUT_OF_LINE __attribute__((noinline, aligned(64)))
#else
#define BENCH_OUT_OF_LINE __attribute__((noinline, noclone, aligned(64)))
#endif

/* `value` is used here, in a register; emits nothing. After a call it keeps that call a call: with
 * something behind it, it is no tail call. */
#define BENCH_KEEP(value) __asm__ volatile("" : "+r"(value))

#endif
