/* SPDX-License-Identifier: MIT */
/* Contestant "byhand": what a fork costs when the deque of the library is written into the loop
 * that uses it - the same accesses with the same orders, but one translation unit, everything
 * inlined, the children called directly.
 *
 * It is complete: items of two words, a buffer that grows, a record in the caller's frame with all
 * a thief needs, the look at the word of sleepers after a push, a thief's end. fib_byhand never
 * meets a thief; fib_byhand_robbed does, so that tests can show that nothing was left out. What is
 * not here is what happens off the fork path: parking, waking, helping while a join waits.
 *
 * All four sides of the race for the last item are seq_cst: the owner's store of `bottom` (an xchg
 * on x86) and load of `top`, the thief's load of `top` and load of `bottom`. So a fork and its join
 * are two locked instructions, plus one CAS when the item is the last of the deque.
 *
 * Chase and Lev, SPAA 2005; Le, Pop, Cohen and Zappa Nardelli, PPoPP 2013. */
#define _POSIX_C_SOURCE 200809L /* sched_yield */
#include "bench/fib/work.h"
#include "bench/support/keep.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))
/* Not also `cold`: gcc 12 then takes all of node() for cold, and optimises it for size. */
#define SLOW_PATH __attribute__((noinline))
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

enum { CACHE_LINE = 128, FIRST_CAPACITY = 256 };

typedef struct owner owner;
typedef uintptr_t child_fn(owner *self, uintptr_t arg);

/* A fork, in the frame of the function that made it. A thief runs it in place: it puts the result
 * where the argument was, then sets the state. */
enum { RECORD_OPEN = 0, RECORD_DONE = 1 };
typedef struct record {
    child_fn *fn;
    uintptr_t arg;
    uintptr_t state; /* atomic; a word, since a waiter would leave its address there */
    bool isolated;   /* whoever runs it takes this over */
} record;

/* An item is an object and the function that knows how to run it: a deque of a runtime holds forks,
 * loops, tasks. Each word is atomic: a thief may read it while the owner writes the next item. */
typedef void run_fn(owner *self, void *object);
typedef struct slot {
    uintptr_t object;
    uintptr_t run;
} slot;

typedef struct buffer {
    int64_t capacity;        /* a power of two */
    struct buffer *replaced; /* thieves may still read it: freed at the end */
    slot slots[];
} buffer;

/* What all workers of a pool share. */
typedef struct shared {
    _Alignas(CACHE_LINE) uint64_t sleepers; /* atomic */
    uint64_t wakes;
} shared;

struct owner {
    _Alignas(CACHE_LINE) int64_t top;    /* atomic; thieves CAS it */
    _Alignas(CACHE_LINE) int64_t bottom; /* atomic; the owner writes it */
    buffer *items;                       /* atomic; the owner writes it */
    int64_t top_seen;                    /* an old value of top: enough to see that there is room */
    shared *all;
    bool isolated; /* inside a loop: waits run nothing else */
};

static buffer *buffer_create(int64_t capacity, buffer *replaced)
{
    buffer *made = malloc(sizeof *made + (size_t)capacity * sizeof made->slots[0]);
    if (made != NULL) {
        made->capacity = capacity;
        made->replaced = replaced;
    }
    return made;
}

static ALWAYS_INLINE slot *slot_at(buffer *items, int64_t index)
{
    return &items->slots[index & (items->capacity - 1)];
}

/* Full as far as the owner knows: look at `top`, and double the buffer if it is full indeed. The
 * old buffer is kept, since a thief may be reading it. False without memory. */
