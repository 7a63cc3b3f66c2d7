/* SPDX-License-Identifier: MIT */
/* Forking and joining. The fast path is that of fork_inline.h, here behind a call; what follows are
 * its slow halves, and the forms with a handle.
 *
 * Invariant: at a join, the record is the newest of the lane; if a thief has it, then thieves have
 * taken all older ones too. */
#include "core/fork.h"

static uintptr_t join(filchi_lane *lane, filch_cx *record, filch_word_fn *fn)
{
    if (filchi_lane_pop(lane, record)) {
        /* relaxed: our own */
        return fn(filchi_lane_next_free(lane), filchi_load_relaxed_uptr(filchi_record_arg(record)));
    }
    return filchi_join_taken(lane, record);
}

/* The task has forks outstanding besides, or there is no record ready. */
filch_pair filch_priv_join2(filch_cx *cx, filch_word_fn *f, uintptr_t a, filch_word_fn *g,
                            uintptr_t b)
{
    filchi_lane *lane = filchi_lane_of(cx);
    filch_cx *record = filchi_lane_push(lane, cx, g, b);
    filch_pair pair;
    if (record == NULL) { /* no memory */
        pair.first = f(cx, a);
        pair.second = g(cx, b);
    } else {
        pair.first = f(record + 1, a);
        pair.second = join(lane, record, g);
    }
    return pair;
}

uintptr_t filch_priv_forked(filch_cx *cx, filch_word_fn *f, uintptr_t a)
{
    (void)filchi_lane_settle(filchi_lane_of(cx), filchi_region_of(cx), filchi_record_index(cx) + 1,
                             FILCHI_OFFER_OLDEST);
    return f(cx + 1, a);
}

uintptr_t filch_priv_joined(filch_cx *cx, filch_word_fn *g)
{
    return join(filchi_lane_of(cx), cx, g);
}

filch_pair filch_join2_word(filch_cx *cx, filch_word_fn *f, uintptr_t a, filch_word_fn *g,
                            uintptr_t b)
{
    FILCHI_RULE(cx != NULL && f != NULL && g != NULL, "join2 needs a context and two functions");
    (void)filchi_lane_own(cx);
    return filch_priv_join2_inline(cx, f, a, g, b);
}

void filch_join2(filch_cx *cx, filch_fn *f, void *a, filch_fn *g, void *b)
{
    FILCHI_RULE(cx != NULL && f != NULL && g != NULL, "join2 needs a context and two functions");
    (void)filchi_lane_own(cx);
    filch_priv_join2_void(cx, f, a, g, b);
}

uintptr_t filch_priv_run_closure(filch_cx *cx, uintptr_t closure)
{
    const filch_priv_closure *call = (const filch_priv_closure *)closure;
    call->fn(cx, call->arg);
    return 0;
}

void filch_isolate(filch_cx *cx, filch_fn *fn, void *arg)
{
    FILCHI_RULE(cx != NULL && fn != NULL, "isolate needs a context and a function");
    filchi_lane *lane = filchi_lane_own(cx);
    const bool before = filchi_lane_isolate(lane, cx, true);
    fn(cx, arg);
    (void)filchi_lane_isolate(lane, cx, before);
}

/* A handle holds the record, or 0 and the result of a child that ran at once; debug builds: the lane
 * that it is outstanding on. */
void filch_fork(filch_cx *cx, filch_fork_handle *handle, filch_word_fn *fn, uintptr_t arg)
{
    FILCHI_RULE(cx != NULL && handle != NULL && fn != NULL,
                "a fork needs a context, a handle and a function");
    filchi_lane *lane = filchi_lane_own(cx);
    filch_cx *record = filchi_lane_push(lane, cx, fn, arg);
    if (FILCHI_DEBUG) {
        handle->priv[2] = (uintptr_t)lane;
    }
    handle->priv[0] = (uintptr_t)record;
    if (record == NULL) {
        handle->priv[1] = fn(cx, arg);
    }
}

uintptr_t filch_join(filch_cx *cx, filch_fork_handle *handle)
{
    FILCHI_RULE(cx != NULL && handle != NULL, "a join needs a context and a handle");
    filch_cx *record = (filch_cx *)handle->priv[0];
    filchi_lane *lane = filchi_lane_own(cx);
    FILCHI_RULE(handle->priv[2] == (uintptr_t)lane, "forks are joined last in, first out");
    if (FILCHI_DEBUG) {
        handle->priv[2] = 0;
    }
    if (record == NULL) {
        return handle->priv[1];
    }
    FILCHI_RULE(filchi_lane_top(lane, cx) == record + 1, "forks are joined last in, first out");
    /* relaxed: our own; the claim clears it */
    filch_word_fn *fn = (filch_word_fn *)filchi_load_relaxed_uptr(filchi_record_fn(record));
    return join(lane, record, fn);
}
