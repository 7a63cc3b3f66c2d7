/* SPDX-License-Identifier: MIT */
/* Fork-join: strictly nested parallel calls, no allocation, results in the caller's frame.
 *
 * A fork makes a child that an idle worker may steal; a join waits for it, and runs it on the spot
 * if nobody took it. The owner runs its newest child first, a thief takes the oldest. A join that
 * has to wait runs other forks meanwhile, at most 32 on top of one another and only while half of
 * the worker's stack is left; it never runs a detached task. So a task may start with half of the
 * stack: one that needs more needs a pool with larger stacks. Inside the body of a loop, or of
 * filch_isolate, a join is isolated: it only waits.
 *
 * Cost:    define FILCH_INLINE before this header, and filch_join2 and filch_join2_word are compiled
 *          into the caller: a few plain stores and compares. Every file of a program may choose; such
 *          a program goes with the library it was compiled for (FILCH_E_ABI). Without it both are
 *          exported calls. An outstanding fork takes 16 bytes of its worker's memory.
 * Theft:   a fork is private until another worker asks; its own one then offers the oldest at its
 *          next fork or join. A worker that does neither (a long task, one that sleeps, one that the
 *          system does not run) hides nothing: who finds no work takes its oldest fork without being
 *          offered it, by membarrier(2), where the system has that (FILCH_POOL_NO_BARRIER). A worker
 *          that was woken for little lets up to 1 ms pass before it looks again.
 * Depth:   bounded by the stack alone: a small function that nests in filch_join2_word takes about
 *          100 bytes a level on x86-64; past the end of a worker's stack lies a guard page.
 * Children always run, also while the pool is being cancelled.
 * Threads: all calls here belong to the thread that `cx` was given to.
 * Order:   writes before the fork are visible to the child, those of the child after the join.
 * Fails:   never. If memory for more forks cannot be had, the child runs at once, in its parent.
 * Misuse:  functions must not be NULL; forks and scopes nest strictly, last in, first out. A spawn
 *          counts as a fork, so join every fork before the next spawn, spawn into the innermost
 *          open scope only, and leave none open when a task returns. Undefined in release builds;
 *          debug builds abort, but a thief may meet what the owner broke before the owner does.
 *
 * Child stealing with private work that is offered on request: Acar, Chargueraud and Rainey, PPoPP
 * 2013; an array of records with a moving bar: Lace, van Dijk and van de Pol, Euro-Par 2014 workshops. */
#ifndef FILCH_FORK_H
#define FILCH_FORK_H

#include <filch/base.h>

FILCH_BEGIN_DECLS

#if !defined(FILCH_INLINE)
/* Call f(cx, a) and g(cx, b) in parallel and return both results: f runs here, g may be stolen. */
FILCH_API filch_pair filch_join2_word(filch_cx *cx, filch_word_fn *f, uintptr_t a, filch_word_fn *g,
                                      uintptr_t b);

/* The same for functions that keep their results in memory of the caller. */
FILCH_API void filch_join2(filch_cx *cx, filch_fn *f, void *a, filch_fn *g, void *b);
#endif

/* As filch_run (pool.h), with a word in and a word out. `out_value` may be NULL. */
FILCH_API filch_status filch_run_word(filch_pool *pool, filch_word_fn *fn, uintptr_t arg,
                                      uintptr_t *out_value);

/* One outstanding fork; lives in the caller's frame from filch_fork to filch_join. All private. */
typedef struct filch_fork_handle {
    uintptr_t priv[6];
} filch_fork_handle;

/* Fork `fn(cx, arg)`; `handle` needs no initialisation and may be used again after its join. */
FILCH_API void filch_fork(filch_cx *cx, filch_fork_handle *handle, filch_word_fn *fn,
                          uintptr_t arg);

/* Join the newest fork that is still outstanding on this stack and return its result. */
FILCH_API uintptr_t filch_join(filch_cx *cx, filch_fork_handle *handle);

/* A scope: any number of children, joined together. Lives in the caller's frame. All private. */
typedef struct filch_scope {
    uintptr_t priv[14];
} filch_scope;

/* Begin a scope; add children to it; wait for all of them. Only the stack that began a scope adds
 * to it and ends it; a child that wants children begins its own. `arg` must stay alive until
 * filch_scope_end has returned. A spawn costs about 32 bytes of the worker's memory, kept for
 * later scopes. */
FILCH_API void filch_scope_begin(filch_cx *cx, filch_scope *scope);
FILCH_API void filch_spawn(filch_cx *cx, filch_scope *scope, filch_fn *fn, void *arg);
FILCH_API void filch_scope_end(filch_cx *cx, filch_scope *scope);

/* Call fn(cx, arg) so that no wait in it, nor in what it forks, runs anything but what is waited for:
 * a join whose child was stolen only waits. So it may hold a lock that other tasks want: no task can
 * be started on top of it and block on that lock. The bodies of loops run like this always. */
FILCH_API void filch_isolate(filch_cx *cx, filch_fn *fn, void *arg);

FILCH_END_DECLS

#if defined(FILCH_INLINE)
#include <filch/fork_inline.h>
#endif

#endif
