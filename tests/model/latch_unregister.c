/* SPDX-License-Identifier: MIT */
/* A worker registers its parker at a latch and takes it back, as a join does that has found other
 * work. Either it gets the parker back and no token comes, or the latch was set, the result is
 * visible, and a token may be left over in a parker that lives on.
 * Covers: LATCH-1, LATCH-2, LATCH-3, LATCH-4 */
#include "model.h"
#include "sync/latch.h"

#include <stdlib.h>

typedef struct record {
    uint64_t result;
    filchi_latch latch;
} record;

static filchi_parker parker; /* the worker's */
static bool ready;

static void complete(void *arg)
{
    record *child = arg;
    MODEL_ASSERT(ready);
    child->result = 42;
    filchi_latch_set(&child->latch);
}

static void foreign(void *arg)
{
    (void)arg;
    filchi_unpark(&parker);
}

static void finish(record *child)
{
    MODEL_ASSERT(child->result == 42); /* whatever told us that it is set made this visible */
    MODEL_ASSERT(filchi_latch_is_set(&child->latch));
    free(child);
}

/* True: set; the result is visible. */
static bool register_once(record *child)
{
    if (!filchi_latch_register(&child->latch, &parker)) {
        return true;
    }
    if (model_choose(2) == 1) { /* as in a join that sleeps: other wakers use the parker too */
        while (!filchi_latch_is_set(&child->latch)) {
            (void)filchi_park(&parker, INT64_MAX);
        }
    }
    return !filchi_latch_unregister(&child->latch, &parker);
}

static void body(void)
{
    record *child = malloc(sizeof(*child));
    filchi_latch_init(&child->latch);
    model_name(child, sizeof(*child), "record");
    model_name(&parker, sizeof(parker), "parker");
    MODEL_ASSERT(filchi_parker_init(&parker));
    ready = true;
    (void)model_spawn(complete, child);
    if (!register_once(child) && !register_once(child)) {
        filchi_latch_wait(&child->latch, &parker);
    }
    finish(child);
    model_join_all();
    filchi_parker_destroy(&parker);
}

/* A wait that does nothing else, while another waker's token comes. */
static void foreign_token(void)
{
    record *child = malloc(sizeof(*child));
    filchi_latch_init(&child->latch);
    MODEL_ASSERT(filchi_parker_init(&parker));
    ready = true;
    (void)model_spawn(complete, child);
    (void)model_spawn(foreign, NULL);
    filchi_latch_wait(&child->latch, &parker);
    finish(child);
    model_join_all();
    filchi_parker_destroy(&parker);
}

const model_client model_clients[] = {
    { .name = "latch_unregister", .body = body },
    { .name = "latch_foreign_token", .body = foreign_token },
    { .name = NULL },
};
