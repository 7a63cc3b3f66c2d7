/* SPDX-License-Identifier: MIT */
/* Scopes: any number of children, joined together. Their records lie in the lane's arena. Children
 * that the owner runs itself are counted without atomics; thieves count downwards from zero, and
 * only the end adds how many were stolen, so that no thief sees the last one too early (the counter
 * of Nowa, Schmaus et al., PPoPP 2021). */
#include "base/compiler.h"
#include "core/fork.h"
#include "core/pool.h"
#include "core/timing.h"

typedef struct scope_state {
    int64_t base; /* index in the deque of the first child */
    filchi_arena_mark mark;
    uint64_t waiting;         /* children pushed and not yet run by the owner */
    filchi_atomic_i64 stolen; /* 0 - finished by thieves; plus, from the end on, all stolen */
    filchi_latch latch;       /* set by the last thief after the end has begun */
    filch_cx *cx;             /* debug builds */
    filchi_fork *newest_fork; /* debug builds */
} scope_state;

typedef struct child {
    filch_fn *fn;
    void *arg;
    scope_state *scope;
    bool isolated;
} child;

_Static_assert(sizeof(scope_state) <= sizeof(filch_scope), "the public scope is too small");

/* Run by a thief. The count, or the latch for the last, is its last touch of the scope. */
static void run_stolen(filch_cx *cx, void *object)
{
    const child *task = object;
    scope_state *scope = task->scope;
    const filchi_call call = filchi_call_begin(cx);
    const bool isolated = cx->isolated;
    cx->isolated = task->isolated;
    const filchi_timing timing = filchi_timing_begin(cx);
    task->fn(cx, task->arg);
    filchi_timing_end(cx, timing);
    cx->isolated = isolated;
    filchi_call_end(cx, call);
    /* [SCOPE-1] acq_rel, pairs with SCOPE-1, SCOPE-2: what the child wrote is visible to the end,
     * or to the thief that is last and sets the latch. */
    if (filchi_add_acq_rel_i64(&scope->stolen, -1) == 1) {
        filchi_latch_set(&scope->latch);
    }
}

void filch_scope_begin(filch_cx *cx, filch_scope *public_scope)
{
    FILCHI_RULE(cx != NULL && public_scope != NULL, "a scope needs a context and memory");
    scope_state *scope = (scope_state *)(void *)public_scope;
    scope->base = filchi_deque_bottom(&cx->forks);
    scope->mark = filchi_arena_here(&cx->arena);
    scope->waiting = 0;
    /* relaxed: published with the first child */
    filchi_store_relaxed_i64(&scope->stolen, 0);
    filchi_latch_init(&scope->latch);
    scope->cx = cx;
    scope->newest_fork = cx->newest_fork;
    if (FILCHI_DEBUG) {
        cx->open_scopes++;
    }
}

void filch_spawn(filch_cx *cx, filch_scope *public_scope, filch_fn *fn, void *arg)
{
    FILCHI_RULE(cx != NULL && public_scope != NULL && fn != NULL,
                "a spawn needs a context, a scope and a function");
    scope_state *scope = (scope_state *)(void *)public_scope;
    FILCHI_RULE(scope->cx == cx, "only the stack that began a scope may spawn into it");
    const filchi_arena_mark mark = filchi_arena_here(&cx->arena);
    child *task = filchi_arena_alloc(&cx->arena, sizeof(*task), _Alignof(child));
    if (FILCHI_UNLIKELY(task == NULL)) {
        fn(cx, arg);
        return;
    }
    *task = (child){ fn, arg, scope, cx->isolated };
    const filch_item item = { (uintptr_t)task, (uintptr_t)run_stolen };
    if (FILCHI_UNLIKELY(filchi_deque_push(&cx->forks, item) != FILCH_OK)) {
        filchi_arena_release(&cx->arena, mark);
        fn(cx, arg);
        return;
    }
    scope->waiting++;
    if (FILCHI_UNLIKELY(filchi_sleep_fork_needs_wake(filchi_sleep_look(&cx->pool->sleep)))) {
        filchi_sleep_wake_for_fork(cx->pool);
    }
}

void filch_scope_end(filch_cx *cx, filch_scope *public_scope)
{
    FILCHI_RULE(cx != NULL && public_scope != NULL, "a scope ends with its context");
    scope_state *scope = (scope_state *)(void *)public_scope;
    FILCHI_RULE(scope->cx == cx, "a scope is ended by the stack that began it");
    FILCHI_RULE(scope->newest_fork == cx->newest_fork,
                "forks made inside a scope are joined before it ends");
    if (FILCHI_DEBUG) {
        cx->open_scopes--;
    }
    filch_item item;
    while (filchi_deque_bottom(&cx->forks) > scope->base && filchi_deque_pop(&cx->forks, &item)) {
        const child *task = (const child *)item.first;
        FILCHI_RULE(task->scope == scope, "scopes nest strictly, last in, first out");
        scope->waiting--;
        task->fn(cx, task->arg);
    }
    const int64_t stolen = (int64_t)scope->waiting;
    if (stolen != 0) {
        /* [SCOPE-2] acq_rel, pairs with SCOPE-1: sees what the finished thieves wrote. */
        if (filchi_add_acq_rel_i64(&scope->stolen, stolen) + stolen != 0) {
            filchi_join_wait(cx, &scope->latch);
        }
    }
    filchi_arena_release(&cx->arena, scope->mark);
}
