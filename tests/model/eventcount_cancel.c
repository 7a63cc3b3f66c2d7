/* SPDX-License-Identifier: MIT */
/* A waiter leaves by itself, by cancel or because its deadline passed, while a waker takes it off
 * the list: one of them wins, the count is right, and nobody touches the waiter afterwards. A wake
 * that met a leaving waiter brought its unit into sight.
 * Covers: EC-1, EC-2, EC-3 */
#include "eventcount_client.h"

/* Registers, and leaves at once. */
static MODEL_FRAME void look_in(void)
{
    filchi_parker parker;
    filchi_waiter waiter;
    MODEL_ASSERT(filchi_parker_init(&parker));
    filchi_waiter_init(&waiter, &parker);
    filchi_eventcount_prepare(&ec, &waiter, 1);
    if (!filchi_eventcount_cancel(&ec, &waiter, (uint64_t)-1)) {
        MODEL_ASSERT(filchi_waiter_woken(&waiter));
        MODEL_ASSERT(note[0] == 5); /* what the waker wrote */
    }
    filchi_parker_destroy(&parker);
}

static void cancel(void)
{
    client_eventcount(FILCHI_WAKE_NEWEST);
    (void)model_spawn(client_publish, NULL);
    look_in();
    client_wait(NULL);
    client_finish();
}

enum { GHOST_WAKES };

static void publish_and_count(void *arg)
{
    note[(uintptr_t)arg] = 5;
    (void)filchi_add_seq_cst_u64(&units, 1);
    if (filchi_load_seq_cst_u64(&waiters) != 0 &&
        filchi_eventcount_wake_one(&ec, (uint64_t)-1, 0)) {
        (void)model_ghost(GHOST_WAKES, 1);
    }
}

static MODEL_FRAME void wait_until(int64_t deadline_ns)
{
    filchi_parker parker;
    filchi_waiter waiter;
    MODEL_ASSERT(filchi_parker_init(&parker));
    filchi_waiter_init(&waiter, &parker);
    filchi_eventcount_prepare(&ec, &waiter, 1);
    if (client_take()) {
        (void)filchi_eventcount_cancel(&ec, &waiter, (uint64_t)-1);
    } else {
        if (filchi_eventcount_wait(&ec, &waiter, deadline_ns, (uint64_t)-1)) {
            MODEL_ASSERT(note[0] == 5);
        } else {
            MODEL_ASSERT(model_ghost(GHOST_WAKES, 0) == 0); /* it says that nobody woke it */
        }
        if (!client_take()) {
            client_wait(NULL);
        }
    }
    filchi_parker_destroy(&parker);
}

static void deadline(void)
{
    client_eventcount(FILCHI_WAKE_NEWEST);
    (void)model_spawn(publish_and_count, NULL);
    wait_until(2000000000);
    client_finish();
}

static void wake_all(void *arg)
{
    (void)arg;
    filchi_eventcount_wake_all(&ec, (uint64_t)-1);
    (void)model_ghost(0, 1);
}

/* Woken by a wake of all, it comes back at once: that is for the next wake. */
static void again(void)
{
    filchi_parker parker;
    filchi_waiter waiter;
    client_eventcount(FILCHI_WAKE_OLDEST);
    MODEL_ASSERT(filchi_parker_init(&parker));
    filchi_waiter_init(&waiter, &parker);
    filchi_eventcount_prepare(&ec, &waiter, 1);
    (void)model_spawn(wake_all, NULL);
    MODEL_ASSERT(filchi_eventcount_wait(&ec, &waiter, INT64_MAX, 0));
    filchi_eventcount_prepare(&ec, &waiter, 1);
    while (model_ghost(0, 0) == 0) {
        model_yield();
    }
    MODEL_ASSERT(filchi_eventcount_cancel(&ec, &waiter, (uint64_t)-1));
    filchi_parker_destroy(&parker);
    client_finish();
}

const model_client model_clients[] = {
    { .name = "eventcount_cancel", .body = cancel },
    { .name = "eventcount_deadline", .body = deadline },
    { .name = "eventcount_again", .body = again },
    { .name = NULL },
};
