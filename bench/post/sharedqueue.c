/* SPDX-License-Identifier: MIT */
/* Contestant "sharedqueue": one queue behind one mutex, bench/designs/sharedqueue.h.
 *
 * Its nodes lie in memory of the caller. They are made beforehand, one for each task, and their
 * pages are touched, so no allocation is timed. */
#include "bench/designs/sharedqueue.h"
#include "bench/post/work.h"

#include <stdlib.h>

typedef struct shared_contestant {
    sharedq *pool;
    sharedq_task *tasks;
} shared_contestant;

static void empty_task(sharedq_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
}

static void counting_task(sharedq_cx *cx, void *arg)
{
    (void)cx;
    post_count(arg);
}

static void *start(unsigned threads, size_t tasks, uint64_t *counter)
{
    shared_contestant *made = malloc(sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    made->tasks = malloc(tasks * sizeof *made->tasks);
    if (made->tasks == NULL || sharedq_create(threads, &made->pool) != 0) {
        free(made->tasks);
        free(made);
        return NULL;
    }
    for (size_t i = 0; i < tasks; i++) {
        made->tasks[i] =
            (sharedq_task){ .fn = counter == NULL ? empty_task : counting_task, .arg = counter };
    }
    return made;
}

static bool post(void *pool, size_t first, size_t count)
{
    const shared_contestant *self = pool;
    for (size_t i = first; i < first + count; i++) {
        sharedq_submit(self->pool, &self->tasks[i]);
    }
    return true;
}

static bool drain(void *pool)
{
    const shared_contestant *self = pool;
    sharedq_drain(self->pool);
    return true;
}

static void stop(void *pool)
{
    shared_contestant *self = pool;
    sharedq_destroy(self->pool);
    free(self->tasks);
    free(self);
}

const post_design post_sharedqueue = {
    .name = "sharedqueue", .start = start, .post = post, .drain = drain, .stop = stop
};
