/* SPDX-License-Identifier: MIT */
/* The order of seq_cst events, as RC11 has it (Lahav et al., PLDI 2017): not the order in which an
 * execution happens to make them, but a graph that must stay without cycles. An edge e -> f means
 * that every thread agrees that e comes first:
 *
 *   same thread: e before f; or e, an access elsewhere, happens-before, an access elsewhere, f
 *   same word:   e happens before f; e's store comes before f's; e reads a store older than f's
 *   fences:      after all earlier events and before all later ones (stricter than RC11)
 *
 * A load that reads an old store gets edges to the seq_cst stores it has missed, so it must not
 * come after one of them already: that is its floor. Each event knows all events before it. */
#include "rt.h"

#include <string.h>

enum { EVENTS = 256, WORDS = EVENTS / 64, ELSEWHERE = 0 /* the location of locks and fences */ };

typedef struct bits {
    uint64_t word[WORDS];
} bits;

typedef struct event {
    uint8_t thread;
    uint8_t kinds;
    uint16_t loc;
    uint16_t place;     /* of the store it made */
    uint32_t number;    /* its thread's clock */
    uint32_t elsewhere; /* the clock of the next event of its thread at another location */
    bits before;        /* itself included */
} event;

typedef struct per_thread {
    int newest;        /* its last event, -1: none */
    int first_open;    /* the first event without `elsewhere`; all later ones are open too */
    unsigned last_loc; /* of its last event, seq_cst or not */
    uint32_t latest[RT_THREADS]; /* its clocks after its last event */
    uint32_t known[RT_THREADS];  /* its clocks after the last event that was not at last_loc */
} per_thread;

typedef struct sc_state {
    unsigned events;
    int last_fence;
    event event[EVENTS];
    per_thread thread[RT_THREADS];
} sc_state;

static sc_state *state;

void rt_sc_init(void)
{
    state = rt_map(sizeof(*state));
}

void rt_sc_reset(void)
{
    state->events = 0;
    state->last_fence = -1;
    for (unsigned i = 0; i < RT_THREADS; i++) {
        per_thread *p = &state->thread[i];
        p->newest = -1;
        p->first_open = -1;
        p->last_loc = ELSEWHERE;
        memset(p->latest, 0, sizeof(p->latest));
        memset(p->known, 0, sizeof(p->known));
    }
}

static bool has(const bits *set, unsigned i)
{
    return (set->word[i / 64] >> (i % 64)) & 1;
}

static void add_all(bits *set, const bits *more)
{
    for (unsigned i = 0; i < WORDS; i++) {
        set->word[i] |= more->word[i];
    }
}

static void comes_after(event *e, int earlier)
{
    if (earlier >= 0) {
        add_all(&e->before, &state->event[earlier].before);
    }
}

/* Events of other threads that happen before `e` with accesses elsewhere on both sides. */
static void add_through_others(event *e)
{
    const rt_thread *self = rt->self;
    const per_thread *me = &state->thread[self->id];
    const uint32_t *known = e->loc != me->last_loc ? self->cur->clock : me->known;
    for (unsigned i = state->events; i-- > 0;) {
        const event *f = &state->event[i];
        if (f->thread != self->id && f->elsewhere <= known[f->thread]) {
            add_all(&e->before, &f->before);
        }
    }
}

/* Events on the same word. */
static void add_same_word(event *e)
{
    const uint32_t *known = rt->self->cur->clock;
    for (unsigned i = 0; i < state->events; i++) {
        const event *f = &state->event[i];
        if (f->loc == e->loc && f != e &&
            ((e->kinds & RT_SC_WRITE) != 0 || f->number <= known[f->thread])) {
            add_all(&e->before, &f->before);
        }
    }
}

int rt_sc_enter(unsigned kinds, unsigned l)
{
    if (state->events == EVENTS) {
        return -1;
    }
    const unsigned id = rt->self->id;
    const int index = (int)state->events;
    event *e = &state->event[index];
    memset(e, 0, sizeof(*e));
    e->thread = (uint8_t)id;
    e->kinds = (uint8_t)kinds;
    e->loc = (uint16_t)l;
    e->number = rt->self->cur->clock[id];
    e->elsewhere = UINT32_MAX;
    comes_after(e, state->thread[id].newest);
    comes_after(e, state->last_fence);
    if ((kinds & RT_SC_FENCE) != 0) {
        for (unsigned i = 0; i < state->events; i++) {
            e->before.word[i / 64] |= UINT64_C(1) << (i % 64);
        }
        state->last_fence = index;
    } else {
        add_through_others(e);
        add_same_word(e);
    }
    e->before.word[index / 64] |= UINT64_C(1) << (index % 64);
    state->events++;
    state->thread[id].newest = index;
    return index;
}

uint16_t rt_sc_floor(int index, unsigned l)
{
    const event *e = &state->event[index];
    uint16_t floor = 0;
    for (unsigned i = 0; i < state->events; i++) {
        const event *f = &state->event[i];
        if (f->loc == l && f != e && (f->kinds & RT_SC_WRITE) != 0 && has(&e->before, i) &&
            f->place > floor) {
            floor = f->place;
        }
    }
    return floor;
}

/* `e` comes before `f`, and so before all that come after `f`. */
static void add_late_edge(const event *e, unsigned f)
{
    for (unsigned i = 0; i < state->events; i++) {
        if (has(&state->event[i].before, f)) {
            add_all(&state->event[i].before, &e->before);
        }
    }
}

void rt_sc_has_read(int index, unsigned l, uint16_t place)
{
    event *e = &state->event[index];
    add_same_word(e); /* those it has just learned of */
    for (unsigned i = 0; i < state->events; i++) {
        const event *f = &state->event[i];
        if (f->loc == l && f != e && (f->kinds & RT_SC_WRITE) != 0 && f->place > place) {
            add_late_edge(e, i);
        }
    }
}

void rt_sc_has_written(int index, uint16_t place)
{
    state->event[index].place = place;
}

void rt_sc_event_done(unsigned l)
{
    const rt_thread *self = rt->self;
    per_thread *p = &state->thread[self->id];
    const uint32_t now = self->cur->clock[self->id];
    const bool ordered = p->newest >= 0 && state->event[p->newest].number == now;
    if (l != p->last_loc || l == ELSEWHERE) {
        for (int i = p->first_open; i >= 0 && i <= p->newest; i++) {
            event *f = &state->event[i];
            if (f->thread == self->id && f->number < now && f->elsewhere == UINT32_MAX) {
                f->elsewhere = now;
            }
        }
        p->first_open = ordered ? p->newest : -1;
        memcpy(p->known, p->latest, sizeof(p->known));
    } else if (p->first_open < 0 && ordered) {
        p->first_open = p->newest;
    }
    p->last_loc = l;
    memcpy(p->latest, self->cur->clock, sizeof(p->latest));
}
