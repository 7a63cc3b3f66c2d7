/* SPDX-License-Identifier: MIT */
/* Eventcount: a list of waiters under a lock, and a count of them in a word that publishers read
 * without it. The fast path of a publisher (nobody waits) is one load, at the caller's. */
#include "sync/eventcount.h"

#include "base/compiler.h"

bool filchi_eventcount_init(filchi_eventcount *ec, filchi_atomic_u64 *word, filchi_wake_order order)
{
    filchi_list_init(&ec->waiters);
    ec->word = word;
    ec->order = order;
    return filchi_mutex_init(&ec->lock);
}

void filchi_eventcount_destroy(filchi_eventcount *ec)
{
    filchi_mutex_destroy(&ec->lock);
}

void filchi_waiter_init(filchi_waiter *waiter, filchi_parker *parker)
{
    filchi_list_init(&waiter->link);
    waiter->parker = parker;
    filchi_store_relaxed_u32(&waiter->woken, 0);
}

void filchi_eventcount_prepare(filchi_eventcount *ec, filchi_waiter *waiter, uint64_t delta)
{
    filchi_mutex_lock(&ec->lock);
    /* relaxed: wakers only write it under the lock */
    filchi_store_relaxed_u32(&waiter->woken, 0);
    if (ec->order == FILCHI_WAKE_NEWEST) {
        filchi_list_push_front(&ec->waiters, &waiter->link);
    } else {
        filchi_list_push_back(&ec->waiters, &waiter->link);
    }
    /* [EC-1] seq_cst, pairs with SLEEP-1, ROOM-2, QUIET-2: the publisher counts this waiter, or
     * the look that follows sees what it published. */
    (void)filchi_add_seq_cst_u64(ec->word, delta);
    filchi_mutex_unlock(&ec->lock);
}

/* Leave the list if still on it. */
static bool leave(filchi_eventcount *ec, filchi_waiter *waiter, uint64_t delta)
{
    filchi_mutex_lock(&ec->lock);
    const bool listed = !filchi_list_empty(&waiter->link);
    if (listed) {
        filchi_list_remove(&waiter->link);
        /* relaxed: forgetting a waiter late costs a look at an empty list */
        (void)filchi_add_relaxed_u64(ec->word, delta);
    }
    filchi_mutex_unlock(&ec->lock);
    return listed;
}

/* A waker took the waiter off the list; its token comes soon and must not be left behind, since
 * the parker may be freed next. */
static void take_token(filchi_waiter *waiter)
{
    do {
        (void)filchi_park(waiter->parker, INT64_MAX);
    } while (!filchi_waiter_woken(waiter));
}

bool filchi_eventcount_cancel(filchi_eventcount *ec, filchi_waiter *waiter, uint64_t delta)
{
    const bool left = leave(ec, waiter, delta);
    if (!left) {
        take_token(waiter);
    }
    return left;
}

bool filchi_eventcount_wait(filchi_eventcount *ec, filchi_waiter *waiter, int64_t deadline_ns,
                            uint64_t delta)
{
    do {
        if (!filchi_park(waiter->parker, deadline_ns)) {
            return !filchi_eventcount_cancel(ec, waiter, delta);
        }
    } while (!filchi_waiter_woken(waiter)); /* a token may be left over from another waker */
    return true;
}

bool filchi_waiter_woken(const filchi_waiter *waiter)
{
    /* [EC-2] acquire, pairs with EC-3: what the waker published is visible. */
    return filchi_load_acquire_u32(&waiter->woken) != 0;
}

/* Take a waiter off the list. Its parker gets a token from the caller. */
static filchi_parker *choose(filchi_eventcount *ec, filchi_waiter *waiter, uint64_t delta,
                             filchi_chosen_fn *chosen)
{
    filchi_parker *parker = waiter->parker;
    filchi_list_remove(&waiter->link);
    if (chosen != NULL) {
        chosen(waiter);
    }
    /* relaxed: the woken thread changes state in one step; README.md says why publishers that see
     * it need no order from it */
    (void)filchi_add_relaxed_u64(ec->word, delta);
    /* [EC-3] release, pairs with EC-2: the last touch of the waiter. */
    filchi_store_release_u32(&waiter->woken, 1);
    return parker;
}

static filchi_parker *choose_first(filchi_eventcount *ec, uint64_t delta, filchi_chosen_fn *chosen)
{
    return choose(ec, FILCHI_CONTAINER(ec->waiters.next, filchi_waiter, link), delta, chosen);
}

bool filchi_eventcount_wake_one(filchi_eventcount *ec, uint64_t delta, uint64_t unless)
{
    return filchi_eventcount_wake_chosen(ec, delta, unless, NULL);
}

bool filchi_eventcount_wake_chosen(filchi_eventcount *ec, uint64_t delta, uint64_t unless,
                                   filchi_chosen_fn *chosen)
{
    filchi_parker *parker = NULL;
    filchi_mutex_lock(&ec->lock);
    /* relaxed: of two wakers the second sees the first one's thread by the lock; README.md says why
     * a change made without the lock is not missed either */
    const bool needed = (filchi_load_relaxed_u64(ec->word) & unless) == 0;
    if (needed && !filchi_list_empty(&ec->waiters)) {
        parker = choose_first(ec, delta, chosen);
    }
    filchi_mutex_unlock(&ec->lock);
    if (parker == NULL) {
        return false;
    }
    filchi_unpark(parker); /* outside the lock: the woken thread may want it */
    return true;
}

void filchi_eventcount_wake_all(filchi_eventcount *ec, uint64_t delta)
{
    filchi_mutex_lock(&ec->lock);
    /* under the lock: who comes back at once waits until we are done, and is not woken for ever */
    while (!filchi_list_empty(&ec->waiters)) {
        filchi_unpark(choose_first(ec, delta, NULL));
    }
    filchi_mutex_unlock(&ec->lock);
}

void filchi_eventcount_wake_waiter(filchi_eventcount *ec, filchi_waiter *waiter, uint64_t delta)
{
    filchi_mutex_lock(&ec->lock);
    if (!filchi_list_empty(&waiter->link)) {
        filchi_unpark(choose(ec, waiter, delta, NULL));
    }
    filchi_mutex_unlock(&ec->lock);
}
