/* SPDX-License-Identifier: MIT */
/* A worker that was woken in vain naps. While it does nobody is woken for a fork, yet no fork stays
 * hidden: at the end it looks as any sleeper does. Detached tasks and the stop wake it.
 * Covers: REC-2, REC-5, REC-6, SLEEP-1, SLEEP-2, EC-1 */
#include "records_client.h"

static void distrust(unsigned worker)
{
    lanes->workers[worker]->woken = true;
    client_start_worker(worker);
}

static void hidden_fork(void)
{
    client_begin(2, true);
    client_silence();
    distrust(1);
    client_fork_and_await();
    client_finish();
}

/* Its owner settles once, sees the nap, and wakes nobody. */
static void offered_fork(void)
{
    client_begin(2, true);
    distrust(1);
    client_silence();
    client_fork_and_await();
    client_finish();
}

/* Worker 2 sleeps for good: when the one that napped has found work, it is woken for the next. */
static void hands_on(void)
{
    client_begin(3, true);
    client_start_worker(2);
    distrust(1);
    client_silence();
    client_fork_and_await();
    client_finish();
}

static void stop(void)
{
    client_begin(2, true);
    distrust(1);
    client_finish();
}

const model_client model_clients[] = {
    { .name = "sleep_nap_hidden_fork", .body = hidden_fork, .no_spurious_wakes = true },
    { .name = "sleep_nap_offered_fork",
      .body = offered_fork,
      .no_spurious_wakes = true,
      .seconds = 2 },
    { .name = "sleep_nap_hands_on", .body = hands_on, .no_spurious_wakes = true, .seconds = 3 },
    { .name = "sleep_nap_stop", .body = stop, .no_spurious_wakes = true },
    { .name = NULL },
};
