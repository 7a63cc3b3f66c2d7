/* SPDX-License-Identifier: MIT */
/* Plain accesses, byte by byte: two by different threads, one of them a write, neither before the
 * other, are a data race; so are a plain one and an atomic one. Freeing counts as a write of every
 * byte, and so does the return of a function for what other threads have touched in its frame:
 * a *possible* use of dead memory is found, not only one that happens. Allocating, and entering a
 * function, count as writes too: memory must be published before others may touch it.
 *
 * One cell per 8 bytes of heap, stacks and globals. A cell keeps the accesses that a later one can
 * still race with: those that a later ordered access covers are dropped. */
#include "rt.h"

#include <string.h>

typedef struct region {
    uintptr_t low;
    uintptr_t high;
    rt_cell *cells;
} region;

enum { HEAP, STACKS, GLOBALS, REGIONS, FRAMES = 1024, SHARED = 256 };

typedef struct frame {
    uintptr_t low;  /* where the stack was on entry to the function */
    uint32_t clock; /* and its thread's clock */
} frame;

typedef struct stack {
    unsigned frames;
    frame frame[FRAMES];
    unsigned shared;
    uintptr_t cell[SHARED]; /* addresses of cells that others have touched */
} stack;

typedef struct shadow {
    region region[REGIONS];
    stack stack[RT_THREADS];
} shadow;

static shadow *state;

static void watch(unsigned which, uintptr_t low, uintptr_t high)
{
    low &= ~(uintptr_t)7;
    state->region[which] = (region){ low, high, rt_map(((high - low) / 8 + 1) * sizeof(rt_cell)) };
}

void rt_shadow_init(void)
{
    uintptr_t low;
    uintptr_t high;
    state = rt_map(sizeof(*state));
    rt_heap_bounds(&low, &high);
    watch(HEAP, low, high);
    rt_fiber_stacks(&low, &high);
    watch(STACKS, low, high);
    const rt_globals globals = rt_explore_globals();
    watch(GLOBALS, globals.low, globals.high);
}

void rt_shadow_reset(void)
{
    for (unsigned i = 0; i < RT_THREADS; i++) {
        state->stack[i].frames = 0;
        state->stack[i].shared = 0;
    }
}

static const region *region_of(uintptr_t addr)
{
    for (unsigned i = 0; i < REGIONS; i++) {
        const region *r = &state->region[i];
        if (addr >= r->low && addr < r->high) {
            return r;
        }
    }
    return NULL;
}

/* Dead memory. */

static _Noreturn void report_dead(uintptr_t addr, const void *pc, const void *dead_pc,
                                  const char *what)
{
    rt_trace(dead_pc, "died here");
    rt_trace(pc, "T%u touches %s", rt->self->id, rt_trace_where((const void *)addr));
    model_fail("%s", what);
}

static unsigned stack_owner(uintptr_t addr)
{
    return (unsigned)((addr - state->region[STACKS].low) / RT_STACK);
}

static const rt_block *check_heap(uintptr_t addr, const void *pc)
{
    const rt_block *block = rt_heap_block((const void *)addr, NULL);
    if (block == NULL) {
        report_dead(addr, pc, NULL, "access outside of every block of the heap");
    } else if (block->freed_pc != NULL) {
        report_dead(addr, pc, block->freed_pc, "use after free");
    }
    return block;
}

/* The memory of the cell came to `thread` at `clock`: as if it had written there. */
static void born(rt_cell *cell, unsigned thread, uint32_t clock, const void *pc)
{
    cell->access[cell->count++] = (rt_access){ pc, clock, (uint8_t)thread, 0xff, true };
}

static void check_dead(rt_cell *cell, uintptr_t addr, const void *pc)
{
    const bool on_stack = region_of(addr) == &state->region[STACKS];
    if (!on_stack) {
        report_dead(addr, pc, cell->dead_pc, "use after free");
    } else if (stack_owner(addr) != rt->self->id) {
        report_dead(addr, pc, cell->dead_pc, "use of a frame that has returned");
    }
    cell->dead = false; /* a new frame of its owner */
}

