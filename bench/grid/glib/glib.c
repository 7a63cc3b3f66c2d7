/* SPDX-License-Identifier: MIT */
/* Contestant "glib": an exclusive GThreadPool, so that its threads exist from the start. It has tasks
 * and nothing else: what has to be joined by a task it cannot run, since the join would hold its
 * thread. Waiting for all is a count and a condition; g_thread_pool_free would end the threads, too. */
#include "bench/grid/serve.h"

#include <glib.h>

#define CANNOT "tasks cannot be joined inside a pool thread"

static struct {
    GThreadPool *pool;
    const grid_input *work;
    gssize left; /* tasks that have not run; atomic */
    gssize sum;  /* of their results; atomic */
    GMutex lock;
    GCond done;
} self;

static uint64_t do_piece(const grid_input *input, size_t piece)
{
    if (input->workload == GRID_FLOOD) {
        return 1;
    }
    const size_t grain = input->workload == GRID_SWEEP ? input->grain : 1;
    const size_t end = MIN(input->n, (piece + 1) * grain);
    uint64_t sum = 0;
    for (size_t i = piece * grain; i < end; i++) {
        sum += grid_spin(i, input->iters);
    }
    return sum;
}

/* A task is its number plus one: GLib wants pointers that are not NULL. */
static void run_piece(gpointer data, gpointer user_data)
{
    (void)user_data;
    g_atomic_pointer_add(&self.sum, (gssize)do_piece(self.work, GPOINTER_TO_SIZE(data) - 1));
    if (g_atomic_pointer_add(&self.left, -1) == 1) {
        g_mutex_lock(&self.lock);
        g_cond_signal(&self.done);
        g_mutex_unlock(&self.lock);
    }
}

static uint64_t run_pieces(grid_input *input)
{
    const size_t grain = input->workload == GRID_SWEEP ? input->grain : 1;
    const gsize pieces = (input->n + grain - 1) / grain;
    self.work = input;
    self.left = (gssize)pieces;
    self.sum = 0;
    for (gsize i = 0; i < pieces; i++) {
        g_thread_pool_push(self.pool, GSIZE_TO_POINTER(i + 1), NULL);
    }
    g_mutex_lock(&self.lock);
    while (g_atomic_pointer_get(&self.left) != 0) {
        g_cond_wait(&self.done, &self.lock);
    }
    g_mutex_unlock(&self.lock);
    return (uint64_t)self.sum;
}

static const char *start(const grid_contestant *contestant, unsigned threads)
{
    (void)contestant;
    self.pool = g_thread_pool_new(run_piece, NULL, (gint)threads, TRUE, NULL);
    if (g_thread_pool_get_num_threads(self.pool) != threads) {
        return "fewer threads than asked for";
    }
    return NULL;
}

static void stop(void)
{
    g_thread_pool_free(self.pool, FALSE, TRUE);
}

#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number

static const grid_contestant contestant = {
    .name = "glib",
    .version = "GLib " TEXT(GLIB_MAJOR_VERSION) "." TEXT(GLIB_MINOR_VERSION) "." TEXT(
        GLIB_MICRO_VERSION) ", an exclusive GThreadPool, the caller pushes and waits",
    .start = start,
    .stop = stop,
    .ways = { [GRID_FIB] = { .none = CANNOT },
              [GRID_TREE] = { .none = CANNOT },
              [GRID_QUEENS] = { .none = CANNOT },
              [GRID_UTS] = { .none = CANNOT },
              [GRID_SORT] = { .none = CANNOT },
              [GRID_MATMUL] = { .none = CANNOT },
              [GRID_HEAT] = { .none = CANNOT },
              [GRID_SWEEP] = { .run = run_pieces },
              [GRID_COARSE] = { .run = run_pieces },
              [GRID_HANDFUL] = { .run = run_pieces },
              [GRID_FLOOD] = { .run = run_pieces },
              [GRID_SPINE] = { .none = CANNOT },
              [GRID_PARETO] = { .none = CANNOT } },
};

int main(int argc, char **argv)
{
    return grid_serve(&contestant, argc, argv);
}
