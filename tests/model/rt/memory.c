/* SPDX-License-Identifier: MIT */
/* Atomic words: for each the history of its stores, in modification order, and for each thread a
 * view, the oldest place it may still read. A load picks any store from there on. Stores take their
 * place in the modification order when they are made, at the end; a read-modify-write reads the
 * newest store. The word in memory always holds the newest value, for plain accesses and for the
 * kernel.
 *
 * A store that releases carries a message: what its thread knew. A load that acquires learns it. A
 * read-modify-write passes on the message of the store it read, a plain store does not (C++20). */
#include "rt.h"

#include <string.h>

enum {
    STALE_READS = 3,          /* reads of one old store by one thread, in a row */
    MESSAGE_BYTES = 16 << 20, /* messages of one execution */
};

typedef struct store {
    uint64_t value;
    const rt_view *message; /* NULL: it releases nothing */
    uint16_t older;         /* index of the store before it */
    uint16_t place;         /* in the modification order, 0: what was there at first */
    uint64_t event;         /* the one that made it, see visited.c */
} store;

typedef struct seen {
    uint16_t place;
    uint8_t times;
} seen;

typedef struct loc {
    const void *addr;
    uint16_t last; /* the newest store */
    uint8_t size;
    uint32_t read_clock[RT_THREADS]; /* the last atomic read and write of each thread */
    uint32_t write_clock[RT_THREADS];
    const void *read_pc[RT_THREADS];
    const void *write_pc[RT_THREADS];
    seen seen[RT_THREADS];
    uint64_t order; /* hash of the events that made its stores, in order */
} loc;

typedef struct memory {
    unsigned locs; /* in use; number 0 is no location */
    unsigned stores;
    char *message_next;
    char *messages;
    rt_view *fenced; /* what seq_cst fences have published */
    rt_view *global; /* that, and all seq_cst stores */
    bool any_fence;
    uint64_t fence_order; /* hash of all seq_cst fences, in order */
    loc loc[RT_LOCS];
    store store[RT_STORES];
} memory;

static memory *state;

static bool acquires(int order)
{
    return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
}

