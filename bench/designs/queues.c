/* SPDX-License-Identifier: MIT */
/* Designs made of lists behind mutexes: private queues without stealing, private queues with a
 * global one for the overflow, and stealing with a mutex for each deque. */
#include "bench/designs/crew.h"

enum { LOCAL_TASKS = 16, TRIES = 3 };

/* Take turns over the threads: a thread begins behind itself. */
static unsigned next_turn(crew *pool, crew_cx *from)
{
    if (from == NULL) {
        return atomic_fetch_add(&pool->turn, 1) % pool->threads;
    }
    from->random++;
    return (unsigned)((from->number + from->random) % pool->threads);
}

static crew_list *own_list(crew *pool, const crew_cx *cx)
{
    return &pool->lists[cx->number];
}

static bool list_is_empty(const crew_list *list)
{
    return atomic_load(&list->count) == 0;
}

/* Private queues: tasks are dealt out in turn; what a thread got nobody takes away. */

static bool private_put(crew *pool, crew_cx *from, design_task *task, crew_cx **out_to)
{
    const unsigned number = next_turn(pool, from);
    crew_list_put(&pool->lists[number], task);
    *out_to = &pool->cx[number];
    return true;
}

static design_task *private_take(crew *pool, crew_cx *cx)
{
    return crew_list_take_newest(own_list(pool, cx));
}

static bool private_is_empty(crew *pool, const crew_cx *cx)
{
    return list_is_empty(own_list(pool, cx));
}

static const crew_policy private_policy = { .put = private_put,
                                            .take = private_take,
                                            .is_empty = private_is_empty };

const design design_private_queues = { .name = "private queues",
                                       .what = "a queue for each thread, tasks dealt out in turn, "
                                               "no stealing",
                                       .life = &crew_life,
                                       .policy = &private_policy,
                                       .pair = crew_pair,
                                       .all = crew_all };

/* Overflow: a short queue for each thread, the rest goes to one that all share. */

static crew_list *global_list(crew *pool)
{
    return &pool->lists[pool->threads];
}

static bool overflow_put(crew *pool, crew_cx *from, design_task *task, crew_cx **out_to)
{
    if (from != NULL && atomic_load(&own_list(pool, from)->count) < LOCAL_TASKS) {
        crew_list_put(own_list(pool, from), task);
        *out_to = from; /* awake */
    } else {
        crew_list_put(global_list(pool), task);
    }
    return true;
}

static design_task *overflow_take(crew *pool, crew_cx *cx)
{
    design_task *task = crew_list_take_newest(own_list(pool, cx));
    return task != NULL ? task : crew_list_take_oldest(global_list(pool));
}

static bool overflow_is_empty(crew *pool, const crew_cx *cx)
{
    return list_is_empty(own_list(pool, cx)) && list_is_empty(global_list(pool));
}

static const crew_policy overflow_policy = { .put = overflow_put,
                                             .take = overflow_take,
                                             .is_empty = overflow_is_empty };

const design design_overflow_queue = { .name = "overflow queue",
                                       .what = "16 tasks in a queue for each thread, the rest in "
                                               "one that all share",
                                       .life = &crew_life,
                                       .policy = &overflow_policy,
                                       .pair = crew_pair,
                                       .all = crew_all };

/* Stealing, with a mutex for each deque. */

static bool locked_put(crew *pool, crew_cx *from, design_task *task, crew_cx **out_to)
{
    (void)out_to;
    const unsigned number = from != NULL ? from->number : next_turn(pool, NULL);
    crew_list_put(&pool->lists[number], task);
    return true;
}

static design_task *locked_take(crew *pool, crew_cx *cx)
{
    design_task *task = crew_list_take_newest(own_list(pool, cx));
    for (unsigned i = 0; i < TRIES && task == NULL && pool->threads > 1; i++) {
        const unsigned other = (unsigned)(crew_random(cx) % (pool->threads - 1));
        const unsigned victim = other < cx->number ? other : other + 1;
        task = crew_list_take_oldest(&pool->lists[victim]);
        if (task != NULL) {
            atomic_fetch_add_explicit(&cx->steals, 1, memory_order_relaxed);
        }
    }
    return task;
}

static bool locked_is_empty(crew *pool, const crew_cx *cx)
{
    (void)cx;
    for (unsigned i = 0; i < pool->threads; i++) {
        if (!list_is_empty(&pool->lists[i])) {
            return false;
        }
    }
    return true;
}

static const crew_policy locked_policy = { .put = locked_put,
                                           .take = locked_take,
                                           .is_empty = locked_is_empty };

const design design_locked_deques = { .name = "locked deques",
                                      .what = "stealing, with a mutex for each deque",
                                      .life = &crew_life,
                                      .policy = &locked_policy,
                                      .pair = crew_pair,
                                      .all = crew_all };
