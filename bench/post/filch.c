/* SPDX-License-Identifier: MIT */
/* Contestant "filch": filch_post from threads that are no workers, so through the injector.
 *
 * The default queue holds 1024 tasks: a producer that is faster than the workers waits, which the
 * other designs never do, as their queues have no bound. Nothing is copied (0 bytes) and nothing is
 * allocated. */
#include "bench/post/work.h"

#include <filch/pool.h>
#include <filch/task.h>

#include <stdlib.h>

typedef struct filch_contestant {
    filch_pool *pool;
    uint64_t *counter;
    filch_fn *task;
} filch_contestant;

static void empty_task(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
}

static void counting_task(filch_cx *cx, void *arg)
{
    (void)cx;
    post_count(arg);
}

static void *start(unsigned threads, size_t tasks, uint64_t *counter)
{
    (void)tasks;
    filch_contestant *made = malloc(sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    made->counter = counter;
    made->task = counter == NULL ? empty_task : counting_task;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = threads;
    config.flags = FILCH_POOL_STRICT;
    if (filch_pool_create(&config, &made->pool) != FILCH_OK) {
        free(made);
        return NULL;
    }
    return made;
}

static bool post(void *pool, size_t first, size_t count)
{
    (void)first;
    const filch_contestant *self = pool;
    for (size_t i = 0; i < count; i++) {
        if (filch_post(self->pool, self->task, self->counter, 0, NULL) != FILCH_OK) {
            return false;
        }
    }
    return true;
}

static bool drain(void *pool)
{
    const filch_contestant *self = pool;
    return filch_pool_wait_quiet(self->pool, FILCH_FOREVER) == FILCH_OK;
}

static void stop(void *pool)
{
    filch_contestant *self = pool;
    filch_pool_destroy(self->pool);
    free(self);
}

const post_design post_filch = {
    .name = "filch", .start = start, .post = post, .drain = drain, .stop = stop
};
