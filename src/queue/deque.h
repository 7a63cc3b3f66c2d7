/* SPDX-License-Identifier: MIT */
/* Both ends of one Chase-Lev deque, as bodies for inlining; deque.c exports the same bodies as
 * filch_deque_*. The steps, the race for the last item and why each order is needed: README.md.
 *
 * Invariants: top only grows; top <= bottom + 1; slot i of the buffer in use holds item i for
 * every i in [top, bottom); a buffer is never written again once it has been replaced.
 * Growth is in deque_buf.c. */
#ifndef FILCHI_QUEUE_DEQUE_H
#define FILCHI_QUEUE_DEQUE_H

#include <filch/deque.h>

#include "base/atomic.h"
#include "base/check.h"
#include "base/compiler.h"
#include "base/fault.h"

typedef struct filchi_slot {
    filchi_atomic_uptr first;
    filchi_atomic_uptr second;
} filchi_slot;

typedef struct filchi_deque_buf {
    struct filchi_deque_buf *replaced; /* the buffer this one took over from */
    int64_t capacity;                  /* a power of two */
    filchi_slot slots[];
} filchi_deque_buf;

/* I: set at init   O: the owner writes, others read   o: the owner only   T: thieves CAS */
struct filch_deque {
    _Alignas(FILCHI_CACHELINE) filchi_atomic_i64 top;    /* T, and the owner for the last item */
    _Alignas(FILCHI_CACHELINE) filchi_atomic_i64 bottom; /* O */
    filchi_atomic_uptr buf;                              /* O: filchi_deque_buf */
    int64_t top_seen;                                    /* o: an old value of top */
    uintptr_t owner;                                     /* o: thread; debug builds only */
    int64_t max_capacity;                                /* I */
    filch_allocator allocator;                           /* I */
};

/* As filch_deque_create, in place. */
filch_status filchi_deque_init(filch_deque *deque, size_t capacity, size_t max_capacity,
                               const filch_allocator *allocator);
void filchi_deque_fini(filch_deque *deque);

/* Make room for one more item: look at the present top, then grow. */
FILCHI_COLD filch_status filchi_deque_make_room(filch_deque *deque);

/* Debug builds: the caller is the owner, or becomes it at the first call. */
FILCHI_COLD void filchi_deque_check_owner(filch_deque *deque);

static FILCHI_HOT_INLINE void filchi_deque_owner_call(filch_deque *deque)
{
    if (FILCHI_DEBUG) {
        filchi_deque_check_owner(deque);
    }
}

static FILCHI_HOT_INLINE filchi_slot *filchi_deque_slot(filchi_deque_buf *buf, int64_t index)
{
    return &buf->slots[index & (buf->capacity - 1)];
}

static FILCHI_HOT_INLINE filchi_deque_buf *filchi_deque_own_buf(const filch_deque *deque)
{
    /* relaxed: only the owner writes it */
    return (filchi_deque_buf *)filchi_load_relaxed_uptr(&deque->buf);
}

/* Owner. The index the next push gets; not below it are the items pushed since. */
static FILCHI_HOT_INLINE int64_t filchi_deque_bottom(const filch_deque *deque)
{
    /* relaxed: only the owner writes it */
    return filchi_load_relaxed_i64(&deque->bottom);
}

/* Owner. */
static FILCHI_HOT_INLINE filch_status filchi_deque_push(filch_deque *deque, filch_item item)
{
    filchi_deque_owner_call(deque);
    const int64_t bottom = filchi_deque_bottom(deque);
    if (FILCHI_UNLIKELY(bottom - deque->top_seen >= filchi_deque_own_buf(deque)->capacity)) {
        const filch_status status = filchi_deque_make_room(deque);
        if (status != FILCH_OK) {
            return status;
        }
    }
    filchi_slot *slot = filchi_deque_slot(filchi_deque_own_buf(deque), bottom);
    /* relaxed: published by the store of bottom */
    filchi_store_relaxed_uptr(&slot->first, item.first);
    filchi_store_relaxed_uptr(&slot->second, item.second);
    /* [DEQUE-1] seq_cst, pairs with DEQUE-6, DEQUE-9, SLEEP-1: a thief that sees the new bottom
     * sees the item; a publisher that then sees nobody asleep knows that every later sleeper sees
     * the item. */
    filchi_store_seq_cst_i64(&deque->bottom, bottom + 1);
    return FILCH_OK;
}

/* Owner. Nothing to pop: an old top makes an empty deque look full, never the other way round. */
static inline bool filchi_deque_own_empty(const filch_deque *deque)
{
    /* relaxed: only the owner adds items, and a top never goes back */
    return filchi_load_relaxed_i64(&deque->top) >= filchi_deque_bottom(deque);
}

/* Owner. Push as many as there is room for; returns how many. */
static inline size_t filchi_deque_push_many(filch_deque *deque, const filch_item *items,
                                            size_t count)
{
    filchi_deque_owner_call(deque);
    const int64_t bottom = filchi_deque_bottom(deque);
    if (bottom - deque->top_seen + (int64_t)count > filchi_deque_own_buf(deque)->capacity) {
        (void)filchi_deque_make_room(deque);
    }
    filchi_deque_buf *buf = filchi_deque_own_buf(deque);
    const size_t room = (size_t)(buf->capacity - (bottom - deque->top_seen));
    const size_t pushed = count < room ? count : room;
    for (size_t i = 0; i < pushed; i++) {
        filchi_slot *slot = filchi_deque_slot(buf, bottom + (int64_t)i);
        /* relaxed: published by the store of bottom */
        filchi_store_relaxed_uptr(&slot->first, items[i].first);
        filchi_store_relaxed_uptr(&slot->second, items[i].second);
    }
    /* [DEQUE-12] seq_cst, pairs with DEQUE-6, DEQUE-9, SLEEP-1: as DEQUE-1, for all of them. */
    filchi_store_seq_cst_i64(&deque->bottom, bottom + (int64_t)pushed);
    return pushed;
}

