/* SPDX-License-Identifier: MIT */
/* A foreign thread hands a call in and waits for it. The worker's last touch of the call, which lies
 * in the frame of filch_run, is its latch; the result is visible. Then the pool may be destroyed.
 * Covers: LATCH-1, LATCH-2, LATCH-3, QUIET-1, QUIET-3 */
#include "parts_client.h"

#include <filch/fork.h>

static uintptr_t add_one(filch_cx *cx, uintptr_t n)
{
    (void)cx;
    return n + 1;
}

static void runner(void *arg)
{
    (void)arg;
    client_run(0);
}

static MODEL_FRAME uintptr_t call(uintptr_t n)
{
    uintptr_t value = 0;
    MODEL_ASSERT(filch_run_word(pool, add_one, n, &value) == FILCH_OK);
    return value;
}

static void once(void)
{
    client_pool_parts(1, 2);
    (void)model_spawn(runner, NULL);
    MODEL_ASSERT(call(4) == 5);
    model_join_all();
    client_free_parts();
}

/* A call meets the cancelling of the pool: refused, run, or cancelled, and the caller comes back. */
static void canceller(void *arg)
{
    (void)arg;
    while (filch_pool_shutdown(pool, FILCH_CANCEL, 0, NULL) != FILCH_OK) {
        if (!client_run_one(0)) {
            model_yield();
        }
    }
}

static void cancelled(void)
{
    uintptr_t value = 7;
    client_pool_parts(1, 2);
    (void)model_spawn(canceller, NULL);
    const filch_status status = filch_run_word(pool, add_one, 4, &value);
    MODEL_ASSERT(status == FILCH_OK ? value == 5 : value == 7);
    MODEL_ASSERT(status == FILCH_OK || status == FILCH_E_CLOSED || status == FILCH_E_CANCELLED);
    model_join_all();
    MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
}

/* The pool is destroyed as soon as the call has come back: its worker is still on its way out of the
 * call. */
static void destroyed(void)
{
    client_pool_parts(1, 2);
    client_start(1, filchi_worker_main);
    MODEL_ASSERT(call(4) == 5);
    MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
}

const model_client model_clients[] = {
    { .name = "root_last_touch", .body = once, .no_spurious_wakes = true, .seconds = 0.8 },
    { .name = "root_cancelled", .body = cancelled, .no_spurious_wakes = true, .seconds = 0.8 },
    { .name = "root_destroyed", .body = destroyed, .no_spurious_wakes = true, .seconds = 3.5 },
    { .name = NULL },
};
