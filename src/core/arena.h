/* SPDX-License-Identifier: MIT */
/* Scratch memory of a lane, released in the reverse order of its allocation: scopes keep their
 * children's records in it, loops their participants. Chunks are kept for later, so that a warm
 * lane allocates nothing. One thread at a time. */
#ifndef FILCHI_CORE_ARENA_H
#define FILCHI_CORE_ARENA_H

#include <filch/base.h>

typedef struct filchi_chunk filchi_chunk;

typedef struct filchi_arena {
    filchi_chunk *first;
    filchi_chunk *current; /* NULL: nothing is in use */
    size_t used;           /* bytes of `current` */
    const filch_allocator *allocator;
} filchi_arena;

typedef struct filchi_arena_mark {
    filchi_chunk *chunk;
    size_t used;
} filchi_arena_mark;

void filchi_arena_init(filchi_arena *arena, const filch_allocator *allocator);
void filchi_arena_fini(filchi_arena *arena);

/* `align` is a power of two up to a cache line. NULL without memory. */
void *filchi_arena_alloc(filchi_arena *arena, size_t bytes, size_t align);

/* Where the arena stands; release takes back everything allocated since. */
filchi_arena_mark filchi_arena_here(const filchi_arena *arena);
void filchi_arena_release(filchi_arena *arena, filchi_arena_mark mark);

#endif
