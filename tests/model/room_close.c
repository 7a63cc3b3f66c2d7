/* SPDX-License-Identifier: MIT */
/* A post waits for room while the pool is closed: it has been accepted, so the shutdown waits for it
 * and for its task.
 * Covers: CLOSE-1, ROOM-2, QUIET-3, QUIET-4 */
#include "parts_client.h"

static uint64_t ended[3];

static void task(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
}

static void end(void *arg, filch_end how)
{
    (void)how;
    (*(uint64_t *)arg)++;
}

static filch_status post(unsigned number)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.end = end;
    return filch_post(pool, task, &ended[number], 0, &options);
}

static void poster(void *arg)
{
    (void)arg;
    const filch_status status = post(2);
    MODEL_ASSERT(status == FILCH_OK || status == FILCH_E_CLOSED);
    (void)model_ghost(0, status == FILCH_OK);
}

/* The closer plays the worker while its shutdown is late. */
static void meet(filch_shutdown_mode mode)
{
    client_pool_parts(1, 2);
    MODEL_ASSERT(post(0) == FILCH_OK && post(1) == FILCH_OK);
    (void)model_spawn(poster, NULL);
    while (filch_pool_shutdown(pool, mode, 0, NULL) != FILCH_OK) {
        if (!client_run_one(0)) {
            model_yield();
        }
    }
    MODEL_ASSERT(ended[0] == 1 && ended[1] == 1);
    const uint64_t ended_late = ended[2];
    model_join_all();
    MODEL_ASSERT(ended_late == model_ghost(0, 0));
    MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
}

static void drain(void)
{
    meet(FILCH_DRAIN);
}

static void cancel(void)
{
    meet(FILCH_CANCEL);
}

const model_client model_clients[] = {
    { .name = "room_close_drain", .body = drain, .no_spurious_wakes = true },
    { .name = "room_close_cancel", .body = cancel, .no_spurious_wakes = true },
    { .name = NULL },
};
