/* SPDX-License-Identifier: MIT */
/* A worker's parker serves several wakers. A token left over from another one (a latch) ends the
 * park early: the waiter then goes by `woken` alone, sees what its waker wrote, and its frame may
 * end while that waker's token is still on its way. The waiter object is used again and again.
 * Covers: EC-2, EC-3 */
#include "eventcount_client.h"

static filchi_parker parker; /* the worker's: it outlives every waker */

static void foreign(void *arg)
{
    (void)arg;
    filchi_unpark(&parker);
}

static void publish(void *arg)
{
    note[(uintptr_t)arg] = 5;
    client_wake();
}

/* Goes to sleep without a look: what it waits for is the wake itself. */
static void sleep_once(filchi_waiter *waiter, uintptr_t round)
{
    filchi_eventcount_prepare(&ec, waiter, 1);
    (void)model_spawn(publish, (void *)round);
    MODEL_ASSERT(filchi_eventcount_wait(&ec, waiter, INT64_MAX, 0));
    MODEL_ASSERT(note[round] == 5);
}

static MODEL_FRAME void once(void)
{
    filchi_waiter waiter;
    filchi_waiter_init(&waiter, &parker);
    sleep_once(&waiter, 0);
}

static void in_frame(void)
{
    client_eventcount(FILCHI_WAKE_NEWEST);
    MODEL_ASSERT(filchi_parker_init(&parker));
    (void)model_spawn(foreign, NULL);
    once();
    client_finish();
    filchi_parker_destroy(&parker);
}

static filchi_waiter worker;

static void twice(void)
{
    client_eventcount(FILCHI_WAKE_NEWEST);
    MODEL_ASSERT(filchi_parker_init(&parker));
    filchi_waiter_init(&worker, &parker);
    (void)model_spawn(foreign, NULL);
    sleep_once(&worker, 0);
    sleep_once(&worker, 1);
    client_finish();
    filchi_parker_destroy(&parker);
}

const model_client model_clients[] = {
    { .name = "eventcount_foreign_token", .body = in_frame },
    { .name = "eventcount_foreign_token_twice", .body = twice, .seconds = 6 },
    { .name = NULL },
};
