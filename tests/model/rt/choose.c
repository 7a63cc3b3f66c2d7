/* SPDX-License-Identifier: MIT */
/* Every open question of an execution comes here: who runs, which store a load reads, whether a
 * fault happens. Three ways to answer, and a fourth to answer as before.
 *
 * random      threads change, and loads read old stores, with a chance drawn anew per execution
 * PCT         the thread of the highest priority runs; at `depth - 1` random steps the running one
 *             falls behind all others (Burckhardt et al., ASPLOS 2010); few loads are stale
 * exhaustive  depth first through all answers, with at most `bound` pre-emptions and `bound`
 *             faults in an execution; all stores are tried
 *
 * The log has every question with more than one answer, the same in each mode, and the usual answer
 * to it, so that a log can be replayed, and shortened by putting usual answers in. */
#include "rt.h"

#include <string.h>

enum {
    LOG = 1 << 16,
    DEPTH = 1 << 16,
    FEW_FAULTS = 2,          /* faults in an execution of random or PCT */
    FIRST_PRIORITY = 1 << 20 /* more than an execution has changes */
};

typedef struct branch {
    uint8_t options; /* allowed */
    uint8_t taken;   /* index */
    char kind;
} branch;

typedef struct chooser {
    rt_mode mode;
    uint64_t seed;
    uint64_t random;
    unsigned bound; /* exhaustive: pre-emptions; PCT: depth */
    unsigned preemptions;
    unsigned faults;
    size_t log_count;
    rt_choice log[LOG];
    /* exhaustive */
    size_t branches; /* on the way to the present leaf */
    size_t at;
    branch branch[DEPTH];
    /* replay */
    size_t replay_count;
    rt_choice replay[LOG];
    /* random, PCT */
    unsigned change_chance; /* of 256 */
    unsigned stale_chance;
    unsigned priority[RT_THREADS];
    unsigned lowest;
    unsigned highest;
    unsigned changes;
    size_t change_at[16];
    size_t steps;       /* thread questions so far */
    size_t usual_steps; /* of past executions */
} chooser;

static chooser *state;

void rt_choose_init(void)
{
    state = rt_map(sizeof(*state));
}

