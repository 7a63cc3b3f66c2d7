/* SPDX-License-Identifier: MIT */
/* A fork is published while others go to sleep, in a join or idle: it is seen by the last look of
 * the sleeper, or the sleeper is woken. The forking lane waits until its fork has been taken, so
 * that a wake-up that is lost leaves nobody to go on.
 * Covers: SLEEP-1, SLEEP-2, EC-1, EC-5, DEQUE-1, DEQUE-9, LATCH-3, LATCH-4 */
#include "lanes_client.h"

static filchi_parker taken;
static filchi_latch done; /* of a child that lane 0 waits for; never set */

static uintptr_t wait_for_taker(filch_cx *cx, uintptr_t n)
{
    (void)cx;
    MODEL_ASSERT(filchi_park(&taken, INT64_MAX));
    return n;
}

static uintptr_t take(filch_cx *cx, uintptr_t n)
{
    (void)cx;
    filchi_unpark(&taken);
    return n + 1;
}

static void fork_and_wait(filch_cx *cx)
{
    const filch_pair both = filch_join2_word(cx, wait_for_taker, 3, take, 4);
    MODEL_ASSERT(both.first == 3 && both.second == 5);
}

static void forks(void *arg)
{
    filch_cx *cx = client_cx((unsigned)(uintptr_t)arg);
    (void)filchi_spi_isolate(cx, true); /* its own join only waits */
    fork_and_wait(cx);
    (void)filchi_spi_isolate(cx, false);
}

static void begin(unsigned workers)
{
    client_lanes(workers);
    filchi_latch_init(&done);
    MODEL_ASSERT(filchi_parker_init(&taken));
}

static void in_join(void)
{
    begin(2);
    (void)model_spawn(forks, CLIENT_WORKER(1));
    client_wait_in_join(0, &done);
    model_join_all();
    client_free_lanes();
}

static void idle(void)
{
    begin(2);
    (void)model_spawn(client_idle_worker, CLIENT_WORKER(1));
    (void)filchi_spi_isolate(client_cx(0), true);
    fork_and_wait(client_cx(0));
    (void)filchi_spi_isolate(client_cx(0), false);
    model_join_all();
    client_free_lanes();
}

const model_client model_clients[] = {
    { .name = "fork_wakes_joiner", .body = in_join, .no_spurious_wakes = true },
    { .name = "fork_wakes_idle", .body = idle, .no_spurious_wakes = true },
    { .name = NULL },
};
