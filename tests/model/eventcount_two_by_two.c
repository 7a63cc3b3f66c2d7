/* SPDX-License-Identifier: MIT */
/* Two publishers, two waiters, two units: both waiters come back, whoever wakes whom.
 * Covers: EC-1, EC-2, EC-3 */
#include "eventcount_client.h"

static void body(void)
{
    client_eventcount(FILCHI_WAKE_OLDEST);
    (void)model_spawn(client_wait, NULL);
    (void)model_spawn(client_publish, (void *)0);
    (void)model_spawn(client_publish, (void *)1);
    client_wait(NULL);
    client_finish();
}

/* One publisher wakes all. */
static void publish_all(void *arg)
{
    (void)arg;
    (void)filchi_add_seq_cst_u64(&units, 2);
    if (filchi_load_seq_cst_u64(&waiters) != 0) {
        filchi_eventcount_wake_all(&ec, (uint64_t)-1);
    }
}

static void wake_all(void)
{
    client_eventcount(FILCHI_WAKE_OLDEST);
    (void)model_spawn(client_wait, NULL);
    (void)model_spawn(publish_all, NULL);
    client_wait(NULL);
    client_finish();
}

/* What the contract asks of a waiter that leaves: a wake that came to it was meant for another. */
static void wait_and_keep_wake(void *arg)
{
    (void)arg;
    client_wait_and(false);
}

static void swallowed(void)
{
    client_eventcount(FILCHI_WAKE_OLDEST);
    (void)model_spawn(wait_and_keep_wake, NULL);
    (void)model_spawn(client_publish, (void *)0);
    (void)model_spawn(client_publish, (void *)1);
    client_wait_and(false);
    client_finish();
}

const model_client model_clients[] = {
    { .name = "eventcount_two_by_two", .body = body, .no_spurious_wakes = true, .seconds = 6 },
    { .name = "eventcount_wake_all", .body = wake_all, .no_spurious_wakes = true },
    { .name = "eventcount_swallowed_wake",
      .body = swallowed,
      .fails = "all threads wait",
      .no_spurious_wakes = true,
      .seconds = 6 },
    { .name = NULL },
};
