/* SPDX-License-Identifier: MIT */
/* The deque as a component of its own: creation, and the exported forms of the bodies in
 * deque.h. */
#include "queue/deque.h"

#include "base/alloc.h"
#include "plat/plat.h"

filch_status filch_deque_create(size_t capacity, size_t max_capacity,
                                const filch_allocator *allocator, filch_deque **out_deque)
{
    if (out_deque == NULL || !filchi_allocator_valid(allocator)) {
        return FILCH_E_INVALID;
    }
    const filch_allocator *source = allocator != NULL ? allocator : &filchi_libc_allocator;
    filch_deque *deque = filchi_alloc_zeroed(source, sizeof(*deque));
    if (deque == NULL) {
        return FILCH_E_NOMEM;
    }
    const filch_status status = filchi_deque_init(deque, capacity, max_capacity, source);
    if (status != FILCH_OK) {
        filchi_free(source, deque, sizeof(*deque));
        return status;
    }
    *out_deque = deque;
    return FILCH_OK;
}

void filch_deque_destroy(filch_deque *deque)
{
    if (deque != NULL) {
        const filch_allocator allocator = deque->allocator;
        filchi_deque_fini(deque);
        filchi_free(&allocator, deque, sizeof(*deque));
    }
}

void filchi_deque_check_owner(filch_deque *deque)
{
    const uintptr_t self = filchi_thread_self();
    if (deque->owner == 0) {
        deque->owner = self;
    }
    FILCHI_RULE(deque->owner == self,
                "only the owner of a deque may push and pop; other threads steal");
}

void filch_deque_adopt(filch_deque *deque)
{
    deque->owner = filchi_thread_self();
}

filch_status filch_deque_push(filch_deque *deque, filch_item item)
{
    return filchi_deque_push(deque, item);
}

int filch_deque_pop(filch_deque *deque, filch_item *out_item)
{
    filch_item item;
    if (!filchi_deque_pop(deque, &item)) {
        return 0;
    }
    *out_item = item;
    return 1;
}

filch_steal_result filch_deque_steal(filch_deque *deque, filch_item *out_item)
{
    return filchi_deque_steal(deque, out_item);
}

size_t filch_deque_size(const filch_deque *deque)
{
    /* relaxed: a moment's view */
    const int64_t top = filchi_load_relaxed_i64(&deque->top);
    const int64_t bottom = filchi_load_relaxed_i64(&deque->bottom);
    return bottom > top ? (size_t)(bottom - top) : 0;
}

size_t filch_deque_capacity(const filch_deque *deque)
{
    return (size_t)filchi_deque_own_buf(deque)->capacity;
}