/* Owner. Take the newest item, without reading it: its index, or -1 if there is none. The race for
 * the last item is decided by the CAS on top, as between two thieves. */
static FILCHI_HOT_INLINE int64_t filchi_deque_claim(filch_deque *deque)
{
    filchi_deque_owner_call(deque);
    const int64_t last = filchi_deque_bottom(deque) - 1;
    /* [DEQUE-2] seq_cst, pairs with DEQUE-6: the claim on the last item is seen by every thief
     * whose look at top came after ours. */
    filchi_store_seq_cst_i64(&deque->bottom, last);
    /* [DEQUE-3] seq_cst, pairs with DEQUE-8: a thief that missed our claim moved top first. */
    const int64_t top = filchi_load_seq_cst_i64(&deque->top);
    if (FILCHI_LIKELY(top < last)) {
        return last;
    }
    bool got = false;
    if (top == last) {
        /* [DEQUE-4] seq_cst, pairs with DEQUE-5, DEQUE-8: one of us and the thieves gets it. */
        got = filchi_cas_seq_cst_i64(&deque->top, top, top + 1);
    }
    /* relaxed: top is past `last` for good, so nobody takes anything on the strength of this */
    filchi_store_relaxed_i64(&deque->bottom, last + 1);
    return got ? last : -1;
}

/* Owner. The item behind an index that was claimed; valid until the next push. */
static FILCHI_HOT_INLINE filch_item filchi_deque_claimed_item(const filch_deque *deque,
                                                              int64_t index)
{
    const filchi_slot *slot = filchi_deque_slot(filchi_deque_own_buf(deque), index);
    /* relaxed: our own stores */
    return (filch_item){ filchi_load_relaxed_uptr(&slot->first),
                         filchi_load_relaxed_uptr(&slot->second) };
}

/* Owner. */
static FILCHI_HOT_INLINE bool filchi_deque_pop(filch_deque *deque, filch_item *out_item)
{
    const int64_t index = filchi_deque_claim(deque);
    if (index < 0) {
        return false;
    }
    *out_item = filchi_deque_claimed_item(deque, index);
    return true;
}

/* Any thread. */
static inline filch_steal_result filchi_deque_steal(filch_deque *deque, filch_item *out_item)
{
    /* [DEQUE-5] seq_cst, pairs with DEQUE-4, DEQUE-8: top before bottom, or an old bottom would
     * be believed. */
    const int64_t top = filchi_load_seq_cst_i64(&deque->top);
    /* [DEQUE-6] seq_cst, pairs with DEQUE-1, DEQUE-2, DEQUE-12: sees the owner's claim, or the owner sees
     * our CAS; sees the item that a push stored before. */
    const int64_t bottom = filchi_load_seq_cst_i64(&deque->bottom);
    if (top >= bottom) {
        return FILCH_STEAL_EMPTY;
    }
    /* [DEQUE-7] acquire, pairs with DEQUE-10: the copied items are in a buffer before it is. */
    filchi_deque_buf *buf = (filchi_deque_buf *)filchi_load_acquire_uptr(&deque->buf);
    filchi_slot *slot = filchi_deque_slot(buf, top);
    /* relaxed, and before the CAS: afterwards the owner may reuse the slot. If the CAS fails, what
     * was read may be torn or stale, and is thrown away. */
    const filch_item item = { filchi_load_relaxed_uptr(&slot->first),
                              filchi_load_relaxed_uptr(&slot->second) };
    (void)filchi_point_hit(FILCHI_AT_STEAL_READ);
    /* [DEQUE-8] seq_cst, pairs with DEQUE-3, DEQUE-4, DEQUE-5, DEQUE-11: whoever moves top owns
     * the item, and has read it before the owner may reuse its slot. */
    if (!filchi_cas_seq_cst_i64(&deque->top, top, top + 1)) {
        return FILCH_STEAL_LOST;
    }
    (void)filchi_point_hit(FILCHI_AT_STEAL_WON);
    *out_item = item;
    return FILCH_STEAL_GOT;
}

/* Any thread, of a deque that never grows: the item that a steal might get. A guess. */
static inline bool filchi_deque_peek(const filch_deque *deque, filch_item *out_item)
{
    /* relaxed, all: nothing is done with it but to choose whom to steal from */
    const int64_t top = filchi_load_relaxed_i64(&deque->top);
    if (top >= filchi_load_relaxed_i64(&deque->bottom)) {
        return false;
    }
    filchi_deque_buf *buf = (filchi_deque_buf *)filchi_load_relaxed_uptr(&deque->buf);
    const filchi_slot *oldest = filchi_deque_slot(buf, top);
    out_item->first = filchi_load_relaxed_uptr(&oldest->first);
    out_item->second = filchi_load_relaxed_uptr(&oldest->second);
    return true;
}

/* Any thread: the last look of a thread that wants to sleep. */
static inline bool filchi_deque_looks_empty(const filch_deque *deque)
{
    /* relaxed: an old top makes an empty deque look full, which costs one more try */
    const int64_t top = filchi_load_relaxed_i64(&deque->top);
    /* [DEQUE-9] seq_cst, pairs with DEQUE-1, DEQUE-12: sees each push whose publisher did not see us. */
    return top >= filchi_load_seq_cst_i64(&deque->bottom);
}

#endif
