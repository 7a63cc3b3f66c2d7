/* SPDX-License-Identifier: MIT */
/* The default allocator, and the fault point in front of every allocation. */
#include "base/alloc.h"

#include "base/compiler.h"
#include "base/fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void *libc_alloc(void *ctx, size_t bytes, size_t align)
{
    (void)ctx;
    if (bytes > SIZE_MAX - align) {
        return NULL;
    }
    const int saved = errno;
    /* aligned_alloc wants a multiple of the alignment */
    void *block = aligned_alloc(align, (bytes + align - 1) / align * align);
    errno = saved;
    return block;
}

static void libc_free(void *ctx, void *block, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    const int saved = errno;
    free(block);
    errno = saved;
}

const filch_allocator filchi_libc_allocator = { libc_alloc, libc_free, NULL };

bool filchi_allocator_valid(const filch_allocator *allocator)
{
    return allocator == NULL || (allocator->alloc != NULL && allocator->free != NULL);
}

void *filchi_alloc_aligned(const filch_allocator *allocator, size_t bytes, size_t align)
{
    if (filchi_point_hit(FILCHI_AT_ALLOC)) {
        return NULL;
    }
    return allocator->alloc(allocator->ctx, bytes, align);
}

void *filchi_alloc(const filch_allocator *allocator, size_t bytes)
{
    return filchi_alloc_aligned(allocator, bytes, FILCHI_CACHELINE);
}

void *filchi_alloc_small(const filch_allocator *allocator, size_t bytes)
{
    return filchi_alloc_aligned(allocator, bytes, _Alignof(max_align_t));
}

void *filchi_alloc_zeroed(const filch_allocator *allocator, size_t bytes)
{
    void *block = filchi_alloc(allocator, bytes);
    if (block != NULL) {
        memset(block, 0, bytes);
    }
    return block;
}

void filchi_free(const filch_allocator *allocator, void *block, size_t bytes)
{
    if (block != NULL) {
        allocator->free(allocator->ctx, block, bytes);
    }
}
