/* SPDX-License-Identifier: MIT */
/* The pools of the demo, started and stopped together, and the plain calls that count tasks. */
#include "contestant.h"

#include "bench/designs/stealing/stealing.h"

/* ---- counting ---- */

static void count_pair(const design_cx *cx, design_task *a, design_task *b)
{
    ((task_counter *)cx->lane)->tasks += 2;
    a->fn(cx, a->arg);
    b->fn(cx, b->arg);
}

static void count_all(const design_cx *cx, design_task *first, size_t stride, size_t count)
{
    ((task_counter *)cx->lane)->tasks += count;
    for (size_t i = 0; i < count; i++) {
        design_task *const task = design_task_at(first, stride, i);
        task->fn(cx, task->arg);
    }
}

static const design counting;

static void count_run(void *pool, design_task *root)
{
    const design_cx here = { &counting, pool };
    root->fn(&here, root->arg);
}

static void count_post(void *pool, design_task *task)
{
    ((task_counter *)pool)->tasks++;
    count_run(pool, task);
}

static void count_drain(void *pool)
{
    (void)pool;
}

static const design_life counting_life = { .run = count_run,
                                           .post = count_post,
                                           .drain = count_drain };

static const design counting = { .name = "counting",
                                 .what = "plain calls, counted",
                                 .life = &counting_life,
                                 .pair = count_pair,
                                 .all = count_all };

contestant task_counter_contestant(task_counter *counter)
{
    return (contestant){ counting.name, &counting, counter, 1 };
}

/* ---- pools ---- */

int contestants_open(unsigned threads, contestant out_contestants[CONTESTANTS])
{
    static const contestant all[CONTESTANTS] = {
        [CONTESTANT_SERIAL] = { "serial", &design_serial, NULL, 1 },
        [CONTESTANT_STATIC] = { "static", &design_static_partition, NULL, 0 },
        [CONTESTANT_QUEUE] = { "shared queue", &design_shared_queue, NULL, 0 },
        [CONTESTANT_STEALING] = { "stealing", &design_stealing, NULL, 0 },
    };
    for (int i = 0; i < CONTESTANTS; i++) {
        contestant *const c = &out_contestants[i];
        *c = all[i];
        c->threads = c->threads == 0 ? threads : c->threads;
        const int error = c->design->life->start(c->design, c->threads, &c->pool);
        if (error != 0) {
            for (int k = 0; k < i; k++) {
                out_contestants[k].design->life->stop(out_contestants[k].pool);
            }
            return error;
        }
    }
    return 0;
}

void contestants_close(contestant contestants[CONTESTANTS])
{
    for (int i = 0; i < CONTESTANTS; i++) {
        contestants[i].design->life->stop(contestants[i].pool);
    }
}
