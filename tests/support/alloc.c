/* SPDX-License-Identifier: MIT */
/* The counting and failing allocator: see alloc.h. Each block has a head in front of it that says
 * how large it is. */
#include "support/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#define HEAD_MAGIC UINT64_C(0x66696c6368686561)
#define HEAD_FREED UINT64_C(0x6672656564686561)

typedef struct block_head {
    uint64_t magic;
    size_t bytes;
    void *whole;
} block_head;

static void *count_alloc(void *ctx, size_t bytes, size_t align)
{
    test_allocator *allocator = ctx;
    unsigned long call = atomic_fetch_add(&allocator->calls, 1) + 1;
    unsigned long fail_at = atomic_load(&allocator->fail_at);
    size_t limit = atomic_load(&allocator->refuse_above);

    if (align == 0 || (align & (align - 1)) != 0 || bytes == 0) {
        atomic_fetch_add(&allocator->broken, 1);
        return NULL;
    }
    bool late = atomic_load(&allocator->fail_for_good) && call > fail_at;
    if (fail_at != 0 && (call == fail_at || late)) {
        return NULL;
    }
    if (limit != 0 && bytes > limit) {
        return NULL;
    }
    size_t step = (align < sizeof(block_head)) ? 64 : align;
    size_t whole_bytes = (step + bytes + step - 1) / step * step;
    char *whole = aligned_alloc(step, whole_bytes);
    if (whole == NULL) {
        return NULL;
    }
    memset(whole, 0xA5, whole_bytes);
    block_head head = { HEAD_MAGIC, bytes, whole };
    memcpy(whole + step - sizeof(head), &head, sizeof(head));
    atomic_fetch_add(&allocator->allocs, 1);
    atomic_fetch_add(&allocator->live_bytes, bytes);
    return whole + step;
}

static void count_free(void *ctx, void *block, size_t bytes)
{
    test_allocator *allocator = ctx;
    block_head head;

    if (block == NULL) {
        atomic_fetch_add(&allocator->broken, 1);
        return;
    }
    char *at = (char *)block - sizeof(head);
    memcpy(&head, at, sizeof(head));
    if (head.magic != HEAD_MAGIC || head.bytes != bytes) {
        atomic_fetch_add(&allocator->broken, 1);
        return;
    }
    head.magic = HEAD_FREED;
    memcpy(at, &head, sizeof(head));
    atomic_fetch_add(&allocator->frees, 1);
    atomic_fetch_sub(&allocator->live_bytes, bytes);
    free(head.whole);
}

void test_allocator_init(test_allocator *allocator)
{
    memset(allocator, 0, sizeof(*allocator));
    allocator->hooks.alloc = count_alloc;
    allocator->hooks.free = count_free;
    allocator->hooks.ctx = allocator;
}

void test_allocator_fail(test_allocator *allocator, unsigned long nth, bool for_good)
{
    unsigned long at = (nth == 0) ? 0 : atomic_load(&allocator->calls) + nth;
    atomic_store(&allocator->fail_for_good, for_good);
    atomic_store(&allocator->fail_at, at);
}

bool test_allocator_has_failed(const test_allocator *allocator)
{
    unsigned long at = atomic_load(&allocator->fail_at);
    return at != 0 && atomic_load(&allocator->calls) >= at;
}

void test_allocator_assert_balanced(const test_allocator *allocator)
{
    assert_int_equal(atomic_load(&allocator->broken), 0);
    assert_int_equal(atomic_load(&allocator->frees), atomic_load(&allocator->allocs));
    assert_int_equal(atomic_load(&allocator->live_bytes), 0);
}
