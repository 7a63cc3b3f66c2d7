/* SPDX-License-Identifier: MIT */
/* Contexts: one stack per thread of the client, and the explorer's own. A fiber is made once per
 * process and runs one body after another; the start of a body is a jump to the bottom of its
 * stack, whatever it was doing. Switching is _setjmp and _longjmp, which make no system call;
 * ucontext only gives a fiber its stack. */
#include "rt.h"

#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

typedef struct fiber {
    jmp_buf bottom; /* where a body begins */
    jmp_buf env;    /* where it was left */
    bool made;
    bool starts; /* the next entry begins a body */
} fiber;

typedef struct fibers {
    fiber fiber[RT_THREADS];
    jmp_buf explorer;
    char *stacks;
} fibers;

enum { GUARD = 4096 };

static fibers *state;

void rt_fiber_init(void)
{
    state = rt_map(sizeof(*state));
    state->stacks = rt_map((size_t)RT_THREADS * RT_STACK);
    for (unsigned i = 0; i < RT_THREADS; i++) {
        (void)mprotect(state->stacks + (size_t)i * RT_STACK, GUARD, PROT_NONE);
    }
}

void rt_fiber_stacks(uintptr_t *out_low, uintptr_t *out_high)
{
    *out_low = (uintptr_t)state->stacks;
    *out_high = *out_low + (uintptr_t)RT_THREADS * RT_STACK;
}

static void fiber_main(void)
{
    (void)_setjmp(state->fiber[rt->self->id].bottom);
    rt->self->body(rt->self->arg);
    rt_sched_thread_ended();
}

static _Noreturn void enter_first(unsigned id)
{
    ucontext_t context;
    (void)getcontext(&context);
    context.uc_stack.ss_sp = state->stacks + (size_t)id * RT_STACK + GUARD;
    context.uc_stack.ss_size = RT_STACK - GUARD;
    context.uc_link = NULL;
    makecontext(&context, fiber_main, 0);
    (void)setcontext(&context);
    abort();
}

void rt_fiber_prepare(unsigned id)
{
    state->fiber[id].starts = true;
}

static _Noreturn void enter(unsigned id)
{
    fiber *f = &state->fiber[id];
    rt->self = &rt->thread[id];
    if (!f->starts) {
        _longjmp(f->env, 1);
    }
    f->starts = false;
    if (f->made) {
        _longjmp(f->bottom, 1);
    }
    f->made = true;
    enter_first(id);
}

void rt_fiber_switch(unsigned to)
{
    if (_setjmp(state->fiber[rt->self->id].env) == 0) {
        enter(to);
    }
}

void rt_fiber_leave(void)
{
    _longjmp(state->explorer, 1);
}

void rt_fiber_run(void)
{
    if (_setjmp(state->explorer) == 0) {
        enter(0);
    }
}
