/* SPDX-License-Identifier: MIT */
/* The Chase-Lev work-stealing deque as a component of its own.
 *
 * One thread, the owner, pushes and pops at the bottom: it gets the newest item. Any thread steals
 * at the top: it gets the oldest. Each pushed item is handed out exactly once. The buffer is
 * circular, a power of two, and grows up to a limit; it never shrinks. Replaced buffers are kept
 * until the deque is destroyed, since a thief may still read them: together they are smaller than
 * the buffer in use. Indices are signed 64-bit and count pushes: at one push a nanosecond they last
 * 292 years.
 *
 * Owner calls (push, pop, size as an exact figure) belong to one thread at a time; debug builds
 * abort when another makes them. The first owner call, or filch_deque_adopt, names the owner.
 * Progress: push and pop are wait-free except for growth, steal is lock-free.
 * Order:    writes before a push are visible to whoever gets the item.
 *
 * Chase and Lev, SPAA 2005; Le, Pop, Cohen and Zappa Nardelli, PPoPP 2013, with its errata; all
 * four sides of the race for the last item are seq_cst accesses (src/queue/README.md). */
#ifndef FILCH_DEQUE_H
#define FILCH_DEQUE_H

#include <filch/base.h>

FILCH_BEGIN_DECLS

typedef struct filch_deque filch_deque;

/* What a deque holds: two words of the caller's; any values. */
typedef struct filch_item {
    uintptr_t first;
    uintptr_t second;
} filch_item;

typedef enum filch_steal_result {
    FILCH_STEAL_GOT = 1,
    FILCH_STEAL_EMPTY = 2,
    FILCH_STEAL_LOST = 3 /* somebody else took that item first: try again if you like */
} filch_steal_result;

#define FILCH_DEQUE_MAX_CAPACITY ((SIZE_MAX >> 6) + 1)

/* Create an empty deque. `capacity` is the first size of the buffer and `max_capacity` its limit,
 * both rounded up to a power of two; equal values switch growth off. NULL allocator: libc.
 * Threads: any.      Owns: the caller destroys it; the allocator is copied.
 * Fails:   FILCH_E_INVALID (0, above FILCH_DEQUE_MAX_CAPACITY, limit below capacity),
 *          FILCH_E_NOMEM. */
FILCH_API filch_status filch_deque_create(size_t capacity, size_t max_capacity,
                                          const filch_allocator *allocator,
                                          filch_deque **out_deque);

/* Free the deque and every buffer it ever had; items still in it are forgotten. NULL does nothing.
 * Threads: any, once no other thread uses the deque. */
FILCH_API void filch_deque_destroy(filch_deque *deque);

/* Make the calling thread the owner, after the last owner handed the deque over (with whatever
 * orders the two).  Threads: the new owner. */
FILCH_API void filch_deque_adopt(filch_deque *deque);

/* Add an item at the bottom.
 * Threads: owner.    Fails: FILCH_E_FULL (at the limit), FILCH_E_NOMEM (could not grow). */
FILCH_API filch_status filch_deque_push(filch_deque *deque, filch_item item);

/* Take the newest item. Returns 1 and the item, or 0: empty, or a thief took the last one.
 * Threads: owner. */
FILCH_API int filch_deque_pop(filch_deque *deque, filch_item *out_item);

/* Take the oldest item; `out_item` is written only with FILCH_STEAL_GOT.
 * Threads: any. */
FILCH_API filch_steal_result filch_deque_steal(filch_deque *deque, filch_item *out_item);

/* Items held: exact for the owner while nobody steals, otherwise a moment's view; never negative.
 * Threads: any. */
FILCH_API size_t filch_deque_size(const filch_deque *deque);

/* Items the present buffer holds, and bytes of items in replaced buffers, less than those of the
 * present one.  Threads: owner. */
FILCH_API size_t filch_deque_capacity(const filch_deque *deque);
FILCH_API size_t filch_deque_retired_bytes(const filch_deque *deque);

FILCH_END_DECLS

#endif
