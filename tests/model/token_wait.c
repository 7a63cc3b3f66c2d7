/* SPDX-License-Identifier: MIT */
/* A thread waits on an eventcount with a token: what it waits for or the stop wakes it, whichever
 * comes, or both at once. Its frame ends right after, and nobody touches it any more.
 * Covers: EC-2, EC-3 */
#include "base/compiler.h"
#include "eventcount_client.h"
#include "sync/token.h"

static filch_token *token;

typedef struct guarded {
    filchi_waiter waiter;
    filchi_token_wait wait;
} guarded;

static void wake(filchi_token_wait *wait)
{
    filchi_eventcount_wake_waiter(&ec, &FILCHI_CONTAINER(wait, guarded, wait)->waiter,
                                  (uint64_t)-1);
}

/* True: it has a unit. */
static MODEL_FRAME bool wait_guarded(void)
{
    filchi_parker parker;
    guarded self;
    MODEL_ASSERT(filchi_parker_init(&parker));
    filchi_waiter_init(&self.waiter, &parker);
    bool over = !filchi_token_enter(token, &self.wait, wake);
    const bool entered = !over;
    bool got = false;
    while (!got && !over) {
        filchi_eventcount_prepare(&ec, &self.waiter, 1);
        got = client_take();
        over = !got && filchi_token_stopped(token);
        if (got || over) {
            (void)filchi_eventcount_cancel(&ec, &self.waiter, (uint64_t)-1);
        } else {
            MODEL_ASSERT(filchi_eventcount_wait(&ec, &self.waiter, INT64_MAX, 0));
            got = client_take();
            over = !got && filchi_token_stopped(token);
        }
    }
    if (entered) {
        filchi_token_leave(token, &self.wait);
    }
    filchi_parker_destroy(&parker);
    return got;
}

static void stop(void *arg)
{
    (void)arg;
    MODEL_ASSERT(filch_token_stop(token) == FILCH_OK);
}

static void begin(void)
{
    client_eventcount(FILCHI_WAKE_OLDEST);
    MODEL_ASSERT(filch_token_create(NULL, NULL, &token) == FILCH_OK);
    model_name(token, sizeof(*token), "token");
}

static void finish(void)
{
    model_join_all();
    MODEL_ASSERT(filch_token_destroy(token) == FILCH_OK);
    MODEL_ASSERT(filchi_load_seq_cst_u64(&waiters) == 0 && filchi_list_empty(&ec.waiters));
    filchi_eventcount_destroy(&ec);
}

static void stopped(void)
{
    begin();
    (void)model_spawn(stop, NULL);
    MODEL_ASSERT(!wait_guarded());
    MODEL_ASSERT(!wait_guarded()); /* again: at once */
    finish();
}

static void both(void)
{
    begin();
    (void)model_spawn(stop, NULL);
    (void)model_spawn(client_publish, NULL);
    const bool got = wait_guarded();
    model_join_all();
    MODEL_ASSERT(client_take() == !got);
    finish();
}

/* Whoever was stopped and has not left yet still needs the token. */
static void destroyed(void)
{
    guarded self;
    begin();
    MODEL_ASSERT(filchi_token_enter(token, &self.wait, wake));
    filchi_list_init(&self.waiter.link);
    MODEL_ASSERT(filch_token_destroy(token) == FILCH_E_BUSY);
    stop(NULL);
    MODEL_ASSERT(filch_token_destroy(token) == FILCH_E_BUSY);
    filchi_token_leave(token, &self.wait);
    finish();
}

const model_client model_clients[] = {
    { .name = "token_wait", .body = stopped, .no_spurious_wakes = true, .seconds = 1 },
    { .name = "token_wait_both", .body = both, .no_spurious_wakes = true },
    { .name = "token_wait_destroyed", .body = destroyed, .seconds = 0.3 },
    { .name = NULL },
};
