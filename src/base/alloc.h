/* SPDX-License-Identifier: MIT */
/* Memory through the allocator of the user. Blocks come aligned to a cache line, so that what one
 * thread writes never shares a line with another block. */
#ifndef FILCHI_BASE_ALLOC_H
#define FILCHI_BASE_ALLOC_H

#include <filch/base.h>

#include <stdbool.h>

/* libc's aligned_alloc and free; errno is left as it was. */
extern const filch_allocator filchi_libc_allocator;

/* Both functions set, or neither. NULL stands for libc. */
bool filchi_allocator_valid(const filch_allocator *allocator);

/* NULL when there is no memory. The second form zeroes it; the third is for blocks that are many
 * and small, and aligns them for any object only; the fourth aligns as asked. */
void *filchi_alloc(const filch_allocator *allocator, size_t bytes);
void *filchi_alloc_zeroed(const filch_allocator *allocator, size_t bytes);
void *filchi_alloc_small(const filch_allocator *allocator, size_t bytes);
void *filchi_alloc_aligned(const filch_allocator *allocator, size_t bytes, size_t align);

/* NULL is fine. `bytes` as asked for. */
void filchi_free(const filch_allocator *allocator, void *block, size_t bytes);

#endif
