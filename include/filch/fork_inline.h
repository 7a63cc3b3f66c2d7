/* SPDX-License-Identifier: MIT */
/* The fast path of filch_join2 and filch_join2_word, compiled into the caller: included by fork.h
 * where FILCH_INLINE is defined. Nothing here is for use by itself.
 *
 * `cx` points to the first free record of the running task, in an array that its lane owns. A fork
 * fills the record and gives the callee the next one; a join empties it again. Both then look at the
 * bar at the start of the region (the memory around, aligned to its size): above the record means
 * that somebody asks for work, or may have taken the record, and the slow path settles it. There is
 * no fence: whoever takes a record that was not offered has made every thread of the process pass
 * one, by membarrier(2). src/core/README.md, "Records", has the protocol. */
#ifndef FILCH_FORK_INLINE_H
#define FILCH_FORK_INLINE_H

#include <filch/base.h>

FILCH_BEGIN_DECLS

#define FILCH_REGION_BYTES 65536u

struct filch_cx {
    uintptr_t fn; /* filch_word_fn; 0: free, or claimed by its owner */
    uintptr_t arg;
};

/* The slow halves. They make the call whose turn it is and return what it returns. Cold, so that a
 * leaf saves no registers for their sake. */
FILCH_API filch_pair filch_priv_join2(filch_cx *cx, filch_word_fn *f, uintptr_t a, filch_word_fn *g,
                                      uintptr_t b) __attribute__((cold));
FILCH_API uintptr_t filch_priv_forked(filch_cx *cx, filch_word_fn *f, uintptr_t a)
    __attribute__((cold));
FILCH_API uintptr_t filch_priv_joined(filch_cx *cx, filch_word_fn *g) __attribute__((cold));

static inline __attribute__((always_inline)) int filch_priv_above_bar(const filch_cx *cx)
{
    const uintptr_t *bar =
        (const uintptr_t *)((uintptr_t)cx & ~(uintptr_t)(FILCH_REGION_BYTES - 1));
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* what was stored before comes first */
    return __atomic_load_n(bar, __ATOMIC_RELAXED) <= (uintptr_t)cx;
}

/* `cx` after the first call. To the compiler it is another pointer: it computes the region anew, which
 * is cheaper than a register kept over the call, saved and restored in leaves too. */
static inline __attribute__((always_inline)) filch_cx *filch_priv_resumed(filch_cx *cx)
{
    __asm__("" : "+r"(cx));
    return cx;
}

/* The argument of the second call, which nobody has taken. gcc does better with `b` in a register,
 * clang when it reads the record: fib 0.61 instead of 0.64, tree 1.00 instead of 1.12. */
static inline __attribute__((always_inline)) uintptr_t filch_priv_second(const filch_cx *cx,
                                                                         uintptr_t b)
{
    return FILCH_PRIV_RELOADS ? __atomic_load_n(&cx->arg, __ATOMIC_RELAXED) /* our own */ : b;
}

static inline __attribute__((always_inline)) filch_pair
filch_priv_join2_inline(filch_cx *cx, filch_word_fn *f, uintptr_t a, filch_word_fn *g, uintptr_t b)
{
    filch_pair pair;
    if (__builtin_expect(__atomic_load_n(&cx->fn, __ATOMIC_RELAXED) != 0, 0)) {
        return filch_priv_join2(cx, f, a, g, b); /* not the first free one, or the last there is */
    }
    __atomic_store_n(&cx->arg, b, __ATOMIC_RELAXED);
    __atomic_store_n(&cx->fn, (uintptr_t)g, __ATOMIC_RELEASE); /* REC-8, as filchi_lane_push */
    pair.first =
        __builtin_expect(filch_priv_above_bar(cx), 1) ? f(cx + 1, a) : filch_priv_forked(cx, f, a);
    cx = filch_priv_resumed(cx);
    __atomic_store_n(&cx->fn, 0, __ATOMIC_RELAXED);
    pair.second = __builtin_expect(filch_priv_above_bar(cx), 1) ? g(cx, filch_priv_second(cx, b))
                                                                : filch_priv_joined(cx, g);
    return pair;
}

/* The void* forms in word form. */
typedef struct filch_priv_closure {
    filch_fn *fn;
    void *arg;
} filch_priv_closure;

FILCH_API uintptr_t filch_priv_run_closure(filch_cx *cx, uintptr_t closure);

static inline __attribute__((always_inline)) void
filch_priv_join2_void(filch_cx *cx, filch_fn *f, void *a, filch_fn *g, void *b)
{
    const filch_priv_closure first = { f, a };
    const filch_priv_closure second = { g, b };
    if (__builtin_expect(__atomic_load_n(&cx->fn, __ATOMIC_RELAXED) != 0, 0)) {
        (void)filch_priv_join2(cx, filch_priv_run_closure, (uintptr_t)&first,
                               filch_priv_run_closure, (uintptr_t)&second);
        return;
    }
    __atomic_store_n(&cx->arg, (uintptr_t)&second, __ATOMIC_RELAXED);
    __atomic_store_n(&cx->fn, (uintptr_t)filch_priv_run_closure, __ATOMIC_RELEASE); /* REC-8 */
    if (__builtin_expect(filch_priv_above_bar(cx), 1)) {
        f(cx + 1, a);
    } else {
        (void)filch_priv_forked(cx, filch_priv_run_closure, (uintptr_t)&first);
    }
    cx = filch_priv_resumed(cx);
    __atomic_store_n(&cx->fn, 0, __ATOMIC_RELAXED);
    if (__builtin_expect(filch_priv_above_bar(cx), 1)) {
        g(cx, b);
    } else {
        (void)filch_priv_joined(cx, filch_priv_run_closure);
    }
}

#if defined(FILCH_INLINE)

static inline __attribute__((always_inline)) filch_pair
filch_join2_word(filch_cx *cx, filch_word_fn *f, uintptr_t a, filch_word_fn *g, uintptr_t b)
{
    return filch_priv_join2_inline(cx, f, a, g, b);
}

static inline __attribute__((always_inline)) void filch_join2(filch_cx *cx, filch_fn *f, void *a,
                                                              filch_fn *g, void *b)
{
    filch_priv_join2_void(cx, f, a, g, b);
}

#endif

FILCH_END_DECLS

#endif
