/* SPDX-License-Identifier: MIT */
/* One shared queue without a lock: a bounded ring, each cell with a turn of its own (Vyukov's bounded
 * MPMC queue). A task that finds it full is run at once by the thread that forks it; a thread of
 * outside tries again. A thread that waits takes the oldest task there is, which may be large: the
 * stacks are. */
#include "bench/designs/crew.h"

#include <errno.h>
#include <stdlib.h>

enum { CELLS = 4096 };

typedef struct cell {
    _Alignas(64) atomic_size_t turn;
    design_task *task;
} cell;

typedef struct ring {
    _Alignas(64) atomic_size_t tail;
    _Alignas(64) atomic_size_t head;
    cell cells[CELLS];
} ring;

static int ring_open(crew *pool)
{
    ring *r = aligned_alloc(64, sizeof(*r));
    if (r == NULL) {
        return ENOMEM;
    }
    atomic_init(&r->tail, 0);
    atomic_init(&r->head, 0);
    for (size_t i = 0; i < CELLS; i++) {
        atomic_init(&r->cells[i].turn, i);
    }
    pool->queues = r;
    return 0;
}

static void ring_close(crew *pool)
{
    free(pool->queues);
}

static bool ring_put(crew *pool, crew_cx *from, design_task *task, crew_cx **out_to)
{
    ring *r = pool->queues;
    (void)from;
    (void)out_to;
    size_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    for (;;) {
        cell *c = &r->cells[tail % CELLS];
        const size_t turn = atomic_load_explicit(&c->turn, memory_order_acquire);
        if (turn == tail) {
            if (atomic_compare_exchange_weak_explicit(&r->tail, &tail, tail + 1,
                                                      memory_order_relaxed, memory_order_relaxed)) {
                c->task = task;
                /* seq_cst: before the look at who sleeps */
                atomic_store(&c->turn, tail + 1);
                return true;
            }
        } else if (turn < tail) {
            return false; /* a lap behind: full */
        } else {
            tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
        }
    }
}

static design_task *ring_take(crew *pool, crew_cx *cx)
{
    ring *r = pool->queues;
    (void)cx;
    size_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    for (;;) {
        cell *c = &r->cells[head % CELLS];
        const size_t turn = atomic_load_explicit(&c->turn, memory_order_acquire);
        if (turn == head + 1) {
            if (atomic_compare_exchange_weak_explicit(&r->head, &head, head + 1,
                                                      memory_order_relaxed, memory_order_relaxed)) {
                design_task *task = c->task;
                atomic_store_explicit(&c->turn, head + CELLS, memory_order_release);
                return task;
            }
        } else if (turn <= head) {
            return NULL; /* not written yet: empty */
        } else {
            head = atomic_load_explicit(&r->head, memory_order_relaxed);
        }
    }
}

static bool ring_is_empty(crew *pool, const crew_cx *cx)
{
    ring *r = pool->queues;
    (void)cx;
    const size_t head = atomic_load(&r->head);
    return atomic_load(&r->cells[head % CELLS].turn) != head + 1;
}

static const crew_policy policy = { .open = ring_open,
                                    .close = ring_close,
                                    .put = ring_put,
                                    .take = ring_take,
                                    .is_empty = ring_is_empty };

const design design_lock_free_queue = { .name = "lock-free queue",
                                        .what = "one shared queue without a lock, bounded",
                                        .life = &crew_life,
                                        .policy = &policy,
                                        .pair = crew_pair,
                                        .all = crew_all };