static uint64_t next_random(void)
{
    /* splitmix64 */
    uint64_t z = state->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static unsigned below(unsigned n)
{
    return (unsigned)((next_random() >> 32) * n >> 32);
}

static bool chance(unsigned of_256)
{
    return (next_random() & 255) < of_256;
}

void rt_choose_mode(rt_mode mode, uint64_t seed, unsigned bound)
{
    state->mode = mode;
    state->random = seed;
    state->bound = bound;
    state->branches = 0;
    state->usual_steps = 32;
}

static void begin_random(void)
{
    static const uint8_t change[] = { 4, 16, 32, 64, 128 };
    static const uint8_t stale[] = { 0, 16, 64, 128, 192 };
    state->change_chance = change[below(sizeof(change))];
    state->stale_chance = stale[below(sizeof(stale))];
}

static void begin_pct(void)
{
    static const uint8_t stale[] = { 0, 8, 32, 128 };
    state->stale_chance = stale[below(sizeof(stale))];
    state->lowest = FIRST_PRIORITY;
    state->highest = FIRST_PRIORITY + RT_THREADS;
    for (unsigned i = 0; i < RT_THREADS; i++) {
        state->priority[i] = FIRST_PRIORITY + i;
    }
    for (unsigned i = RT_THREADS - 1; i > 0; i--) {
        const unsigned j = below(i + 1);
        const unsigned kept = state->priority[i];
        state->priority[i] = state->priority[j];
        state->priority[j] = kept;
    }
    state->changes = state->bound > 16 ? 16 : state->bound;
    for (unsigned i = 0; i + 1 < state->changes; i++) {
        state->change_at[i] = below((unsigned)state->usual_steps);
    }
}

void rt_choose_begin(void)
{
    if (state->usual_steps < state->steps) {
        state->usual_steps = state->steps;
    }
    state->preemptions = 0;
    state->faults = 0;
    state->log_count = 0;
    state->at = 0;
    state->steps = 0;
    if (state->mode == RT_RANDOM) {
        begin_random();
    } else if (state->mode == RT_PCT) {
        begin_pct();
    }
}

/* The log. */

static unsigned note(char kind, unsigned value, unsigned usual)
{
    if (state->log_count < LOG) {
        state->log[state->log_count] = (rt_choice){ kind, (uint8_t)value, (uint8_t)usual };
    }
    state->log_count++;
    return value;
}

size_t rt_choose_log(const rt_choice **out_choices)
{
    *out_choices = state->log;
    return state->log_count < LOG ? state->log_count : LOG;
}

void rt_choose_replay(const rt_choice *choices, size_t count)
{
    state->replay_count = count < LOG ? count : LOG;
    memmove(state->replay, choices, state->replay_count * sizeof(*choices));
}

/* What was answered at this place of the log; `usual` if that does not fit. */
static unsigned replayed(char kind, unsigned usual)
{
    const size_t i = state->log_count;
    return i < state->replay_count && state->replay[i].kind == kind ? state->replay[i].value
                                                                    : usual;
}

unsigned rt_choose_deepest(void)
{
    return state->preemptions;
}

/* Exhaustive. */

/* Index of the answer among `allowed` ones; the first time the usual one, 0. */
static unsigned walk(char kind, unsigned allowed)
{
    if (allowed <= 1) {
        return 0;
    }
    if (state->at < state->branches) {
        branch *b = &state->branch[state->at++];
        if (b->kind != kind || b->options != allowed) {
            model_fail("explorer: the client does not behave the same way twice");
        }
        return b->taken;
    }
    if (state->branches == DEPTH) {
        model_fail("explorer: an execution asks too many questions");
    }
    state->branch[state->branches++] = (branch){ (uint8_t)allowed, 0, kind };
    state->at++;
    return 0;
}

bool rt_choose_next(void)
{
    /* an execution that broke off may have left answers behind that were not asked for */
    while (state->branches > 0) {
        branch *b = &state->branch[state->branches - 1];
        if (++b->taken < b->options) {
            return true;
        }
        state->branches--;
    }
    return false;
}

/* Threads. */

static unsigned index_of(const uint8_t *ids, unsigned n, unsigned id)
{
    for (unsigned i = 0; i < n; i++) {
        if (ids[i] == id) {
            return i;
        }
    }
    return 0;
}

/* A thread that spins or rests falls behind as well. */
static unsigned pick_pct(const uint8_t *ids, unsigned n, bool costs)
{
    const rt_thread *self = rt->self;
    bool behind = !costs && self->state == RT_RUNNABLE && (self->resting || below(2) == 0);
    for (unsigned i = 0; i + 1 < state->changes; i++) {
        behind |= state->change_at[i] == state->steps;
    }
    if (behind) {
        state->priority[self->id] = --state->lowest;
    }
    unsigned best = 0;
    for (unsigned i = 1; i < n; i++) {
        if (state->priority[ids[i]] > state->priority[ids[best]]) {
            best = i;
        }
    }
    return best;
}

static unsigned pick_random(unsigned n, bool costs)
{
    return !costs || chance(state->change_chance) ? below(n) : 0;
}

static unsigned walk_threads(unsigned n, bool costs)
{
    const unsigned left = state->bound - state->preemptions;
    if (state->at >= state->branches && !rt->no_merging && rt_visited_before(left, state->faults)) {
        rt_explore_prune();
    }
    return walk('t', costs && left == 0 ? 1 : n);
}

unsigned rt_choose_thread(const uint8_t *ids, unsigned n, bool costs)
{
    unsigned index = 0;
    switch (state->mode) {
    case RT_RANDOM:
        index = pick_random(n, costs);
        break;
    case RT_PCT:
        index = pick_pct(ids, n, costs);
        break;
    case RT_EXHAUSTIVE:
        index = walk_threads(n, costs);
        break;
    case RT_REPLAY:
        index = index_of(ids, n, replayed('t', ids[0]));
        break;
    }
    state->steps++;
    state->preemptions += costs && index != 0;
    (void)note('t', ids[index], ids[0]);
    return index;
}

void rt_choose_forced(unsigned id)
{
    state->priority[id] = ++state->highest;
}

/* Loads, faults, clients. */

unsigned rt_choose_age(unsigned n)
{
    unsigned age = 0;
    n = n < UINT8_MAX ? n : UINT8_MAX;
    switch (state->mode) {
    case RT_RANDOM:
    case RT_PCT:
        age = chance(state->stale_chance) ? below(n) : 0;
        break;
    case RT_EXHAUSTIVE:
        age = walk('r', n);
        break;
    case RT_REPLAY:
        age = replayed('r', 0);
        break;
    }
    return note('r', age < n ? age : n - 1, 0);
}

unsigned rt_choose_fault(unsigned n)
{
    unsigned fault = 0;
    switch (state->mode) {
    case RT_RANDOM:
    case RT_PCT:
        fault = state->faults < FEW_FAULTS && chance(32) ? below(n) : 0;
        break;
    case RT_EXHAUSTIVE:
        fault = walk('f', state->faults < state->bound ? n : 1);
        break;
    case RT_REPLAY:
        fault = replayed('f', 0);
        break;
    }
    state->faults += fault != 0;
    (void)rt_history_add(fault, 'f');
    return note('f', fault < n ? fault : 0, 0);
}

unsigned rt_choose_client(unsigned n)
{
    unsigned answer = 0;
    switch (state->mode) {
    case RT_RANDOM:
    case RT_PCT:
        answer = below(n);
        break;
    case RT_EXHAUSTIVE:
        answer = walk('c', n);
        break;
    case RT_REPLAY:
        answer = replayed('c', 0);
        break;
    }
    (void)rt_history_add(answer, 'c');
    return note('c', answer < n ? answer : 0, 0);
}
