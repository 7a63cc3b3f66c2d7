/* SPDX-License-Identifier: MIT */
/* The buffers of a deque: the first one, growth, and the end. A replaced buffer stays reachable
 * from its successor until the deque ends, because a thief may have loaded its address and not
 * read its slot yet. Capacities double, so all replaced buffers together are smaller than the one
 * in use; nothing needs to be reclaimed earlier. */
#include "base/alloc.h"
#include "queue/deque.h"

#include <string.h>

static size_t buf_bytes(int64_t capacity)
{
    return sizeof(filchi_deque_buf) + (size_t)capacity * sizeof(filchi_slot);
}

/* Zeroed: a late thief may read a slot that was never copied, and must find no garbage before it
 * loses its CAS. */
static filchi_deque_buf *buf_create(const filch_allocator *allocator, int64_t capacity)
{
    filchi_deque_buf *buf = filchi_alloc_zeroed(allocator, buf_bytes(capacity));
    if (buf != NULL) {
        buf->capacity = capacity;
    }
    return buf;
}

static size_t round_up_pow2(size_t n)
{
    size_t power = 1;
    while (power < n) {
        power *= 2;
    }
    return power;
}

filch_status filchi_deque_init(filch_deque *deque, size_t capacity, size_t max_capacity,
                               const filch_allocator *allocator)
{
    if (capacity == 0 || max_capacity < capacity || max_capacity > FILCH_DEQUE_MAX_CAPACITY) {
        return FILCH_E_INVALID;
    }
    filchi_deque_buf *buf = buf_create(allocator, (int64_t)round_up_pow2(capacity));
    if (buf == NULL) {
        return FILCH_E_NOMEM;
    }
    memset(deque, 0, sizeof(*deque));
    deque->max_capacity = (int64_t)round_up_pow2(max_capacity);
    deque->allocator = *allocator;
    /* relaxed: nobody else knows the deque yet */
    filchi_store_relaxed_uptr(&deque->buf, (uintptr_t)buf);
    return FILCH_OK;
}

void filchi_deque_fini(filch_deque *deque)
{
    filchi_deque_buf *buf = filchi_deque_own_buf(deque);
    while (buf != NULL) {
        filchi_deque_buf *replaced = buf->replaced;
        filchi_free(&deque->allocator, buf, buf_bytes(buf->capacity));
        buf = replaced;
    }
}

static void copy_items(filchi_deque_buf *to, filchi_deque_buf *from, int64_t top, int64_t bottom)
{
    for (int64_t i = top; i < bottom; i++) {
        const filchi_slot *source = filchi_deque_slot(from, i);
        filchi_slot *target = filchi_deque_slot(to, i);
        /* relaxed: the old slots are our own stores, the new ones are published with the buffer */
        filchi_store_relaxed_uptr(&target->first, filchi_load_relaxed_uptr(&source->first));
        filchi_store_relaxed_uptr(&target->second, filchi_load_relaxed_uptr(&source->second));
    }
}

filch_status filchi_deque_make_room(filch_deque *deque)
{
    filchi_deque_buf *old = filchi_deque_own_buf(deque);
    const int64_t bottom = filchi_deque_bottom(deque);
    /* [DEQUE-11] acquire, pairs with DEQUE-8: a thief has read its slot before we reuse it. */
    deque->top_seen = filchi_load_acquire_i64(&deque->top);
    if (bottom - deque->top_seen < old->capacity) {
        return FILCH_OK;
    }
    if (old->capacity >= deque->max_capacity) {
        return FILCH_E_FULL;
    }
    filchi_deque_buf *grown = buf_create(&deque->allocator, old->capacity * 2);
    if (grown == NULL) {
        return FILCH_E_NOMEM;
    }
    copy_items(grown, old, deque->top_seen, bottom);
    grown->replaced = old;
    /* [DEQUE-10] release, pairs with DEQUE-7: a thief that sees the buffer sees its items. */
    filchi_store_release_uptr(&deque->buf, (uintptr_t)grown);
    return FILCH_OK;
}

size_t filch_deque_retired_bytes(const filch_deque *deque)
{
    size_t bytes = 0;
    const filchi_deque_buf *buf = filchi_deque_own_buf(deque)->replaced;
    for (; buf != NULL; buf = buf->replaced) {
        bytes += (size_t)buf->capacity * sizeof(filchi_slot);
    }
    return bytes;
}
