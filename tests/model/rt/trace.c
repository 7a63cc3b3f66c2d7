/* SPDX-License-Identifier: MIT */
/* The readable trace of one execution: who did what, where in the source, to which memory, and
 * which value a load got. Lines are kept while the execution runs; addresses of code become
 * function, file and line by addr2line when the trace is printed. */
#include "rt.h"

#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 4096, TEXT = 200, PLACES = 1024, NAMES = 64, BATCH = 64 };

typedef struct line {
    unsigned thread;
    const void *pc;
    char text[TEXT];
} line;

typedef struct place {
    const void *pc;
    char text[TEXT];
} place;

typedef struct name {
    uintptr_t base;
    size_t bytes;
    const char *text;
} name;

typedef struct trace {
    size_t lines;
    line line[LINES];
    unsigned names;
    name name[NAMES];
    unsigned where_turn;
    char where[2][TEXT];
    size_t places;
    place place[PLACES];
    uintptr_t load_base; /* of the client's program */
} trace;

static trace *state;

static int take_first(struct dl_phdr_info *info, size_t bytes, void *out)
{
    (void)bytes;
    *(uintptr_t *)out = (uintptr_t)info->dlpi_addr;
    return 1; /* the program comes first */
}

void rt_trace_init(void)
{
    state = rt_map(sizeof(*state));
    (void)dl_iterate_phdr(take_first, &state->load_base);
}

void rt_trace_reset(void)
{
    state->lines = 0;
    state->names = 0;
}

void rt_trace(const void *pc, const char *format, ...)
{
    line *l = &state->line[state->lines % LINES];
    state->lines++;
    l->thread = rt->self->id;
    l->pc = pc;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(l->text, sizeof(l->text), format, args);
    va_end(args);
}

void model_name(const void *base, size_t bytes, const char *text)
{
    if (rt->tracing && state->names < NAMES) {
        state->name[state->names++] = (name){ (uintptr_t)base, bytes, text };
    }
}

const char *rt_trace_order(int order)
{
    static const char *const names[] = { "relaxed", "consume", "acquire",
                                         "release", "acq_rel", "seq_cst" };
    return names[order];
}

/* Memory. */

static bool where_named(uintptr_t addr, char *text)
{
    for (unsigned i = state->names; i-- > 0;) {
        const name *n = &state->name[i];
        if (addr >= n->base && addr < n->base + n->bytes) {
            (void)snprintf(text, TEXT, "%s+%#lx", n->text, (unsigned long)(addr - n->base));
            return true;
        }
    }
    return false;
}

const char *rt_trace_where(const void *address)
{
    const uintptr_t addr = (uintptr_t)address;
    char *text = state->where[state->where_turn ^= 1];
    if (where_named(addr, text)) {
        return text;
    }
    uintptr_t low;
    uintptr_t high;
    unsigned number = 0;
    const rt_block *block = rt_heap_block(address, &number);
    rt_fiber_stacks(&low, &high);
    if (block != NULL) {
        (void)snprintf(text, TEXT, "block%u+%#lx", number, (unsigned long)(addr - block->start));
    } else if (addr >= low && addr < high) {
        const unsigned long owner = (unsigned long)(addr - low) / RT_STACK;
        (void)snprintf(text, TEXT, "stack%lu-%#lx", owner,
                       (unsigned long)(low + (owner + 1) * RT_STACK - addr));
    } else {
        (void)snprintf(text, TEXT, "global%#lx", (unsigned long)(addr - state->load_base));
    }
    return text;
}

/* Code. */

static place *place_of(const void *pc)
{
    for (size_t i = 0; i < state->places; i++) {
        if (state->place[i].pc == pc) {
            return &state->place[i];
        }
    }
    if (state->places == PLACES) {
        return NULL;
    }
    place *p = &state->place[state->places++];
    p->pc = pc;
    p->text[0] = '\0';
    return p;
}

static bool uninteresting(const char *file)
{
    return strstr(file, "base/atomic.h") != NULL || strstr(file, "base/list.h") != NULL;
}

/* "function file:line" from the answer for one address: the innermost inlined function that is not
 * a mere wrapper. Returns the answer's end, the line of the next address. */
static bool read_answer(FILE *pipe, place *p, char *next, size_t next_bytes)
{
    char function[TEXT * 2];
    char file[TEXT * 2];
    bool found = false;
    while (fgets(next, (int)next_bytes, pipe) != NULL) {
        if (strncmp(next, "0x", 2) == 0) {
            return true;
        }
        (void)snprintf(function, sizeof(function), "%s", next);
        function[strcspn(function, "\n")] = '\0';
        if (fgets(file, sizeof(file), pipe) == NULL) {
            return false;
        }
        file[strcspn(file, " \n")] = '\0';
        if (!found) {
            const char *slash = strrchr(file, '/');
            (void)snprintf(p->text, sizeof(p->text), "%.60s() %.60s", function,
                           slash != NULL ? slash + 1 : file);
        }
        found |= !uninteresting(file);
    }
    return false;
}

static void resolve_batch(place *first, size_t count)
{
    char command[512 + BATCH * 20];
    char exe[256] = "";
    char next[TEXT * 2];
    if (realpath("/proc/self/exe", exe) == NULL) {
        return;
    }
    int used = snprintf(command, sizeof(command), "addr2line -a -f -i -e '%s'", exe);
    for (size_t i = 0; i < count; i++) {
        const uintptr_t at = (uintptr_t)first[i].pc - 1 - state->load_base;
        used +=
            snprintf(command + used, sizeof(command) - (size_t)used, " %#lx", (unsigned long)at);
    }
    (void)snprintf(command + used, sizeof(command) - (size_t)used, " 2>/dev/null");
    FILE *pipe = popen(command, "r");
    if (pipe == NULL) {
        return;
    }
    bool more = fgets(next, sizeof(next), pipe) != NULL;
    for (size_t i = 0; i < count && more; i++) {
        more = read_answer(pipe, &first[i], next, sizeof(next));
    }
    (void)pclose(pipe);
}

void rt_trace_print(void)
{
    const size_t first = state->lines > LINES ? state->lines - LINES : 0;
    state->places = 0;
    for (size_t i = first; i < state->lines; i++) {
        if (state->line[i % LINES].pc != NULL) {
            (void)place_of(state->line[i % LINES].pc);
        }
    }
    for (size_t i = 0; i < state->places; i += BATCH) {
        const size_t rest = state->places - i;
        resolve_batch(&state->place[i], rest < BATCH ? rest : BATCH);
    }
    for (size_t i = first; i < state->lines; i++) {
        const line *l = &state->line[i % LINES];
        const place *p = l->pc != NULL ? place_of(l->pc) : NULL;
        printf("  %4zu  T%u  %-60s %s\n", i + 1, l->thread, l->text,
               p != NULL && p->text[0] != '\0' ? p->text : "");
    }
}
