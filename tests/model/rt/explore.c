/* SPDX-License-Identifier: MIT */
/* Executions, one after another: put everything back, run the client's body, see whether it failed.
 * After a failure: shorten the list of answers that led to it, and show it. */
#include "rt.h"

#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { TEXT = 512, SHRINK_TRIES = 4000, CHOICES = 1 << 16 };

typedef struct explorer {
    rt_globals globals;
    char *globals_copy;
    bool failed;
    char failure[TEXT];
    rt_choice best[CHOICES]; /* the shortest failing list so far */
    size_t best_count;
    rt_choice trial[CHOICES];
} explorer;

static explorer *state;
static rt_shared shared;
rt_shared *rt = &shared;

void *rt_map(size_t bytes)
{
    void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) {
        (void)fprintf(stderr, "explorer: no memory\n");
        exit(1);
    }
    return start;
}

/* The client's .data and .bss: its writable segment without the part that is read-only later. */
static int find_globals(struct dl_phdr_info *info, size_t bytes, void *out)
{
    (void)bytes;
    rt_globals *globals = out;
    uintptr_t fixed_end = 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const uintptr_t low = (uintptr_t)info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && (part->p_flags & PF_W) != 0) {
            *globals = (rt_globals){ low, low + part->p_memsz };
        } else if (part->p_type == PT_GNU_RELRO) {
            fixed_end = (low + part->p_memsz + 4095) & ~(uintptr_t)4095;
        }
    }
    if (globals->low < fixed_end) {
        globals->low = fixed_end < globals->high ? fixed_end : globals->high;
    }
    return 1; /* the program comes first */
}

rt_globals rt_explore_globals(void)
{
    return state->globals;
}

void rt_explore_init(void)
{
    state = rt_map(sizeof(*state));
    (void)dl_iterate_phdr(find_globals, &state->globals);
    const size_t bytes = state->globals.high - state->globals.low;
    state->globals_copy = rt_map(bytes + 1);
    memcpy(state->globals_copy, (const void *)state->globals.low, bytes);
    rt_heap_init();
    rt_fiber_init();
    rt_shadow_init();
    rt_sched_init();
    rt_memory_init();
    rt_sc_init();
    rt_os_init();
    rt_trace_init();
    rt_choose_init();
    rt_visited_init();
}

void model_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(state->failure, sizeof(state->failure), format, args);
    va_end(args);
    state->failed = true;
    rt_fiber_leave();
}

void rt_explore_prune(void)
{
    rt_fiber_leave();
}

static void run_body(void *arg)
{
    (void)arg;
    rt->client->body();
}

bool rt_explore_once(void)
{
    rt->round++;
    rt->clock_ns = 1000000000;
    memset(rt->ghost, 0, sizeof(rt->ghost));
    memcpy((void *)state->globals.low, state->globals_copy,
           state->globals.high - state->globals.low);
    rt_sched_reset();
    rt_memory_reset();
    rt_sc_reset();
    rt_shadow_reset();
    rt_heap_reset();
    rt_os_reset();
    rt_trace_reset();
    rt_visited_reset();
    rt_choose_begin();
    state->failed = false;
    (void)rt_sched_spawn(run_body, NULL);
    rt_fiber_run();
    return !state->failed;
}

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

rt_result rt_explore(rt_mode mode, uint64_t seed, unsigned bound, uint64_t executions,
                     double seconds)
{
    const double start = now();
    rt_result result = { 0 };
    rt_choose_mode(mode, seed, bound);
    rt_visited_clear();
    bool more = true;
    while (more && result.executions < executions) {
        result.executions++;
        if (!rt_explore_once()) {
            result.failed = true;
            break;
        }
        if (rt_sched_steps() > result.deepest_steps) {
            result.deepest_steps = rt_sched_steps();
        }
        if (mode == RT_EXHAUSTIVE) {
            more = rt_choose_next();
            result.complete = !more;
        }
        if (result.executions % 64 == 0 && now() - start > seconds) {
            more = false;
        }
    }
    result.seconds = now() - start;
    return result;
}

const char *rt_explore_failure(void)
{
    return state->failure;
}

/* Shrinking. */

static void keep_log(void)
{
    const rt_choice *log;
    state->best_count = rt_choose_log(&log);
    memcpy(state->best, log, state->best_count * sizeof(*log));
    while (state->best_count > 0 &&
           state->best[state->best_count - 1].value == state->best[state->best_count - 1].usual) {
        state->best_count--;
    }
}

