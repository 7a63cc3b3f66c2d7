/* SPDX-License-Identifier: MIT */
/* What the eventcount's clients share: a number of units that publishers add and waiters take, an
 * eventcount for those who find none, and a wait whose parker and waiter lie in a frame that
 * returns at once. */
#ifndef MODEL_EVENTCOUNT_CLIENT_H
#define MODEL_EVENTCOUNT_CLIENT_H

#include "model.h"
#include "sync/eventcount.h"

static filchi_atomic_u64 units;
static filchi_atomic_u64 waiters;
static filchi_eventcount ec;
static uint64_t note[4]; /* plain: written before unit n is published */

static inline void client_eventcount(filchi_wake_order order)
{
    MODEL_ASSERT(filchi_eventcount_init(&ec, &waiters, order));
    model_name(&units, sizeof(units), "units");
    model_name(&waiters, sizeof(waiters), "waiters");
    model_name(&ec, sizeof(ec), "eventcount");
}

static inline void client_wake(void)
{
    if (filchi_load_seq_cst_u64(&waiters) != 0) {
        (void)filchi_eventcount_wake_one(&ec, (uint64_t)-1, 0);
    }
}

/* S1 to S3 of src/sync/README.md. */
static inline void client_publish(void *arg)
{
    note[(uintptr_t)arg] = 5;
    (void)filchi_add_seq_cst_u64(&units, 1);
    client_wake();
}

static inline bool client_take(void)
{
    uint64_t have = filchi_load_seq_cst_u64(&units);
    while (have != 0) {
        if (filchi_cas_seq_cst_u64(&units, &have, have - 1)) {
            return true;
        }
    }
    return false;
}

/* W1 to W3, until there is a unit. A wake that comes to a waiter which has found a unit by itself
 * was meant for another: `passes_on` hands it over (a worker does so at the end of its search). */
static MODEL_FRAME void client_wait_and(bool passes_on)
{
    filchi_parker parker;
    filchi_waiter waiter;
    MODEL_ASSERT(filchi_parker_init(&parker));
    filchi_waiter_init(&waiter, &parker);
    bool got = client_take();
    while (!got) {
        filchi_eventcount_prepare(&ec, &waiter, 1);
        got = client_take();
        if (got) {
            if (!filchi_eventcount_cancel(&ec, &waiter, (uint64_t)-1) && passes_on) {
                client_wake();
            }
        } else {
            MODEL_ASSERT(filchi_eventcount_wait(&ec, &waiter, INT64_MAX, 0));
            got = client_take();
        }
    }
    filchi_parker_destroy(&parker);
}

static inline void client_wait(void *arg)
{
    (void)arg;
    client_wait_and(true);
}

static inline void client_finish(void)
{
    model_join_all();
    MODEL_ASSERT(filchi_load_seq_cst_u64(&waiters) == 0);
    MODEL_ASSERT(filchi_load_seq_cst_u64(&units) == 0);
    MODEL_ASSERT(filchi_list_empty(&ec.waiters));
    filchi_eventcount_destroy(&ec);
}

#endif
