/* SPDX-License-Identifier: MIT */
/* Contestant "ck ring": the ring of Concurrency Kit in the place of the one of bench/designs/mpmc.c, with
 * as many cells; threads, sleeping and waking are the same. */
#include "bench/counterparts/designs.h"
#include "bench/designs/crew.h"

#include <ck_ring.h>
#include <errno.h>
#include <stdlib.h>

enum { CELLS = 4096 };

typedef struct queue {
    _Alignas(64) ck_ring_t ring;
    ck_ring_buffer_t cells[CELLS];
} queue;

static int queue_open(crew *pool)
{
    queue *q = aligned_alloc(64, sizeof(*q));
    if (q == NULL) {
        return ENOMEM;
    }
    ck_ring_init(&q->ring, CELLS);
    pool->queues = q;
    return 0;
}

static void queue_close(crew *pool)
{
    free(pool->queues);
}

static bool queue_put(crew *pool, crew_cx *from, design_task *task, crew_cx **out_to)
{
    queue *q = pool->queues;
    (void)from;
    (void)out_to;
    if (!ck_ring_enqueue_mpmc(&q->ring, q->cells, task)) {
        return false;
    }
    atomic_thread_fence(memory_order_seq_cst); /* before the look at who sleeps */
    return true;
}

static design_task *queue_take(crew *pool, crew_cx *cx)
{
    queue *q = pool->queues;
    void *task = NULL;
    (void)cx;
    return ck_ring_dequeue_mpmc(&q->ring, q->cells, &task) ? task : NULL;
}

static bool queue_is_empty(crew *pool, const crew_cx *cx)
{
    const queue *q = pool->queues;
    (void)cx;
    return ck_ring_size(&q->ring) == 0;
}

static const crew_policy policy = { .open = queue_open,
                                    .close = queue_close,
                                    .put = queue_put,
                                    .take = queue_take,
                                    .is_empty = queue_is_empty };

static const design ring_of_ck = { .name = "ck ring",
                                   .what = "the shared queue of Concurrency Kit",
                                   .life = &crew_life,
                                   .policy = &policy,
                                   .pair = crew_pair,
                                   .all = crew_all };

static void *start(unsigned threads)
{
    return designs_start(&ring_of_ck, threads);
}

const counterpart counterpart_ck = {
    .name = "ck ring", .start = start, .run = designs_run_posts, .stop = designs_stop
};