static size_t count_unusual(void)
{
    size_t unusual = 0;
    for (size_t i = 0; i < state->best_count; i++) {
        unusual += state->best[i].value != state->best[i].usual;
    }
    return unusual;
}

/* Give the usual answer to `count` of the unusual ones, from number `from` on. Does it still fail,
 * and in the same way? */
static bool fails_without(size_t from, size_t count, const char *failure)
{
    size_t number = 0;
    memcpy(state->trial, state->best, state->best_count * sizeof(state->best[0]));
    for (size_t i = 0; i < state->best_count; i++) {
        rt_choice *c = &state->trial[i];
        if (c->value != c->usual) {
            if (number >= from && number < from + count) {
                c->kind = 'u';
            }
            number++;
        }
    }
    rt_choose_mode(RT_REPLAY, 0, 0);
    rt_choose_replay(state->trial, state->best_count);
    if (rt_explore_once() || strcmp(failure, state->failure) != 0) {
        return false;
    }
    const size_t before = count_unusual();
    const rt_choice *log;
    const size_t logged = rt_choose_log(&log);
    size_t after = 0;
    for (size_t i = 0; i < logged; i++) {
        after += log[i].value != log[i].usual;
    }
    if (after >= before) {
        return false;
    }
    keep_log();
    return true;
}

static void shrink(void)
{
    char failure[TEXT];
    (void)snprintf(failure, sizeof(failure), "%s", state->failure);
    keep_log();
    int tries = 0;
    for (size_t size = count_unusual(); size > 0 && tries < SHRINK_TRIES;) {
        bool better = false;
        for (size_t from = 0; from < count_unusual() && tries < SHRINK_TRIES; tries++) {
            if (fails_without(from, size, failure)) {
                better = true;
            } else {
                from += size;
            }
        }
        if (!better || size > count_unusual()) {
            size /= 2;
        }
    }
    (void)snprintf(state->failure, sizeof(state->failure), "%s", failure);
}

/* Choice strings: "12t1.0r2" is 12 usual answers, thread 1, then at once the store two older. */

static void print_choices(void)
{
    size_t usual = 0;
    const char *separator = "";
    for (size_t i = 0; i < state->best_count; i++) {
        const rt_choice *c = &state->best[i];
        if (c->value == c->usual) {
            usual++;
        } else {
            printf("%s%zu%c%u", separator, usual, c->kind, c->value);
            separator = ".";
            usual = 0;
        }
    }
    printf("%s\n", *separator == '\0' ? "0u0" : "");
}

static bool parse_choices(const char *text)
{
    state->best_count = 0;
    while (*text != '\0') {
        size_t usual = 0;
        unsigned value = 0;
        char kind = 0;
        int used = 0;
        if (sscanf(text, "%zu%c%u%n", &usual, &kind, &value, &used) != 3 ||
            strchr("trfcu", kind) == NULL || value > UINT8_MAX) {
            return false;
        }
        for (; usual > 0 && state->best_count < CHOICES - 1; usual--) {
            state->best[state->best_count++] = (rt_choice){ 'u', 0, 0 };
        }
        if (state->best_count < CHOICES) {
            state->best[state->best_count++] = (rt_choice){ kind, (uint8_t)value, 0 };
        }
        text += used;
        text += *text == '.';
    }
    return true;
}

static bool run_best(bool tracing)
{
    rt_choose_mode(RT_REPLAY, 0, 0);
    rt_choose_replay(state->best, state->best_count);
    rt->tracing = tracing;
    const bool passed = rt_explore_once();
    rt->tracing = false;
    return passed;
}

void rt_explore_report(void)
{
    printf("%s: FAILED: %s\n", rt->client->name, state->failure);
    shrink();
    const bool passed = run_best(true);
    rt_trace_print();
    printf("  ==> %s\n",
           passed ? "does not fail again: the client is not deterministic" : state->failure);
    printf("again with: --client %s --replay ", rt->client->name);
    print_choices();
}

bool rt_explore_replay(const char *text)
{
    if (!parse_choices(text)) {
        (void)fprintf(stderr, "'%s' is no choice string\n", text);
        exit(2);
    }
    const bool passed = run_best(true);
    rt_trace_print();
    printf("  ==> %s\n", passed ? "passes" : state->failure);
    return passed;
}
