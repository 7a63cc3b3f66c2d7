/* SPDX-License-Identifier: MIT */
/* Contestant "glib": GThreadPool, the shared queue that C programs have at hand.
 *
 * As its manual says is best: an exclusive pool, so that its threads exist from the start and
 * belong to it alone, and data that is not NULL. It allocates a list node for each push. Waiting
 * for all tasks is g_thread_pool_free with wait; that its threads also end in there costs some tens
 * of microseconds in a run of tenths of a second. */
#include "bench/post/work.h"

#include <glib.h>
#include <stdlib.h>

typedef struct glib_contestant {
    GThreadPool *pool; /* NULL once drained */
} glib_contestant;

static void empty_task(gpointer data, gpointer user_data)
{
    (void)data;
    (void)user_data;
}

static void counting_task(gpointer data, gpointer user_data)
{
    (void)data;
    post_count(user_data);
}

static void *start(unsigned threads, size_t tasks, uint64_t *counter)
{
    (void)tasks;
    glib_contestant *made = malloc(sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    made->pool = g_thread_pool_new(counter == NULL ? empty_task : counting_task, counter,
                                   (gint)threads, TRUE, NULL);
    if (made->pool == NULL || g_thread_pool_get_num_threads(made->pool) != threads) {
        if (made->pool != NULL) {
            g_thread_pool_free(made->pool, TRUE, TRUE);
        }
        free(made);
        return NULL;
    }
    return made;
}

static bool post(void *pool, size_t first, size_t count)
{
    (void)first;
    static char data; /* only its address is used */
    const glib_contestant *self = pool;
    for (size_t i = 0; i < count; i++) {
        if (!g_thread_pool_push(self->pool, &data, NULL)) {
            return false;
        }
    }
    return true;
}

static bool drain(void *pool)
{
    glib_contestant *self = pool;
    g_thread_pool_free(self->pool, FALSE, TRUE);
    self->pool = NULL;
    return true;
}

static void stop(void *pool)
{
    glib_contestant *self = pool;
    if (self->pool != NULL) {
        g_thread_pool_free(self->pool, TRUE, TRUE);
    }
    free(self);
}

const post_design post_glib = {
    .name = "glib", .start = start, .post = post, .drain = drain, .stop = stop
};
