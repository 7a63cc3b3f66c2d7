/* SPDX-License-Identifier: MIT */
/* Who runs next. Before each visible step of a thread there is a point at which another may go on.
 * A thread that waits is out of the game until somebody wakes it, or until its deadline passes; if
 * nobody can go on, the wake-up was lost.
 *
 * Spinning: a thread that has read nothing new for SPIN_FREE loads may be left for others without
 * it counting as a pre-emption, once; after that nobody interrupts its loads; after SPIN_REST of
 * them it rests until another thread has made a step. Loops that count to less than SPIN_REST are
 * thus seen to the end, and endless ones do not hold up the search.
 *
 * Fairness: a thread that could have gone on for FAIR_STEPS steps of others does, in every mode; some
 * loops are only right if the thread they wait for runs at all. */
#include "rt.h"

enum {
    FAIR_STEPS = 1000, /* more than clients that are searched completely have */
    SPIN_FREE = 2,
    SPIN_REST = 64 /* more than the longest counted spin of the library, 16 */
};

typedef struct sched {
    unsigned steps;
    unsigned resting; /* how many threads rest */
} sched;

static sched *state;

void rt_sched_init(void)
{
    state = rt_map(sizeof(*state));
}

void rt_sched_reset(void)
{
    state->steps = 0;
    state->resting = 0;
    rt->threads = 0;
    rt->live = 0;
    rt->self = &rt->thread[0];
}

unsigned rt_sched_steps(void)
{
    return state->steps;
}

static bool waits_with_deadline(const rt_thread *t)
{
    return t->state > RT_RUNNABLE && t->state < RT_DONE && t->deadline != INT64_MAX;
}

static bool may_time_out(const rt_thread *t)
{
    return waits_with_deadline(t) && !rt->client->no_early_timeouts;
}

/* The threads that may go on other than `but`; those that rest only if `rested` says so. */
static unsigned gather_running(uint8_t *ids, unsigned n, const rt_thread *but, bool rested)
{
    for (unsigned i = 0; i < rt->threads; i++) {
        const rt_thread *t = &rt->thread[i];
        if (t != but && t->state == RT_RUNNABLE && t->resting == rested) {
            ids[n++] = (uint8_t)i;
        }
    }
    return n;
}

static unsigned gather(uint8_t *ids, unsigned n, const rt_thread *but)
{
    const unsigned before = n;
    n = gather_running(ids, n, but, false);
    if (n == before) {
        n = gather_running(ids, n, NULL, true);
    }
    for (unsigned i = 0; i < rt->threads; i++) {
        if (&rt->thread[i] != but && may_time_out(&rt->thread[i])) {
            ids[n++] = (uint8_t)i;
        }
    }
    return n;
}

/* Deadlines that pass since time goes on and nobody can do anything else. */
static unsigned gather_late(uint8_t *ids)
{
    unsigned n = 0;
    for (unsigned i = 0; i < rt->threads; i++) {
        if (waits_with_deadline(&rt->thread[i])) {
            ids[n++] = (uint8_t)i;
        }
    }
    return n;
}

static void wake_others_up(void)
{
    if (state->resting == 0 || (state->resting == 1 && rt->self->resting)) {
        return;
    }
    for (unsigned i = 0; i < rt->threads; i++) {
        rt_thread *t = &rt->thread[i];
        if (t != rt->self && t->resting) {
            t->resting = false;
            t->same_reads = 0;
            state->resting--;
        }
    }
}

static void rest(rt_thread *t)
{
    if (!t->resting) {
        t->resting = true;
        state->resting++;
    }
}

static void go_to(unsigned id)
{
    rt_thread *next = &rt->thread[id];
    rt->self->ran_until = state->steps;
    if (next->state != RT_RUNNABLE) {
        next->timed_out = true;
        next->state = RT_RUNNABLE;
        if (rt->clock_ns < next->deadline) {
            rt->clock_ns = next->deadline;
        }
    }
    if (next != rt->self) {
        rt_fiber_switch(id);
    }
    if (rt->self->resting) {
        rt->self->resting = false;
        rt->self->same_reads = 0;
        state->resting--;
    }
}

static const char *waiting_for(rt_state how)
{
    switch (how) {
    case RT_WAITS_MUTEX:
        return "a mutex";
    case RT_WAITS_FUTEX:
        return "a futex";
    case RT_WAITS_CONDITION:
        return "a condition variable";
    default:
        return "a thread's end";
    }
}

static _Noreturn void deadlock(void)
{
    for (unsigned i = 0; i < rt->threads; i++) {
        const rt_thread *t = &rt->thread[i];
        if (t->state != RT_DONE) {
            rt_trace(t->pc, "T%u waits for %s %s", i, waiting_for(t->state),
                     t->state == RT_WAITS_THREAD ? "" : rt_trace_where(t->object));
        }
    }
    model_fail("all threads wait and nobody is left to wake them");
}

/* The current thread cannot go on, or has ended. */
static void pass_on(void)
{
    uint8_t ids[RT_THREADS];
    unsigned n = gather(ids, 0, rt->self);
    if (n == 0) {
        n = gather_late(ids);
    }
    if (n == 0) {
        deadlock();
    }
    go_to(ids[n > 1 ? rt_choose_thread(ids, n, false) : 0]);
}

