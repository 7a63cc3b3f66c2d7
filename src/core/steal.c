/* SPDX-License-Identifier: MIT */
/* Where a thief looks: random victims, a few tries a round; and what a sleeper looks at last. */
#include "core/pool.h"
#include "core/worker.h"

enum { TRIES = 3 /* victims a round: two or three find work if there is much of it */ };

uint32_t filchi_steal_victim(filchi_rng *rng, uint32_t workers, uint32_t self)
{
    const uint32_t other = filchi_rng_below(rng, workers - 1);
    return other < self ? other : other + 1;
}

static bool steal_from(filchi_worker *thief, filch_deque *deque, filch_item *out_item)
{
    switch (filchi_deque_steal(deque, out_item)) {
    case FILCH_STEAL_GOT:
        filchi_counters_add(&thief->counters, FILCHI_COUNT_STEALS_WON);
        return true;
    case FILCH_STEAL_LOST:
        filchi_counters_add(&thief->counters, FILCHI_COUNT_STEALS_LOST);
        return false;
    case FILCH_STEAL_EMPTY:
        break;
    }
    filchi_counters_add(&thief->counters, FILCHI_COUNT_STEALS_EMPTY);
    return false;
}

static bool steal_fork_from(filchi_worker *thief, filchi_worker *victim, filch_item *out_item)
{
    if (!steal_from(thief, &victim->cx.forks, out_item)) {
        return false;
    }
    filchi_counters_add(&thief->counters, FILCHI_COUNT_FORKS_STOLEN);
    return true;
}

static bool join_loop(filchi_worker *thief, filch_item *out_item)
{
    filchi_offer *offer = filchi_board_take(&thief->cx.pool->board);
    if (offer == NULL) {
        return false;
    }
    filchi_counters_add(&thief->counters, FILCHI_COUNT_LOOPS_JOINED);
    *out_item = (filch_item){ (uintptr_t)offer, (uintptr_t)offer->run };
    return true;
}

static bool steal_any_from(filchi_worker *thief, filchi_worker *victim, filch_item *out_item)
{
    return steal_fork_from(thief, victim, out_item) || steal_from(thief, &victim->tasks, out_item);
}

typedef bool steal_fn(filchi_worker *thief, filchi_worker *victim, filch_item *out_item);

/* A few of the workers on duty, and one of the others: they may have left something. */
static bool try_victims(filchi_worker *thief, steal_fn *steal, filch_item *out_item)
{
    filch_pool *pool = thief->cx.pool;
    /* relaxed: which victims are worth a try is a guess */
    const uint32_t active = filchi_load_relaxed_u32(&pool->active);
    const uint32_t off_duty = pool->worker_count - active;
    for (uint32_t i = active - 1 < TRIES ? active - 1 : TRIES; i > 0; i--) {
        const uint32_t victim = filchi_steal_victim(&thief->cx.rng, active, thief->index);
        if (steal(thief, pool->workers[victim], out_item)) {
            return true;
        }
    }
    if (off_duty != 0) {
        const uint32_t victim = active + filchi_rng_below(&thief->cx.rng, off_duty);
        return victim != thief->index && steal(thief, pool->workers[victim], out_item);
    }
    return false;
}

bool filchi_steal_fork(filchi_worker *thief, filch_item *out_item)
{
    return try_victims(thief, steal_fork_from, out_item) || join_loop(thief, out_item);
}

bool filchi_steal_any(filchi_worker *thief, filch_item *out_item)
{
    return try_victims(thief, steal_any_from, out_item) || join_loop(thief, out_item);
}

bool filchi_forks_in_sight(const filch_pool *pool)
{
    if (!filchi_board_looks_empty(&pool->board)) {
        return true;
    }
    for (unsigned i = 0; i < pool->worker_count; i++) {
        if (!filchi_deque_looks_empty(&pool->workers[i]->cx.forks)) {
            return true;
        }
    }
    return false;
}

bool filchi_tasks_in_sight(const filch_pool *pool)
{
    if (!filchi_injector_looks_empty(&pool->injector)) {
        return true;
    }
    for (unsigned i = 0; i < pool->worker_count; i++) {
        if (!filchi_deque_looks_empty(&pool->workers[i]->tasks)) {
            return true;
        }
    }
    return false;
}
