/* SPDX-License-Identifier: MIT */
/* Forking and joining on the deque: the reference version. A fork is a record in the caller's frame
 * and one push; a join is one pop. On one worker that is two locked instructions.
 *
 * Invariant: at a join, the record is the newest item of the lane's deque, or a thief has it, and
 * then it has all older ones too: the deque is empty. */
#include "core/fork.h"

#include "core/pool.h"
#include "core/timing.h"

#include <string.h>

/* Run by a thief. The latch is the last touch of the record. */
static void run_stolen(filch_cx *cx, void *object)
{
    filchi_fork *fork = object;
    const filchi_call call = filchi_call_begin(cx);
    const bool isolated = cx->isolated;
    cx->isolated = fork->isolated;
    const filchi_timing timing = filchi_timing_begin(cx);
    fork->arg = fork->fn(cx, fork->arg);
    filchi_timing_end(cx, timing);
    cx->isolated = isolated;
    filchi_call_end(cx, call);
    filchi_latch_set(&fork->latch);
}

static FILCHI_HOT_INLINE void debug_forked(filch_cx *cx, filchi_fork *fork)
{
    if (FILCHI_DEBUG) {
        fork->older = cx->newest_fork;
        cx->newest_fork = fork;
    }
}

static FILCHI_HOT_INLINE void debug_joined(filch_cx *cx, filchi_fork *fork)
{
    if (FILCHI_DEBUG) {
        FILCHI_RULE(cx->newest_fork == fork, "forks are joined last in, first out");
        cx->newest_fork = fork->older;
    }
}

/* Make the record stealable. False: there is no room; nothing has happened. */
static FILCHI_HOT_INLINE bool fork_push(filch_cx *cx, filchi_fork *fork, filch_word_fn *fn,
                                        uintptr_t arg)
{
    fork->fn = fn;
    fork->arg = arg;
    fork->isolated = cx->isolated;
    filchi_latch_init(&fork->latch);
    const filch_item item = { (uintptr_t)fork, (uintptr_t)run_stolen };
    if (FILCHI_UNLIKELY(filchi_deque_push(&cx->forks, item) != FILCH_OK)) {
        return false;
    }
    if (FILCHI_UNLIKELY(filchi_sleep_fork_needs_wake(filchi_sleep_look(&cx->pool->sleep)))) {
        filchi_sleep_wake_for_fork(cx->pool);
    }
    return true;
}

/* True: the record is ours again and has not run. It can only be the newest item, so the slot is
 * not read. */
static FILCHI_HOT_INLINE bool fork_pop(filch_cx *cx, filchi_fork *fork)
{
    const int64_t index = filchi_deque_claim(&cx->forks);
    if (FILCHI_UNLIKELY(index < 0)) {
        return false;
    }
    FILCHI_RULE(filchi_deque_claimed_item(&cx->forks, index).first == (uintptr_t)fork,
                "forks, scopes and joins nest strictly, last in, first out");
    (void)fork;
    return true;
}

static FILCHI_COLD uintptr_t join_stolen(filch_cx *cx, filchi_fork *fork)
{
    filchi_join_wait(cx, &fork->latch);
    return fork->arg;
}

static FILCHI_COLD filch_pair join2_serial(filch_cx *cx, filch_word_fn *f, uintptr_t a,
                                           filch_word_fn *g, uintptr_t b)
{
    const uintptr_t first = f(cx, a);
    return (filch_pair){ first, g(cx, b) };
}

filch_pair filch_join2_word(filch_cx *cx, filch_word_fn *f, uintptr_t a, filch_word_fn *g,
                            uintptr_t b)
{
    FILCHI_RULE(cx != NULL && f != NULL && g != NULL, "join2 needs a context and two functions");
    filchi_fork fork;
    if (FILCHI_UNLIKELY(!fork_push(cx, &fork, g, b))) {
        return join2_serial(cx, f, a, g, b);
    }
    debug_forked(cx, &fork);
    const uintptr_t first = f(cx, a);
    debug_joined(cx, &fork);
    if (FILCHI_LIKELY(fork_pop(cx, &fork))) {
        /* from the record, not from g and b: saves two registers across the call of f */
        return (filch_pair){ first, fork.fn(cx, fork.arg) };
    }
    return (filch_pair){ first, join_stolen(cx, &fork) };
}

/* The void* form in word form. */
typedef struct closure {
    filch_fn *fn;
    void *arg;
} closure;

static uintptr_t run_closure(filch_cx *cx, uintptr_t word)
{
    const closure *call = (const closure *)word;
    call->fn(cx, call->arg);
    return 0;
}

void filch_join2(filch_cx *cx, filch_fn *f, void *a, filch_fn *g, void *b)
{
    FILCHI_RULE(cx != NULL && f != NULL && g != NULL, "join2 needs a context and two functions");
    const closure second = { g, b };
    filchi_fork fork;
    if (FILCHI_UNLIKELY(!fork_push(cx, &fork, run_closure, (uintptr_t)&second))) {
        f(cx, a);
        g(cx, b);
        return;
    }
    debug_forked(cx, &fork);
    f(cx, a);
    debug_joined(cx, &fork);
    if (FILCHI_LIKELY(fork_pop(cx, &fork))) {
        g(cx, b);
    } else {
        (void)join_stolen(cx, &fork);
    }
}

void filch_fork(filch_cx *cx, filch_fork_handle *handle, filch_word_fn *fn, uintptr_t arg)
{
    FILCHI_RULE(cx != NULL && handle != NULL && fn != NULL,
                "a fork needs a context, a handle and a function");
    filchi_fork *fork = (filchi_fork *)(void *)handle;
    fork->ran_at_once = false;
    if (FILCHI_UNLIKELY(!fork_push(cx, fork, fn, arg))) {
        fork->arg = fn(cx, arg);
        fork->ran_at_once = true;
    }
    debug_forked(cx, fork);
}

uintptr_t filch_join(filch_cx *cx, filch_fork_handle *handle)
{
    FILCHI_RULE(cx != NULL && handle != NULL, "a join needs a context and a handle");
    filchi_fork *fork = (filchi_fork *)(void *)handle;
    debug_joined(cx, fork);
    if (FILCHI_UNLIKELY(fork->ran_at_once)) {
        return fork->arg;
    }
    if (FILCHI_LIKELY(fork_pop(cx, fork))) {
        return fork->fn(cx, fork->arg);
    }
    return join_stolen(cx, fork);
}