/* A step of its own in the thread's history: no state is twice on one way. */
static void count_step(void)
{
    (void)rt_history_add('p', 0);
    if (++state->steps > RT_STEPS) {
        model_fail("no end after %d steps: some thread waits for ever while running", RT_STEPS);
    }
}

/* Somebody who could go on and was not let for too long; NULL: nobody. */
static const rt_thread *starving(void)
{
    for (unsigned i = 0; i < rt->threads; i++) {
        const rt_thread *t = &rt->thread[i];
        if (t != rt->self && t->state == RT_RUNNABLE && state->steps - t->ran_until > FAIR_STEPS) {
            return t;
        }
    }
    return NULL;
}

void rt_point(const void *pc, bool is_load)
{
    rt_thread *self = rt->self;
    self->pc = pc;
    count_step();
    if (rt->threads == 1) {
        return;
    }
    wake_others_up();
    const rt_thread *first = state->steps > FAIR_STEPS ? starving() : NULL;
    if (first != NULL) {
        rt_choose_forced(first->id);
        go_to(first->id);
        return;
    }
    const unsigned same = self->same_reads;
    if (same >= SPIN_REST) {
        rest(self);
        pass_on();
        return;
    }
    if (is_load && same > SPIN_FREE) {
        return;
    }
    uint8_t ids[RT_THREADS] = { (uint8_t)self->id };
    const unsigned n = gather(ids, 1, self);
    if (n > 1) {
        go_to(ids[rt_choose_thread(ids, n, !(is_load && same == SPIN_FREE))]);
    }
}

void rt_sched_yield(void)
{
    count_step();
    wake_others_up();
    rest(rt->self);
    pass_on();
}

unsigned rt_sched_spawn(model_thread *body, void *arg)
{
    if (rt->threads == RT_THREADS) {
        model_fail("the client starts more than %d threads", RT_THREADS);
    }
    const unsigned id = rt->threads++;
    rt_thread *t = &rt->thread[id];
    t->id = id;
    t->state = RT_RUNNABLE;
    t->deadline = INT64_MAX;
    t->body = body;
    t->arg = arg;
    t->local = NULL;
    t->rel = NULL;
    t->same_reads = 0;
    t->resting = false;
    t->pc = NULL;
    t->ran_until = state->steps;
    rt->live++;
    rt_fiber_prepare(id);
    return id;
}

/* No point before it: to wait for an end is no step that others could see. */
void rt_sched_join(unsigned id)
{
    rt_thread *t = &rt->thread[id];
    while (t->state != RT_DONE) {
        (void)rt_sched_wait(RT_WAITS_THREAD, t, INT64_MAX);
    }
    rt_view_join(rt->self->cur, t->cur);
    (void)rt_history_add('j', t->history);
    rt_event_done(0);
}

void rt_sched_join_all(void)
{
    while (rt->live > 1) {
        (void)rt_sched_wait(RT_WAITS_THREAD, rt, INT64_MAX);
    }
    for (unsigned i = 0; i < rt->threads; i++) {
        if (i != rt->self->id) {
            rt_sched_join(i);
        }
    }
}

_Noreturn void rt_sched_thread_ended(void)
{
    rt_thread *self = rt->self;
    self->state = RT_DONE;
    self->deadline = INT64_MAX;
    rt->live--;
    (void)rt_sched_wake(RT_WAITS_THREAD, self, RT_THREADS);
    if (rt->live == 1) {
        (void)rt_sched_wake(RT_WAITS_THREAD, rt, 1);
    }
    wake_others_up();
    if (rt->live > 0) {
        pass_on();
    }
    rt_fiber_leave();
}

bool rt_sched_wait(rt_state how, const void *object, int64_t deadline_ns)
{
    rt_thread *self = rt->self;
    self->state = how;
    self->object = object;
    self->deadline = deadline_ns;
    self->timed_out = false;
    self->same_reads = 0;
    wake_others_up();
    pass_on();
    self->deadline = INT64_MAX;
    if (how != RT_WAITS_MUTEX) { /* a lock counts when it is taken */
        (void)rt_history_add((uintptr_t)object, self->timed_out);
    }
    return !self->timed_out;
}

static void wake(rt_thread *t)
{
    t->ran_until = state->steps;
    if (t->state == RT_WAITS_FUTEX || t->state == RT_WAITS_CONDITION) {
        t->history = rt_mix(t->history, rt_history_add(t->id, 'w'));
    }
    t->state = RT_RUNNABLE;
    t->deadline = INT64_MAX;
}

unsigned rt_sched_wake(rt_state how, const void *object, unsigned limit)
{
    unsigned woken = 0;
    while (woken < limit) {
        uint8_t ids[RT_THREADS];
        unsigned n = 0;
        for (unsigned i = 0; i < rt->threads; i++) {
            const rt_thread *t = &rt->thread[i];
            if (t->state == how && t->object == object) {
                ids[n++] = (uint8_t)i;
            }
        }
        if (n == 0) {
            break;
        }
        /* who is woken first matters only if not all are */
        const unsigned pick = n > limit - woken ? rt_choose_client(n) : 0;
        wake(&rt->thread[ids[pick]]);
        woken++;
    }
    return woken;
}