/* The first touch of a stack's cell by another thread. */
static void list_shared(rt_cell *cell, uintptr_t addr, const void *pc)
{
    const unsigned owner = stack_owner(addr);
    stack *s = &state->stack[owner];
    if (owner == rt->self->id || cell->listed) {
        return;
    }
    if (s->frames == 0 || (s->frames <= FRAMES && addr < s->frame[s->frames - 1].low)) {
        report_dead(addr, pc, NULL, "use of a frame that has returned");
    }
    if (s->shared == SHARED) {
        model_fail("explorer: too many shared words on one stack");
    }
    cell->listed = true;
    s->cell[s->shared++] = addr & ~(uintptr_t)7;
    unsigned in = 0;
    while (in + 1 < s->frames && in + 1 < FRAMES && s->frame[in].low > addr) {
        in++;
    }
    if (cell->count < RT_CELL_ACCESSES) {
        born(cell, owner, s->frame[in].clock, rt->thread[owner].pc);
    }
}

static rt_cell *cell_at(const region *r, uintptr_t addr, const void *pc)
{
    rt_cell *cell = &r->cells[(addr - r->low) / 8];
    if (cell->round != rt->round) {
        cell->round = rt->round;
        cell->loc[0] = 0;
        cell->loc[1] = 0;
        cell->count = 0;
        cell->dead = false;
        cell->listed = false;
        if (r == &state->region[HEAP]) {
            const rt_block *block = check_heap(addr, pc);
            if (block->clock != 0) {
                born(cell, block->thread, block->clock, block->made_pc);
            }
        }
    }
    if (cell->dead) {
        check_dead(cell, addr, pc);
    }
    if (r == &state->region[STACKS]) {
        list_shared(cell, addr, pc);
    }
    return cell;
}

rt_cell *rt_shadow_cell(const void *addr, const void *pc)
{
    const region *r = region_of((uintptr_t)addr);
    return r != NULL ? cell_at(r, (uintptr_t)addr, pc) : NULL;
}

/* Races. */

static _Noreturn void report_race(uintptr_t addr, bool write, const void *pc, const rt_clash *other,
                                  bool atomic)
{
    rt_trace(other->pc, "T%u %s%s, and not in order with that:", other->thread,
             atomic ? "atomic " : "plain ", other->write ? "write" : "read");
    rt_trace(pc, "T%u %s %s", rt->self->id, write ? "write" : "read",
             rt_trace_where((const void *)addr));
    model_fail("data race");
}

/* Compare with the plain accesses of the cell; drop those that the new one covers. */
static void check_plain(rt_cell *cell, uintptr_t addr, unsigned mask, bool write, bool cover,
                        const void *pc)
{
    const rt_thread *self = rt->self;
    for (unsigned i = 0; i < cell->count;) {
        const rt_access *a = &cell->access[i];
        if ((a->mask & mask) != 0) {
            const bool ordered = a->thread == self->id || a->clock <= self->cur->clock[a->thread];
            if (!ordered && (write || a->write)) {
                const rt_clash other = { a->thread, a->write, a->pc };
                report_race(addr, write, pc, &other, false);
            }
            if (ordered && cover && (write || !a->write) && (a->mask & ~mask) == 0) {
                cell->access[i] = cell->access[--cell->count];
                continue;
            }
        }
        i++;
    }
}

static void check_atomic(rt_cell *cell, uintptr_t addr, unsigned mask, bool write, const void *pc)
{
    for (unsigned half = 0; half < 2; half++) {
        rt_clash other;
        if (cell->loc[half] == 0 || (mask & (0xfU << (4 * half))) == 0) {
            continue;
        }
        if (rt_loc_clashes(cell->loc[half], write, &other)) {
            report_race(addr, write, pc, &other, true);
        }
        if (write) { /* what is atomic there later is a new word */
            const uint16_t old = cell->loc[half];
            cell->loc[0] = cell->loc[0] == old ? 0 : cell->loc[0];
            cell->loc[1] = cell->loc[1] == old ? 0 : cell->loc[1];
        }
    }
}

static void touch(rt_cell *cell, uintptr_t addr, unsigned mask, bool write, const void *pc)
{
    check_plain(cell, addr, mask, write, true, pc);
    if ((cell->loc[0] | cell->loc[1]) != 0) {
        check_atomic(cell, addr, mask, write, pc);
    }
    if (rt->live == 1) {
        return; /* whatever is started later comes after this */
    }
    if (cell->count == RT_CELL_ACCESSES) {
        model_fail("explorer: too many accesses to one word");
    }
    rt_thread *self = rt->self;
    cell->access[cell->count++] =
        (rt_access){ pc, self->cur->clock[self->id], (uint8_t)self->id, (uint8_t)mask, write };
}

