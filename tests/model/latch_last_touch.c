/* SPDX-License-Identifier: MIT */
/* One thread completes a child, another waits for it and frees everything as soon as the wait
 * returns: the record with the latch and the result, and its own parker. The setter touches neither
 * afterwards, and the result is visible.
 * Covers: LATCH-1, LATCH-2, LATCH-3, PARK-1, PARK-2, PARK-4 */
#include "model.h"
#include "sync/latch.h"

#include <stdlib.h>

typedef struct record {
    uint64_t result;
    filchi_latch latch;
} record;

static void complete(void *arg)
{
    record *child = arg;
    child->result = 42;
    filchi_latch_set(&child->latch);
}

static record *start_child(void)
{
    record *child = malloc(sizeof(*child));
    filchi_latch_init(&child->latch);
    model_name(child, sizeof(*child), "record");
    (void)model_spawn(complete, child);
    return child;
}

static void wait_and_free(void)
{
    record *child = start_child();
    filchi_parker *parker = malloc(sizeof(*parker));
    model_name(parker, sizeof(*parker), "parker");
    MODEL_ASSERT(filchi_parker_init(parker));
    filchi_latch_wait(&child->latch, parker);
    MODEL_ASSERT(child->result == 42);
    free(child);
    filchi_parker_destroy(parker);
    free(parker);
    model_join_all();
}

/* A foreign thread: its parker and the record lie in a frame that returns. */
static MODEL_FRAME void wait_in_frame(void)
{
    filchi_parker parker;
    record child;
    filchi_latch_init(&child.latch);
    MODEL_ASSERT(filchi_parker_init(&parker));
    (void)model_spawn(complete, &child);
    filchi_latch_wait(&child.latch, &parker);
    MODEL_ASSERT(child.result == 42);
    filchi_parker_destroy(&parker);
}

static void frame(void)
{
    wait_in_frame();
    model_join_all();
}

/* A thread that only looks. */
static void look_only(void)
{
    record *child = start_child();
    for (int i = 0; i < 3; i++) {
        if (filchi_latch_is_set(&child->latch)) {
            MODEL_ASSERT(child->result == 42);
            free(child);
            break;
        }
    }
    model_join_all();
}

const model_client model_clients[] = {
    { .name = "latch_wait_and_free", .body = wait_and_free },
    { .name = "latch_wait_in_frame", .body = frame },
    { .name = "latch_look_only", .body = look_only },
    { .name = NULL },
};
