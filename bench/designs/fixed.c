/* SPDX-License-Identifier: MIT */
/* Designs that fix who does what: static partition, where each fork hands half of the threads away
 * until one is left, and a coarse master and workers, where only the root hands work out. Neither
 * takes anything back while it waits. */
#include "bench/designs/crew.h"

static bool fixed_put(crew *pool, crew_cx *from, design_task *task, crew_cx **out_to)
{
    /* posted from outside: in turn; forked: to the first of the task's threads */
    const unsigned number = from == NULL && crew_link_of(task)->group == &pool->posted
                                ? atomic_fetch_add(&pool->turn, 1) % pool->threads
                                : crew_link_of(task)->first;
    crew_list_put(&pool->lists[number], task);
    *out_to = &pool->cx[number];
    return true;
}

static design_task *fixed_take(crew *pool, crew_cx *cx)
{
    return crew_list_take_oldest(&pool->lists[cx->number]);
}

static bool fixed_is_empty(crew *pool, const crew_cx *cx)
{
    return atomic_load(&pool->lists[cx->number].count) == 0;
}

static const crew_policy fixed_policy = { .idle_waits = true,
                                          .patient = true,
                                          .put = fixed_put,
                                          .take = fixed_take,
                                          .is_empty = fixed_is_empty };

static void fixed_pair(const design_cx *here, design_task *a, design_task *b)
{
    crew_cx *cx = here->lane;
    const unsigned end = cx->end;
    if (end - cx->first < 2) {
        design_serial.pair(here, a, b);
        return;
    }
    const unsigned middle = cx->first + (end - cx->first) / 2;
    crew_group group;
    crew_group_begin(&group, cx);
    crew_fork(cx, &group, b, middle, end);
    cx->end = middle;
    a->fn(here, a->arg);
    crew_wait(cx, &group);
    cx->end = end;
}

/* Tasks that one of the halves gets. */
typedef struct share {
    design_task task;
    design_task *first;
    size_t stride;
    size_t count;
} share;

static void run_share(const design_cx *here, void *arg);

static void fixed_all(const design_cx *here, design_task *first, size_t stride, size_t count)
{
    const crew_cx *cx = here->lane;
    if (count < 2 || cx->end - cx->first < 2) {
        design_serial.all(here, first, stride, count);
        return;
    }
    share low = { .first = first, .stride = stride, .count = count / 2 };
    share high = { .first = design_task_at(first, stride, count / 2),
                   .stride = stride,
                   .count = count - count / 2 };
    low.task = (design_task){ .fn = run_share, .arg = &low };
    high.task = (design_task){ .fn = run_share, .arg = &high };
    fixed_pair(here, &low.task, &high.task);
}

static void run_share(const design_cx *here, void *arg)
{
    const share *s = arg;
    fixed_all(here, s->first, s->stride, s->count);
}

const design design_static_partition = { .name = "static partition",
                                         .what = "each fork hands half of the threads away, until "
                                                 "one is left",
                                         .life = &crew_life,
                                         .policy = &fixed_policy,
                                         .pair = fixed_pair,
                                         .all = fixed_all };

/* A master that hands out, workers that do not. One list for all. */

static bool master_put(crew *pool, crew_cx *from, design_task *task, crew_cx **out_to)
{
    (void)from;
    (void)out_to;
    crew_list_put(&pool->lists[0], task);
    return true;
}

static design_task *master_take(crew *pool, crew_cx *cx)
{
    (void)cx;
    return crew_list_take_oldest(&pool->lists[0]);
}

static bool master_is_empty(crew *pool, const crew_cx *cx)
{
    (void)cx;
    return atomic_load(&pool->lists[0].count) == 0;
}

static const crew_policy master_policy = { .put = master_put,
                                           .take = master_take,
                                           .is_empty = master_is_empty };

static bool is_master(const design_cx *here)
{
    const crew_cx *cx = here->lane;
    return cx->end != cx->first;
}

static void master_pair(const design_cx *here, design_task *a, design_task *b)
{
    if (is_master(here)) {
        crew_pair(here, a, b); /* b may hand nothing out, a is still the master */
    } else {
        design_serial.pair(here, a, b);
    }
}

static void master_all(const design_cx *here, design_task *first, size_t stride, size_t count)
{
    if (is_master(here)) {
        crew_all(here, first, stride, count);
    } else {
        design_serial.all(here, first, stride, count);
    }
}

const design design_master_worker = { .name = "master and workers",
                                      .what = "the root hands tasks out, those run on their own",
                                      .life = &crew_life,
                                      .policy = &master_policy,
                                      .pair = master_pair,
                                      .all = master_all };