static bool releases(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

/* Views. */

rt_view *rt_view_make(void)
{
    return rt_map(sizeof(rt_view) + RT_LOCS * sizeof(uint16_t));
}

static void view_clear(rt_view *v)
{
    memset(v->floor, 0, v->locs * sizeof(v->floor[0]));
    memset(v->clock, 0, sizeof(v->clock));
    v->locs = 0;
}

void rt_view_join(rt_view *to, const rt_view *from)
{
    for (unsigned i = 0; i < RT_THREADS; i++) {
        to->clock[i] = to->clock[i] > from->clock[i] ? to->clock[i] : from->clock[i];
    }
    for (unsigned i = 0; i < from->locs; i++) {
        to->floor[i] = to->floor[i] > from->floor[i] ? to->floor[i] : from->floor[i];
    }
    to->locs = to->locs > from->locs ? to->locs : from->locs;
}

void rt_view_copy(rt_view *to, const rt_view *from)
{
    view_clear(to);
    rt_view_join(to, from);
}

static void raise_floor(rt_view *v, unsigned l, uint16_t place)
{
    if (l >= v->locs) {
        v->locs = l + 1; /* the floors between are 0 already */
    }
    if (v->floor[l] < place) {
        v->floor[l] = place;
    }
}

static rt_view *message_make(const rt_view *from)
{
    const size_t bytes = sizeof(rt_view) + (from->locs * sizeof(uint16_t) + 7) / 8 * 8;
    if (state->message_next + bytes > state->messages + MESSAGE_BYTES) {
        model_fail("explorer: the messages of one execution need too much memory");
    }
    rt_view *message = (rt_view *)(void *)state->message_next;
    state->message_next += bytes;
    memcpy(message, from, sizeof(rt_view) + from->locs * sizeof(uint16_t));
    return message;
}

const rt_view *rt_view_message(const rt_thread *t)
{
    return message_make(t->cur);
}

void rt_memory_init(void)
{
    state = rt_map(sizeof(*state));
    state->messages = rt_map(MESSAGE_BYTES);
    state->fenced = rt_view_make();
    state->global = rt_view_make();
    for (unsigned i = 0; i < RT_THREADS; i++) {
        rt->thread[i].cur = rt_view_make();
        rt->thread[i].extra = rt_view_make();
    }
}

void rt_memory_reset(void)
{
    state->locs = 1;
    state->stores = 0;
    state->message_next = state->messages;
    view_clear(state->fenced);
    view_clear(state->global);
    state->any_fence = false;
    state->fence_order = 0;
    for (unsigned i = 0; i < RT_THREADS; i++) {
        view_clear(rt->thread[i].cur);
        view_clear(rt->thread[i].extra);
        rt->thread[i].cur->clock[i] = 1;
    }
}

void rt_event_done(unsigned l)
{
    rt_thread *self = rt->self;
    rt_sc_event_done(l);
    self->cur->clock[self->id]++;
}

/* Locations. */

uint64_t rt_peek(const void *addr, unsigned size)
{
    uint64_t value = 0;
    memcpy(&value, addr, size); /* little endian */
    return value;
}

static store *store_make(loc *l, uint64_t value)
{
    if (state->stores == RT_STORES) {
        model_fail("explorer: more than %d atomic stores in one execution", RT_STORES);
    }
    store *s = &state->store[state->stores];
    s->value = value;
    s->message = NULL;
    s->older = l->last;
    s->place = 0;
    s->event = 0;
    l->last = (uint16_t)state->stores++;
    return s;
}

static unsigned loc_make(const void *addr, unsigned size)
{
    if (state->locs == RT_LOCS) {
        model_fail("explorer: more than %d atomic words in one execution", RT_LOCS);
    }
    const unsigned number = state->locs++;
    loc *l = &state->loc[number];
    memset(l, 0, sizeof(*l));
    l->addr = addr;
    l->size = (uint8_t)size;
    (void)store_make(l, rt_peek(addr, size));
    return number;
}

static unsigned locate(const void *addr, unsigned size, const void *pc)
{
    rt_cell *cell = rt_shadow_cell(addr, pc);
    if (cell == NULL) {
        model_fail("explorer: an atomic access outside the memory it watches");
    }
    const unsigned half = ((uintptr_t)addr >> 2) & 1;
    unsigned number = cell->loc[half];
    if (number == 0) {
        number = loc_make(addr, size);
        cell->loc[half] = (uint16_t)number;
        if (size == 8) {
            cell->loc[1] = (uint16_t)number;
        }
    }
    const loc *l = &state->loc[number];
    if (l->addr != addr || l->size != size || (size == 8 && cell->loc[1] != number)) {
        model_fail("explorer: atomic accesses of different sizes meet");
    }
    return number;
}

/* Plain accesses by others, before and later, are compared with this one. */
static void mark(unsigned number, bool write, const void *pc)
{
    loc *l = &state->loc[number];
    const unsigned id = rt->self->id;
    rt_shadow_atomic(l->addr, l->size, write, pc);
    (write ? l->write_clock : l->read_clock)[id] = rt->self->cur->clock[id];
    (write ? l->write_pc : l->read_pc)[id] = pc;
}

void rt_touch(const void *addr, const void *pc)
{
    mark(locate(addr, 4, pc), true, pc);
}

bool rt_loc_clashes(unsigned number, bool write, rt_clash *out_clash)
{
    const loc *l = &state->loc[number];
    const uint32_t *known = rt->self->cur->clock;
    for (unsigned i = 0; i < rt->threads; i++) {
        if (i == rt->self->id) {
            continue;
        }
        if (l->write_clock[i] > known[i]) {
            *out_clash = (rt_clash){ i, true, l->write_pc[i] };
            return true;
        }
        if (write && l->read_clock[i] > known[i]) {
            *out_clash = (rt_clash){ i, false, l->read_pc[i] };
            return true;
        }
    }
    return false;
}

/* Loads. */

static uint16_t max_place(uint16_t a, uint16_t b)
{
    return a > b ? a : b;
}

/* The oldest place the current thread may read. Old stores are not read for ever. */
static uint16_t lowest_place(unsigned number, int sc_event)
{
    const loc *l = &state->loc[number];
    const rt_thread *self = rt->self;
    uint16_t floor = self->cur->floor[number];
    if (sc_event >= 0) {
        floor = max_place(floor, rt_sc_floor(sc_event, number));
        if (state->any_fence) {
            floor = max_place(floor, state->fenced->floor[number]);
        }
    }
    const seen *before = &l->seen[self->id];
    if (before->times >= STALE_READS && before->place >= floor &&
        before->place < state->store[l->last].place) {
        floor = (uint16_t)(before->place + 1);
    }
    return floor;
}

static const store *nth_newest(const loc *l, unsigned age)
{
    const store *s = &state->store[l->last];
    for (; age > 0; age--) {
        s = &state->store[s->older];
    }
    return s;
}

/* Loads that tell a thread nothing new: spinning, see sched.c. */
static void note_read(loc *l, const store *s)
{
    seen *before = &l->seen[rt->self->id];
    if (before->times > 0 && before->place == s->place) {
        rt->self->same_reads++;
        if (before->times < UINT8_MAX) {
            before->times++;
        }
    } else {
        before->place = s->place;
        before->times = 1;
        rt->self->same_reads = 0;
    }
}

/* The current thread reads `s`. */
static void learn(unsigned number, const store *s, int order)
{
    rt_thread *self = rt->self;
    raise_floor(self->cur, number, s->place);
    (void)rt_history_add((uintptr_t)state->loc[number].addr, rt_mix(s->event, s->place));
    if (s->message != NULL) {
        rt_view_join(acquires(order) ? self->cur : self->extra, s->message);
    }
}

uint64_t rt_load(const void *addr, unsigned size, int order, const void *pc)
{
    rt_point(pc, true);
    const unsigned number = locate(addr, size, pc);
    mark(number, false, pc);
    loc *l = &state->loc[number];
    const int event = order == __ATOMIC_SEQ_CST ? rt_sc_enter(RT_SC_READ, number) : -1;
    const uint16_t newest = state->store[l->last].place;
    /* more seq_cst events than sc.c has room for: the rest all read the newest store */
    const bool crowded = order == __ATOMIC_SEQ_CST && event < 0;
    const uint16_t floor = crowded ? newest : lowest_place(number, event);
    const unsigned age = floor < newest ? rt_choose_age((unsigned)(newest - floor) + 1) : 0;
    const store *s = nth_newest(l, age);
    learn(number, s, order);
    if (event >= 0) {
        rt_sc_has_read(event, number, s->place);
    }
    note_read(l, s);
    if (rt->tracing) {
        rt_trace(pc, "load  %-7s %s = %#llx%s", rt_trace_order(order), rt_trace_where(addr),
                 (unsigned long long)s->value, age > 0 ? "  (stale)" : "");
    }
    rt_event_done(number);
    return s->value;
}

/* Stores. */

/* What a store tells whoever acquires it; `passed_on` is the message of the store it replaces, if
 * it is a read-modify-write. */
static const rt_view *message_of(int order, const rt_view *passed_on)
{
    const rt_thread *self = rt->self;
    const rt_view *own = releases(order) ? message_make(self->cur) : self->rel;
    if (own == NULL || passed_on == NULL) {
        return own == NULL ? passed_on : own;
    }
    rt_view *sum = message_make(own->locs >= passed_on->locs ? own : passed_on);
    rt_view_join(sum, own->locs >= passed_on->locs ? passed_on : own);
    return sum;
}

static void put(unsigned number, uint64_t value, int order, const rt_view *passed_on, int event)
{
    loc *l = &state->loc[number];
    rt_thread *self = rt->self;
    const unsigned place = state->store[l->last].place + 1U;
    if (place > UINT16_MAX - 1) {
        model_fail("explorer: too many stores to one word");
    }
    store *s = store_make(l, value);
    s->place = (uint16_t)place;
    memcpy((void *)(uintptr_t)l->addr, &value, l->size);
    raise_floor(self->cur, number, s->place);
    s->message = message_of(order, passed_on);
    if (order == __ATOMIC_SEQ_CST) {
        raise_floor(state->global, number, s->place);
    }
    if (event >= 0) {
        rt_sc_has_written(event, s->place);
    }
    s->event = rt_history_add((uintptr_t)l->addr, rt_mix(value, 's'));
    rt_history_of_word(&l->order, s->event);
    l->seen[self->id] = (seen){ s->place, 0 };
    self->same_reads = 0;
}

void rt_store(void *addr, unsigned size, uint64_t value, int order, const void *pc)
{
    rt_point(pc, false);
    const unsigned number = locate(addr, size, pc);
    mark(number, true, pc);
    const int event = order == __ATOMIC_SEQ_CST ? rt_sc_enter(RT_SC_WRITE, number) : -1;
    put(number, value, order, NULL, event);
    if (rt->tracing) {
        rt_trace(pc, "store %-7s %s = %#llx", rt_trace_order(order), rt_trace_where(addr),
                 (unsigned long long)value);
    }
    rt_event_done(number);
}

/* Read the newest store and replace it. */
static uint64_t replace(unsigned number, uint64_t value, int order)
{
    const int event =
        order == __ATOMIC_SEQ_CST ? rt_sc_enter(RT_SC_READ | RT_SC_WRITE, number) : -1;
    const store *s = &state->store[state->loc[number].last];
    const uint64_t old = s->value;
    const rt_view *passed_on = s->message;
    learn(number, s, order);
    if (event >= 0) {
        rt_sc_has_read(event, number, s->place);
    }
    put(number, value, order, passed_on, event);
    return old;
}

static uint64_t narrow(uint64_t value, unsigned size)
{
    return size == 8 ? value : value & ((UINT64_C(1) << (8 * size)) - 1);
}

uint64_t rt_rmw(void *addr, unsigned size, rt_operation *op, uint64_t operand, int order,
                const void *pc)
{
    rt_point(pc, false);
    const unsigned number = locate(addr, size, pc);
    mark(number, true, pc);
    const uint64_t value = narrow(op(state->store[state->loc[number].last].value, operand), size);
    const uint64_t old = replace(number, value, order);
    if (rt->tracing) {
        rt_trace(pc, "rmw   %-7s %s = %#llx, was %#llx", rt_trace_order(order),
                 rt_trace_where(addr), (unsigned long long)value, (unsigned long long)old);
    }
    rt_event_done(number);
    return old;
}

/* What a compare-and-swap may read: the newest store, or any that does not hold the expected value;
 * with such a one it fails. */
static const store *store_for_cas(unsigned number, uint64_t expected, int event)
{
    const loc *l = &state->loc[number];
    const store *fits[64];
    const uint16_t floor = lowest_place(number, event);
    const store *s = &state->store[l->last];
    unsigned n = 0;
    fits[n++] = s;
    while (s->place > floor && n < sizeof(fits) / sizeof(fits[0])) {
        s = &state->store[s->older];
        if (s->value != expected) {
            fits[n++] = s;
        }
    }
    return fits[n > 1 ? rt_choose_age(n) : 0];
}

bool rt_cas(void *addr, unsigned size, uint64_t *expected, uint64_t desired, int success,
            int failure, const void *pc)
{
    rt_point(pc, false);
    const unsigned number = locate(addr, size, pc);
    const uint64_t wanted = *expected;
    /* if it then succeeds, this stays in the order as a read of its own; that changes nothing */
    const int event = failure == __ATOMIC_SEQ_CST ? rt_sc_enter(RT_SC_READ, number) : -1;
    const store *s = store_for_cas(number, wanted, event);
    const bool equal = s->value == wanted;
    mark(number, equal, pc);
    if (event >= 0) {
        rt_sc_has_read(event, number, s->place);
    }
    if (equal) {
        (void)replace(number, desired, success);
    } else {
        learn(number, s, failure);
        note_read(&state->loc[number], s);
        *expected = s->value;
    }
    if (rt->tracing) {
        rt_trace(pc, "cas   %-7s %s: %#llx to %#llx %s %#llx",
                 rt_trace_order(equal ? success : failure), rt_trace_where(addr),
                 (unsigned long long)wanted, (unsigned long long)desired,
                 equal ? "done, was" : "FAILED, read", (unsigned long long)*expected);
    }
    rt_event_done(number);
    return equal;
}

/* Fences. */

static void join_floors(rt_view *to, const rt_view *from)
{
    for (unsigned i = 0; i < from->locs; i++) {
        raise_floor(to, i, from->floor[i]);
    }
}

/* A fence depends on all before it, and on all seq_cst events; so to be the same they must have
 * come in the same order as all words' stores. */
static void note_fence(void)
{
    state->any_fence = true;
    const uint64_t event = rt_history_add('F', rt_mix(state->fence_order, rt_history_of_all()));
    rt_history_of_word(&state->fence_order, event);
}

/* Orders what the processors see, floors; it is no release or acquire for the language. */
void rt_full_fence(rt_thread *t)
{
    note_fence();
    join_floors(t->cur, t->extra);
    join_floors(t->cur, state->global);
    join_floors(state->global, t->cur);
    join_floors(state->fenced, t->cur);
}

void rt_fence(int order, const void *pc)
{
    rt_thread *self = rt->self;
    rt_point(pc, false);
    if (acquires(order)) {
        rt_view_join(self->cur, self->extra);
    }
    if (order == __ATOMIC_SEQ_CST) {
        (void)rt_sc_enter(RT_SC_FENCE, 0);
        note_fence();
        rt_view_join(self->cur, state->global);
        rt_view_join(state->global, self->cur);
        rt_view_join(state->fenced, self->cur);
    }
    if (releases(order)) {
        self->rel = message_make(self->cur);
    }
    if (rt->tracing) {
        rt_trace(pc, "fence %s", rt_trace_order(order));
    }
    rt_event_done(0);
}