SLOW_PATH static bool make_room(owner *self, int64_t bottom)
{
    buffer *old = self->items;
    self->top_seen = __atomic_load_n(&self->top, __ATOMIC_ACQUIRE);
    if (bottom - self->top_seen < old->capacity) {
        return true;
    }
    buffer *made = buffer_create(old->capacity * 2, old);
    if (made == NULL) {
        return false;
    }
    for (int64_t i = self->top_seen; i < bottom; i++) {
        const slot *from = slot_at(old, i);
        slot *to = slot_at(made, i);
        to->object = __atomic_load_n(&from->object, __ATOMIC_RELAXED);
        to->run = __atomic_load_n(&from->run, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&self->items, made, __ATOMIC_RELEASE); /* pairs with the load in steal() */
    return true;
}

/* Nobody sleeps here, so it is never called; counted to show that. */
SLOW_PATH static void wake_one(shared *all)
{
    __atomic_fetch_add(&all->wakes, 1, __ATOMIC_RELAXED);
}

/* Offer an item to thieves. False: no room and no memory for more. */
static ALWAYS_INLINE bool push(owner *self, void *object, run_fn *run)
{
    const int64_t bottom = __atomic_load_n(&self->bottom, __ATOMIC_RELAXED);
    buffer *items = __atomic_load_n(&self->items, __ATOMIC_RELAXED);
    if (UNLIKELY(bottom - self->top_seen >= items->capacity)) {
        if (!make_room(self, bottom)) {
            return false;
        }
        items = self->items;
    }
    slot *place = slot_at(items, bottom);
    __atomic_store_n(&place->object, (uintptr_t)object, __ATOMIC_RELAXED);
    __atomic_store_n(&place->run, (uintptr_t)run, __ATOMIC_RELAXED);
    __atomic_store_n(&self->bottom, bottom + 1, __ATOMIC_SEQ_CST);
    /* Stored, then looked: a sleeper registers, then looks. Not both can miss the other. */
    if (UNLIKELY(__atomic_load_n(&self->all->sleepers, __ATOMIC_SEQ_CST) != 0)) {
        wake_one(self->all);
    }
    return true;
}

/* The newest item is the only one left: whoever moves `top` has it. */
SLOW_PATH static bool pop_last(owner *self, int64_t bottom, int64_t top)
{
    bool won = false;
    if (top == bottom) {
        won = __atomic_compare_exchange_n(&self->top, &top, top + 1, false, __ATOMIC_SEQ_CST,
                                          __ATOMIC_RELAXED);
    }
    __atomic_store_n(&self->bottom, bottom + 1, __ATOMIC_RELAXED); /* empty: bottom == top */
    return won;
}

/* Take the newest item back. Forks nest, so it can only be the record that the caller joins: the
 * slot need not be read. False: a thief has it. */
static ALWAYS_INLINE bool pop(owner *self)
{
    const int64_t bottom = __atomic_load_n(&self->bottom, __ATOMIC_RELAXED) - 1;
    __atomic_store_n(&self->bottom, bottom, __ATOMIC_SEQ_CST);
    const int64_t top = __atomic_load_n(&self->top, __ATOMIC_SEQ_CST);
    if (UNLIKELY(top >= bottom)) {
        return pop_last(self, bottom, top);
    }
    return true;
}

/* The thief's result. A runtime would run other forks meanwhile. */
SLOW_PATH static uintptr_t wait_for_thief(const record *fork)
{
    while (__atomic_load_n(&fork->state, __ATOMIC_ACQUIRE) != RECORD_DONE) {
        sched_yield();
    }
    return fork->arg;
}

/* What a thief calls. */
static void run_record(owner *self, void *object)
{
    record *fork = object;
    const bool isolated = self->isolated;
    self->isolated = fork->isolated;
    fork->arg = fork->fn(self, fork->arg);
    self->isolated = isolated;
    __atomic_store_n(&fork->state, (uintptr_t)RECORD_DONE,
                     __ATOMIC_RELEASE); /* the frame may be gone now */
}

BENCH_OUT_OF_LINE static uintptr_t node(owner *self, uintptr_t n)
{
    if (n < 2) {
        return n;
    }
    record fork;
    fork.fn = node;
    fork.arg = n - 2;
    fork.isolated = self->isolated;
    __atomic_store_n(&fork.state, (uintptr_t)RECORD_OPEN, __ATOMIC_RELAXED); /* push publishes it */
    if (UNLIKELY(!push(self, &fork, run_record))) {
        return node(self, n - 1) + node(self, n - 2);
    }
    uintptr_t left = node(self, n - 1);
    uintptr_t right = pop(self) ? node(self, fork.arg) : wait_for_thief(&fork);
    BENCH_KEEP(right);
    return left + right;
}

/* Take the oldest item of a victim and run it as `self`. False: there was none, or it was lost. */
static bool steal(owner *self, owner *victim)
{
    int64_t top = __atomic_load_n(&victim->top, __ATOMIC_SEQ_CST);
    const int64_t bottom = __atomic_load_n(&victim->bottom, __ATOMIC_SEQ_CST);
    if (top >= bottom) {
        return false;
    }
    /* Read before the CAS: afterwards the owner may overwrite it. */
    const slot *place = slot_at(__atomic_load_n(&victim->items, __ATOMIC_ACQUIRE), top);
    void *object = (void *)__atomic_load_n(&place->object, __ATOMIC_RELAXED);
    run_fn *run = (run_fn *)__atomic_load_n(&place->run, __ATOMIC_RELAXED);
    if (!__atomic_compare_exchange_n(&victim->top, &top, top + 1, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_RELAXED)) {
        return false;
    }
    run(self, object);
    return true;
}

static owner *owner_create(shared *all)
{
    owner *made = aligned_alloc(CACHE_LINE, sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    *made = (owner){ .all = all, .items = buffer_create(FIRST_CAPACITY, NULL) };
    if (made->items == NULL) {
        free(made);
        return NULL;
    }
    return made;
}

static void owner_destroy(owner *self)
{
    for (buffer *items = self->items; items != NULL;) {
        buffer *next = items->replaced;
        free(items);
        items = next;
    }
    free(self);
}

uintptr_t fib_byhand(filch_cx *cx, uintptr_t n)
{
    (void)cx;
    shared all = { 0 };
    owner *self = owner_create(&all);
    if (self == NULL) {
        return UINTPTR_MAX; /* no number of the series: the check fails */
    }
    const uintptr_t value = node(self, n);
    owner_destroy(self);
    return value;
}

typedef struct robber {
    owner *self;
    owner *victim;
    uint64_t steals;
    bool stop; /* atomic */
} robber;

static void *rob(void *arg)
{
    robber *thief = arg;
    while (!__atomic_load_n(&thief->stop, __ATOMIC_ACQUIRE)) {
        thief->steals += steal(thief->self, thief->victim);
    }
    return NULL;
}

uintptr_t fib_byhand_robbed(uintptr_t n, uint64_t *out_steals)
{
    shared all = { 0 };
    robber thief = { .self = owner_create(&all), .victim = owner_create(&all) };
    uintptr_t value = UINTPTR_MAX;
    pthread_t thread;
    if (thief.self != NULL && thief.victim != NULL &&
        pthread_create(&thread, NULL, rob, &thief) == 0) {
        value = node(thief.victim, n);
        __atomic_store_n(&thief.stop, true, __ATOMIC_RELEASE);
        pthread_join(thread, NULL);
        *out_steals = thief.steals;
    }
    if (thief.self != NULL) {
        owner_destroy(thief.self);
    }
    if (thief.victim != NULL) {
        owner_destroy(thief.victim);
    }
    return value;
}
