/* SPDX-License-Identifier: MIT */
/* Scopes: any number of children, joined together. A child is a fork whose argument lies in the
 * lane's arena; the end joins them one after the other, newest first. */
#include "base/compiler.h"
#include "core/fork.h"

typedef struct scope_state {
    filch_cx *base; /* the first free record when it began */
    filch_cx *top;  /* behind the last child */
    filchi_arena_mark mark;
    filchi_lane *lane;
    uint64_t waiting; /* children that are not joined */
    uintptr_t outer;  /* debug builds: the scope around it */
} scope_state;

typedef struct child {
    filch_fn *fn;
    void *arg;
} child;

_Static_assert(sizeof(scope_state) <= sizeof(filch_scope), "the public scope is too small");

static uintptr_t run_child(filch_cx *cx, uintptr_t word)
{
    const child *task = (const child *)word;
    task->fn(cx, task->arg);
    return 0;
}

void filch_scope_begin(filch_cx *cx, filch_scope *public_scope)
{
    FILCHI_RULE(cx != NULL && public_scope != NULL, "a scope needs a context and memory");
    scope_state *scope = (scope_state *)(void *)public_scope;
    filchi_lane *lane = filchi_lane_of(cx);
    filch_cx *top = filchi_lane_top(lane, cx);
    *scope =
        (scope_state){ top, top, filchi_arena_here(&lane->arena), lane, 0, lane->newest_scope };
    if (FILCHI_DEBUG) {
        lane->open_scopes++;
        lane->newest_scope = (uintptr_t)scope;
    }
}

void filch_spawn(filch_cx *cx, filch_scope *public_scope, filch_fn *fn, void *arg)
{
    FILCHI_RULE(cx != NULL && public_scope != NULL && fn != NULL,
                "a spawn needs a context, a scope and a function");
    scope_state *scope = (scope_state *)(void *)public_scope;
    filchi_lane *lane = filchi_lane_of(cx);
    FILCHI_RULE(scope->lane == lane, "only the stack that began a scope may spawn into it");
    FILCHI_RULE(lane->newest_scope == (uintptr_t)scope, "scopes nest strictly, last in, first out");
    const filchi_arena_mark mark = filchi_arena_here(&lane->arena);
    child *task = filchi_arena_alloc(&lane->arena, sizeof(*task), _Alignof(child));
    if (FILCHI_UNLIKELY(task == NULL)) {
        fn(cx, arg);
        return;
    }
    *task = (child){ fn, arg };
    const filch_cx *record = filchi_lane_push(lane, scope->top, run_child, (uintptr_t)task);
    if (FILCHI_UNLIKELY(record == NULL)) {
        filchi_arena_release(&lane->arena, mark);
        fn(cx, arg);
        return;
    }
    scope->top = filchi_lane_next_free(lane);
    scope->waiting++;
}

void filch_scope_end(filch_cx *cx, filch_scope *public_scope)
{
    FILCHI_RULE(cx != NULL && public_scope != NULL, "a scope ends with its context");
    scope_state *scope = (scope_state *)(void *)public_scope;
    filchi_lane *lane = filchi_lane_of(cx);
    FILCHI_RULE(scope->lane == lane, "a scope is ended by the stack that began it");
    FILCHI_RULE(lane->newest_scope == (uintptr_t)scope, "scopes nest strictly, last in, first out");
    if (FILCHI_DEBUG) {
        lane->open_scopes--;
        lane->newest_scope = scope->outer;
    }
    FILCHI_RULE(filchi_record_number(filchi_lane_top(lane, cx)) ==
                    filchi_record_number(scope->base) + scope->waiting,
                "forks made inside a scope are joined before it ends");
    filch_cx *top = filchi_lane_top(lane, scope->top);
    while (scope->waiting != 0) {
        filch_cx *record = top - 1;
        if (FILCHI_UNLIKELY(!filchi_lane_pop(lane, record))) {
            filchi_join_all_taken(lane, record, scope->waiting);
            break;
        }
        scope->waiting--;
        top = filchi_lane_next_free(lane);
        /* relaxed: our own */
        (void)run_child(top, filchi_load_relaxed_uptr(filchi_record_arg(record)));
    }
    filchi_arena_release(&lane->arena, scope->mark);
}
