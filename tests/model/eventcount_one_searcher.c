/* SPDX-License-Identifier: MIT */
/* Two publishers at once and two sleepers, with a word that counts sleepers and searchers: the
 * second waker looks again under the lock and does not wake a second thread for one search. */
#include "core/sleep.h"
#include "model.h"
#include "sync/eventcount.h"

static filchi_atomic_u64 word;
static filchi_eventcount ec;
static filchi_parker parkers[2];
static filchi_waiter sleepers[2];

static void publish(void *arg)
{
    (void)arg;
    if (filchi_sleep_task_needs_wake(filchi_load_seq_cst_u64(&word))) {
        (void)filchi_eventcount_wake_one(&ec, FILCHI_SLEEP_SEARCHING - FILCHI_SLEEP_IDLE,
                                         FILCHI_SLEEP_SEARCHING * FILCHI_SLEEP_FIELD);
    }
}

static void body(void)
{
    MODEL_ASSERT(filchi_eventcount_init(&ec, &word, FILCHI_WAKE_NEWEST));
    for (int i = 0; i < 2; i++) {
        MODEL_ASSERT(filchi_parker_init(&parkers[i]));
        filchi_waiter_init(&sleepers[i], &parkers[i]);
        filchi_eventcount_prepare(&ec, &sleepers[i], FILCHI_SLEEP_IDLE);
    }
    (void)model_spawn(publish, NULL);
    (void)model_spawn(publish, NULL);
    model_join_all();
    MODEL_ASSERT(filchi_load_seq_cst_u64(&word) == FILCHI_SLEEP_SEARCHING + FILCHI_SLEEP_IDLE);
    MODEL_ASSERT(filchi_waiter_woken(&sleepers[1]) && !filchi_waiter_woken(&sleepers[0]));
}

const model_client model_clients[] = {
    { .name = "eventcount_one_searcher", .body = body },
    { .name = NULL },
};
