/* SPDX-License-Identifier: MIT */
/* States the exhaustive search has been in. Two executions that differ only in the order of steps
 * that have nothing to do with each other are in the same state: each thread has done and read the
 * same, and each word has had the same stores in the same order. What follows is then the same too,
 * and need not be searched twice (happens-before caching, Musuvathi and Qadeer, PLDI 2007).
 *
 * Each thread has a hash of its history. An event adds to it what it did, and which event made what
 * it read. A state is known by a 64-bit hash: two different ones meet with a chance of about one in
 * a million in a search of five million states. */
#include "rt.h"

#include <sys/mman.h>

enum { FIRST_SLOTS = 1 << 16, LAST_SLOTS = 1 << 24 };

typedef struct slot {
    uint64_t hash;  /* 0: empty */
    uint8_t budget; /* the most pre-emptions that were left here, plus one */
} slot;

typedef struct visited {
    slot *slots;
    size_t room;
    size_t used;
    uint64_t words; /* over all words: the order of their stores */
} visited;

static visited *state;

void rt_visited_init(void)
{
    state = rt_map(sizeof(*state));
    state->slots = rt_map(FIRST_SLOTS * sizeof(slot));
    state->room = FIRST_SLOTS;
}

void rt_visited_clear(void)
{
    (void)munmap(state->slots, state->room * sizeof(slot));
    state->slots = rt_map(FIRST_SLOTS * sizeof(slot));
    state->room = FIRST_SLOTS;
    state->used = 0;
}

void rt_visited_reset(void)
{
    state->words = 0;
    for (unsigned i = 0; i < RT_THREADS; i++) {
        rt->thread[i].history = i + 1;
    }
}

uint64_t rt_mix(uint64_t a, uint64_t b)
{
    uint64_t z = (a ^ (b * UINT64_C(0x9e3779b97f4a7c15))) + UINT64_C(0xd6e8feb86659fd93);
    z = (z ^ (z >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    z = (z ^ (z >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return z ^ (z >> 32);
}

uint64_t rt_history_add(uint64_t what, uint64_t from)
{
    rt_thread *self = rt->self;
    self->history = rt_mix(rt_mix(self->history, what), from);
    return self->history;
}

void rt_history_of_word(uint64_t *order, uint64_t event)
{
    state->words ^= *order;
    *order = rt_mix(*order, event);
    state->words ^= *order;
}

uint64_t rt_history_of_all(void)
{
    uint64_t hash = state->words;
    for (unsigned i = 0; i < rt->threads; i++) {
        hash = rt_mix(hash, rt->thread[i].history);
    }
    return hash;
}

static uint64_t present(void)
{
    uint64_t hash = rt_mix(state->words, rt->self->id);
    for (unsigned i = 0; i < rt->threads; i++) {
        const rt_thread *t = &rt->thread[i];
        hash = rt_mix(hash, t->history);
        hash = rt_mix(hash, t->same_reads);
        hash = rt_mix(hash, (uint64_t)t->state * 4 + (uint64_t)t->resting * 2 + t->timed_out);
    }
    return hash | 1;
}

static slot *find(uint64_t hash)
{
    size_t i = hash & (state->room - 1);
    while (state->slots[i].hash != 0 && state->slots[i].hash != hash) {
        i = (i + 1) & (state->room - 1);
    }
    return &state->slots[i];
}

static void grow(void)
{
    slot *old = state->slots;
    const size_t old_room = state->room;
    state->room *= 2;
    state->slots = rt_map(state->room * sizeof(slot));
    for (size_t i = 0; i < old_room; i++) {
        if (old[i].hash != 0) {
            *find(old[i].hash) = old[i];
        }
    }
    (void)munmap(old, old_room * sizeof(slot));
}

bool rt_visited_before(unsigned budget, unsigned extra)
{
    const uint64_t hash = rt_mix(present(), extra) | 1;
    slot *s = find(hash);
    if (s->hash == hash) {
        if (s->budget > budget) {
            return true;
        }
        s->budget = (uint8_t)(budget + 1);
        return false;
    }
    if (state->used < LAST_SLOTS / 2) { /* full: states are forgotten, the search stays right */
        *s = (slot){ hash, (uint8_t)(budget + 1) };
        state->used++;
        if (state->used > state->room / 2 && state->room < LAST_SLOTS) {
            grow();
        }
    }
    return false;
}
