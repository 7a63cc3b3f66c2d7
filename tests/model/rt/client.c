/* SPDX-License-Identifier: MIT */
/* What clients call: threads, choices. */
#include "rt.h"

#include <stdlib.h>

unsigned model_spawn(model_thread *body, void *arg)
{
    const void *pc = __builtin_return_address(0);
    const unsigned id = rt_sched_spawn(body, arg);
    rt->thread[id].history = rt_mix(rt_history_add('S', id), id);
    rt_view_copy(rt->thread[id].cur, rt->self->cur);
    if (rt->thread[id].cur->clock[id] == 0) {
        rt->thread[id].cur->clock[id] = 1;
    }
    if (rt->tracing) {
        rt_trace(pc, "starts T%u", id);
    }
    rt_event_done(0);
    return id;
}

void model_join(unsigned thread)
{
    rt_sched_join(thread);
    if (rt->tracing) {
        rt_trace(__builtin_return_address(0), "joined T%u", thread);
    }
}

void model_join_all(void)
{
    rt_sched_join_all();
}

void model_yield(void)
{
    rt_sched_yield();
}

unsigned model_choose(unsigned n)
{
    return n > 1 ? rt_choose_client(n) : 0;
}

uint64_t model_ghost(unsigned n, uint64_t add)
{
    uint64_t *counter = &rt->ghost[n % RT_GHOSTS];
    *counter += add;
    (void)rt_history_add(*counter, n);
    return *counter;
}

_Noreturn void __wrap_abort(void);
_Noreturn void __wrap_abort(void)
{
    model_fail("abort()");
}
