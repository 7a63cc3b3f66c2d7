/* SPDX-License-Identifier: MIT */
/* A chain of chunks that is walked up by allocation and down by release. */
#include "core/arena.h"

#include "base/alloc.h"
#include "base/compiler.h"

enum { CHUNK_BYTES = 16 << 10 };

struct filchi_chunk {
    filchi_chunk *next;
    size_t bytes; /* of data */
    _Alignas(FILCHI_CACHELINE) unsigned char data[];
};

void filchi_arena_init(filchi_arena *arena, const filch_allocator *allocator)
{
    arena->first = NULL;
    arena->current = NULL;
    arena->used = 0;
    arena->allocator = allocator;
}

void filchi_arena_fini(filchi_arena *arena)
{
    filchi_chunk *chunk = arena->first;
    while (chunk != NULL) {
        filchi_chunk *next = chunk->next;
        filchi_free(arena->allocator, chunk, sizeof(*chunk) + chunk->bytes);
        chunk = next;
    }
}

/* A chunk of at least `bytes` after the current one: the next that is kept and big enough, else a
 * new one in front of it. */
static filchi_chunk *next_chunk(filchi_arena *arena, size_t bytes)
{
    filchi_chunk **link = arena->current != NULL ? &arena->current->next : &arena->first;
    if (*link != NULL && (*link)->bytes >= bytes) {
        return *link;
    }
    const size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    if (size > SIZE_MAX - sizeof(filchi_chunk)) {
        return NULL;
    }
    filchi_chunk *chunk = filchi_alloc(arena->allocator, sizeof(*chunk) + size);
    if (chunk != NULL) {
        chunk->bytes = size;
        chunk->next = *link;
        *link = chunk;
    }
    return chunk;
}

void *filchi_arena_alloc(filchi_arena *arena, size_t bytes, size_t align)
{
    if (arena->current != NULL) {
        const size_t start = (arena->used + align - 1) & ~(align - 1);
        if (start <= arena->current->bytes && bytes <= arena->current->bytes - start) {
            arena->used = start + bytes;
            return arena->current->data + start;
        }
    }
    filchi_chunk *chunk = next_chunk(arena, bytes);
    if (chunk == NULL) {
        return NULL;
    }
    arena->current = chunk;
    arena->used = bytes;
    return chunk->data;
}

filchi_arena_mark filchi_arena_here(const filchi_arena *arena)
{
    return (filchi_arena_mark){ arena->current, arena->used };
}

void filchi_arena_release(filchi_arena *arena, filchi_arena_mark mark)
{
    arena->current = mark.chunk;
    arena->used = mark.used;
}
