/* SPDX-License-Identifier: MIT */
/* Waiting for a condition that others make true without a lock: register, look once more, sleep.
 * The publisher makes the condition true, then looks at the number of waiters. README.md says why
 * the two cannot miss each other.
 *
 * The count of waiters is one field of a 64-bit word that may be shared with other counts: each
 * call says what it adds to the word, so that "leaves this state and enters that one" is a single
 * step for whoever reads the word.
 *
 * A waiter lives in its thread's memory; when wait or cancel has returned, nobody touches it. */
#ifndef FILCHI_SYNC_EVENTCOUNT_H
#define FILCHI_SYNC_EVENTCOUNT_H

#include "base/list.h"
#include "plat/plat.h"

typedef struct filchi_waiter {
    filchi_link link;        /* under the eventcount's lock */
    filchi_parker *parker;   /* set at init */
    filchi_atomic_u32 woken; /* a waker has taken this waiter off the list */
} filchi_waiter;

typedef enum filchi_wake_order { FILCHI_WAKE_NEWEST, FILCHI_WAKE_OLDEST } filchi_wake_order;

typedef struct filchi_eventcount {
    filchi_mutex lock;
    filchi_link waiters;
    filchi_atomic_u64 *word;
    filchi_wake_order order;
} filchi_eventcount;

bool filchi_eventcount_init(filchi_eventcount *ec, filchi_atomic_u64 *word,
                            filchi_wake_order order);
void filchi_eventcount_destroy(filchi_eventcount *ec);
void filchi_waiter_init(filchi_waiter *waiter, filchi_parker *parker);

/* Register, adding `delta` to the word. Then look at the condition again, with seq_cst loads, and
 * cancel or wait. */
void filchi_eventcount_prepare(filchi_eventcount *ec, filchi_waiter *waiter, uint64_t delta);

/* Leave again, adding `delta`. False: a waker was quicker; what it added stands, and the wake is
 * used up: the caller owes what the woken thread was to do, or must wake another. */
bool filchi_eventcount_cancel(filchi_eventcount *ec, filchi_waiter *waiter, uint64_t delta);

/* Sleep until woken. False: `deadline_ns` passed first, and it has left, adding `delta`. */
bool filchi_eventcount_wait(filchi_eventcount *ec, filchi_waiter *waiter, int64_t deadline_ns,
                            uint64_t delta);

/* Has a waker chosen this waiter? What the waker wrote before is then visible. */
bool filchi_waiter_woken(const filchi_waiter *waiter);

/* Wake one, adding `delta` for it; not if `unless` has a bit in common with the word (then
 * somebody else already does what the woken thread would do; the caller has published, and then
 * looked at the word itself, both seq_cst). False: nobody was woken. */
bool filchi_eventcount_wake_one(filchi_eventcount *ec, uint64_t delta, uint64_t unless);

/* The same; `chosen` is called under the lock, before the waiter can know. */
typedef void filchi_chosen_fn(filchi_waiter *waiter);
bool filchi_eventcount_wake_chosen(filchi_eventcount *ec, uint64_t delta, uint64_t unless,
                                   filchi_chosen_fn *chosen);
void filchi_eventcount_wake_all(filchi_eventcount *ec, uint64_t delta);

/* Wake this waiter, adding `delta`, if it is registered. Its memory stays valid during the call. */
void filchi_eventcount_wake_waiter(filchi_eventcount *ec, filchi_waiter *waiter, uint64_t delta);

#endif
