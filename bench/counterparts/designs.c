/* SPDX-License-Identifier: MIT */
/* Contestants "static partition" and "lock-free queue" of bench/designs. The memory of their tasks is
 * there, and touched, before the clock runs. */
#include "bench/counterparts/designs.h"

#include <stdlib.h>

typedef struct piece {
    design_task task;
    const work *job;
    uint64_t *place;
    size_t number;
} piece;

typedef struct pool {
    const design *on;
    void *threads;
    const work *job;
    piece pieces[WORK_MOST_PIECES];
} pool;

static void run_piece(const design_cx *cx, void *arg)
{
    const piece *self = arg;
    (void)cx;
    work_piece(self->job, self->place, self->number);
}

void *designs_start(const design *on, unsigned threads)
{
    pool *made = calloc(1, sizeof(*made));
    if (made == NULL || on->life->start(on, threads, &made->threads) != 0) {
        free(made);
        return NULL;
    }
    made->on = on;
    for (size_t i = 0; i < WORK_MOST_PIECES; i++) {
        made->pieces[i].task = (design_task){ .fn = run_piece, .arg = &made->pieces[i] };
        made->pieces[i].number = i;
    }
    return made;
}

static void set_pieces(pool *self, const work *job, uint64_t *places)
{
    self->job = job;
    for (size_t i = 0; i < job->pieces; i++) {
        self->pieces[i].job = job;
        self->pieces[i].place = &places[i];
    }
}

static void run_root(const design_cx *cx, void *arg)
{
    pool *self = arg;
    for (size_t i = 0; i < self->job->repeats; i++) {
        self->on->all(cx, &self->pieces[0].task, sizeof(self->pieces[0]), self->job->pieces);
    }
}

bool designs_run_all(void *raw, const work *job, uint64_t *places)
{
    pool *self = raw;
    design_task root = { .fn = run_root, .arg = self };
    set_pieces(self, job, places);
    self->on->life->run(self->threads, &root);
    return true;
}

bool designs_run_posts(void *raw, const work *job, uint64_t *places)
{
    pool *self = raw;
    set_pieces(self, job, places);
    for (size_t i = 0; i < job->repeats; i++) {
        for (size_t k = 0; k < job->pieces; k++) {
            self->on->life->post(self->threads, &self->pieces[k].task);
        }
        self->on->life->drain(self->threads);
    }
    return true;
}

void designs_stop(void *raw)
{
    pool *self = raw;
    self->on->life->stop(self->threads);
    free(self);
}

static void *start_static(unsigned threads)
{
    return designs_start(&design_static_partition, threads);
}

static void *start_queue(unsigned threads)
{
    return designs_start(&design_lock_free_queue, threads);
}

const counterpart counterpart_static = {
    .name = "static partition", .start = start_static, .run = designs_run_all, .stop = designs_stop
};

const counterpart counterpart_queue = {
    .name = "lock-free queue", .start = start_queue, .run = designs_run_posts, .stop = designs_stop
};
