/* SPDX-License-Identifier: MIT */
/* One publisher and one waiter: the publisher sees the waiter, or the waiter sees what was
 * published. The waiter's frame is gone as soon as the wait returns.
 * Covers: EC-1, EC-2, EC-3 */
#include "eventcount_client.h"

static void body(void)
{
    client_eventcount(FILCHI_WAKE_OLDEST);
    (void)model_spawn(client_publish, NULL);
    client_wait(NULL);
    MODEL_ASSERT(note[0] == 5);
    client_finish();
}

/* Twice in a row by the same two threads. */
static void publish_twice(void *arg)
{
    client_publish(arg);
    client_publish((void *)1);
}

static void twice(void)
{
    client_eventcount(FILCHI_WAKE_NEWEST);
    (void)model_spawn(publish_twice, NULL);
    client_wait(NULL);
    client_wait(NULL);
    MODEL_ASSERT(note[0] == 5 && note[1] == 5);
    client_finish();
}

const model_client model_clients[] = {
    { .name = "eventcount_lost_wake", .body = body },
    { .name = "eventcount_lost_wake_twice", .body = twice },
    { .name = NULL },
};
