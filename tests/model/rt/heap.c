/* SPDX-License-Identifier: MIT */
/* malloc and its family for the code under test: memory is handed out in a row, filled with a
 * pattern, never used twice in an execution, and a redzone follows each block. free() is a write of
 * every byte. memcpy and its family are real, and seen by the race detector. */
#include "rt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 4096, REDZONE = 32, PATTERN = 0xd5 };

typedef struct heap {
    char *start;
    size_t used;
    unsigned blocks;
    rt_block block[BLOCKS];
} heap;

static heap *state;

void rt_heap_init(void)
{
    state = rt_map(sizeof(*state));
    state->start = rt_map(RT_HEAP);
}

void rt_heap_reset(void)
{
    state->used = 0;
    state->blocks = 0;
}

void rt_heap_bounds(uintptr_t *out_low, uintptr_t *out_high)
{
    *out_low = (uintptr_t)state->start;
    *out_high = *out_low + RT_HEAP;
}

const rt_block *rt_heap_block(const void *addr, unsigned *out_number)
{
    unsigned low = 0;
    unsigned high = state->blocks;
    while (low < high) { /* the first block behind addr */
        const unsigned middle = (low + high) / 2;
        if (state->block[middle].start <= (uintptr_t)addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return NULL;
    }
    const rt_block *block = &state->block[low - 1];
    if (out_number != NULL) {
        *out_number = low - 1;
    }
    return (uintptr_t)addr < block->start + block->bytes ? block : NULL;
}

static void *allocate(size_t bytes, size_t align, const void *pc)
{
    if (rt->client->allocation_may_fail && rt_choose_fault(2) != 0) {
        if (rt->tracing) {
            rt_trace(pc, "malloc of %zu bytes FAILS", bytes);
        }
        return NULL;
    }
    const uintptr_t next = (uintptr_t)state->start + state->used;
    const size_t from = (next + align - 1) / align * align - (uintptr_t)state->start;
    if (bytes > RT_HEAP || from + bytes + REDZONE > RT_HEAP || state->blocks == BLOCKS) {
        model_fail("explorer: one execution allocates too much");
    }
    char *block = state->start + from;
    state->used = from + bytes + REDZONE;
    (void)rt_history_add((uintptr_t)block, bytes);
    memset(block, PATTERN, bytes);
    const rt_thread *self = rt->self;
    const uint32_t clock = rt->threads > 1 ? self->cur->clock[self->id] : 0;
    state->block[state->blocks] = (rt_block){ (uintptr_t)block, bytes, NULL, pc, self->id, clock };
    if (rt->tracing) {
        rt_trace(pc, "malloc of %zu bytes: block %u", bytes, state->blocks);
    }
    state->blocks++;
    return block;
}

static void release(void *start, const void *pc)
{
    unsigned number = 0;
    if (start == NULL) {
        return;
    }
    const rt_block *found = rt_heap_block(start, &number);
    if (found == NULL || found->start != (uintptr_t)start || found->freed_pc != NULL) {
        model_fail("free of what is no live block");
    }
    if (rt->tracing) {
        rt_trace(pc, "free of block %u", number);
    }
    rt_block *block = &state->block[number];
    rt_shadow_die(start, (block->bytes + 7) / 8 * 8, pc);
    block->freed_pc = pc;
}

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *start, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);
int __wrap_posix_memalign(void **out_start, size_t align, size_t bytes);
void __wrap_free(void *start);

void *__wrap_malloc(size_t bytes)
{
    return allocate(bytes, 16, __builtin_return_address(0));
}

void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
    return allocate(bytes, align, __builtin_return_address(0));
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    const void *pc = __builtin_return_address(0);
    void *start = allocate(count * bytes, 16, pc);
    if (start != NULL) {
        memset(start, 0, count * bytes);
        rt_shadow_plain(start, count * bytes, true, pc);
    }
    return start;
}

void *__wrap_realloc(void *start, size_t bytes)
{
    const void *pc = __builtin_return_address(0);
    void *moved = allocate(bytes, 16, pc);
    if (moved != NULL && start != NULL) {
        const rt_block *old = rt_heap_block(start, NULL);
        const size_t kept = old != NULL && old->bytes < bytes ? old->bytes : bytes;
        rt_shadow_plain(start, kept, false, pc);
        rt_shadow_plain(moved, kept, true, pc);
        memcpy(moved, start, kept);
        release(start, pc);
    }
    return moved;
}

int __wrap_posix_memalign(void **out_start, size_t align, size_t bytes)
{
    void *start = allocate(bytes, align, __builtin_return_address(0));
    if (start == NULL) {
        return ENOMEM;
    }
    *out_start = start;
    return 0;
}

void __wrap_free(void *start)
{
    release(start, __builtin_return_address(0));
}