/* The bytes of [addr, end) in the cell that begins at `base`. */
static unsigned mask_of(uintptr_t base, uintptr_t addr, uintptr_t end)
{
    const unsigned from = addr > base ? (unsigned)(addr - base) : 0;
    const unsigned to = end < base + 8 ? (unsigned)(end - base) : 8;
    return (0xffU << from) & (0xffU >> (8 - to));
}

/* Before the first thread starts: there is nothing to race with, only dead memory and atomic words
 * that end. */
static void touch_alone(const region *r, uintptr_t addr, size_t bytes, bool write, const void *pc)
{
    for (uintptr_t base = addr & ~(uintptr_t)7; base < addr + bytes; base += 8) {
        rt_cell *cell = &r->cells[(base - r->low) / 8];
        if (cell->round == rt->round) {
            cell = cell_at(r, base > addr ? base : addr, pc);
            if (write) {
                check_atomic(cell, base, mask_of(base, addr, addr + bytes), write, pc);
            }
        }
    }
    if (r == &state->region[HEAP]) {
        (void)check_heap(addr, pc);
        (void)check_heap(addr + bytes - 1, pc);
    }
}

void rt_shadow_plain(const void *start, size_t bytes, bool write, const void *pc)
{
    const uintptr_t addr = (uintptr_t)start;
    const region *r = region_of(addr);
    if (r == NULL || bytes == 0) {
        return;
    }
    if (rt->tracing && rt->verbose) {
        rt_trace(pc, "plain %-7s %s, %zu bytes", write ? "write" : "read", rt_trace_where(start),
                 bytes);
    }
    if (rt->threads == 1) {
        touch_alone(r, addr, bytes, write, pc);
        return;
    }
    for (uintptr_t base = addr & ~(uintptr_t)7; base < addr + bytes; base += 8) {
        const uintptr_t first = base > addr ? base : addr;
        rt_cell *cell = cell_at(r, first, pc);
        touch(cell, first, mask_of(base, addr, addr + bytes), write, pc);
    }
}

void rt_shadow_atomic(const void *addr, unsigned size, bool write, const void *pc)
{
    rt_cell *cell = rt_shadow_cell(addr, pc);
    if (cell->count > 0) {
        const uintptr_t base = (uintptr_t)addr & ~(uintptr_t)7;
        const unsigned mask = mask_of(base, (uintptr_t)addr, (uintptr_t)addr + size);
        check_plain(cell, (uintptr_t)addr, mask, write, false, pc);
    }
}

/* Death. */

void rt_shadow_die(const void *start, size_t bytes, const void *pc)
{
    const uintptr_t addr = (uintptr_t)start;
    const region *r = region_of(addr);
    for (uintptr_t base = addr; base < addr + bytes; base += 8) {
        rt_cell *cell = &r->cells[(base - r->low) / 8];
        if (cell->round == rt->round) {
            touch(cell, base, 0xff, true, pc);
            cell->dead = true;
            cell->dead_pc = pc;
        }
    }
}

void rt_shadow_frame_in(const void *low)
{
    const rt_thread *self = rt->self;
    stack *s = &state->stack[self->id];
    if (s->frames < FRAMES) {
        s->frame[s->frames] = (frame){ (uintptr_t)low, self->cur->clock[self->id] };
    }
    s->frames++;
}

/* A function returns: what lies below its caller's frame is dead. */
void rt_shadow_frame_out(const void *pc)
{
    stack *s = &state->stack[rt->self->id];
    if (s->frames == 0) {
        return;
    }
    s->frames--;
    if (s->shared == 0 || s->frames == 0 || s->frames >= FRAMES) {
        return;
    }
    const uintptr_t caller = s->frame[s->frames - 1].low;
    for (unsigned i = 0; i < s->shared;) {
        if (s->cell[i] < caller) {
            rt_cell *cell =
                &state->region[STACKS].cells[(s->cell[i] - state->region[STACKS].low) / 8];
            cell->listed = false;
            const uintptr_t addr = s->cell[i];
            s->cell[i] = s->cell[--s->shared];
            rt_shadow_die((const void *)addr, 8, pc);
        } else {
            i++;
        }
    }
}
