/* SPDX-License-Identifier: MIT */
/* Where a thief looks: random victims, near ones first if it is bound, a few tries a round; and what a
 * sleeper looks at last. */
#include "core/batch.h"
#include "core/pool.h"
#include "core/worker.h"

enum {
    TRIES = 3,       /* victims a round: two or three find work if there is much of it */
    WORTH_NS = 30000 /* what a theft should bring: twice the cost of a wake */
};

uint32_t filchi_steal_victim(filchi_rng *rng, uint32_t workers, uint32_t self)
{
    const uint32_t other = filchi_rng_below(rng, workers - 1);
    return other < self ? other : other + 1;
}

/* Bound workers look near them first. */
static uint32_t choose_victim(filchi_worker *thief, uint32_t active)
{
    const filchi_near *nears = thief->lane.pool->nears;
    filchi_rng *rng = &thief->lane.rng;
    uint32_t victim;
    if (nears != NULL && filchi_bind_near(nears, thief->near, rng, &victim) && victim < active) {
        return victim;
    }
    return filchi_steal_victim(rng, active, thief->index);
}

static void count_failure(filchi_worker *thief, bool lost)
{
    filchi_counters_add(&thief->counters,
                        lost ? FILCHI_COUNT_STEALS_LOST : FILCHI_COUNT_STEALS_EMPTY);
}

static bool steal_task_from(filchi_worker *thief, filchi_worker *victim, filchi_work *out_work)
{
    filch_item item;
    filch_steal_result result = filchi_deque_steal(&victim->tasks, &item);
    if (result == FILCH_STEAL_GOT) {
        *out_work = filchi_item_work(item);
    } else if (result == FILCH_STEAL_EMPTY) {
        result = filchi_batch_steal(thief, victim, out_work);
    }
    if (result != FILCH_STEAL_GOT) {
        count_failure(thief, result == FILCH_STEAL_LOST);
        return false;
    }
    filchi_counters_add(&thief->counters, FILCHI_COUNT_STEALS_WON);
    return true;
}

/* How much the last theft has brought says how many forks to take next time. */
static void adapt_appetite(filchi_worker *thief)
{
    const uint64_t busy_ns = thief->time.watches[FILCHI_BUSY].value; /* it stands: we search */
    const uint64_t brought_ns = busy_ns - thief->fed_ns;
    uint32_t appetite = thief->appetite;
    if (brought_ns < WORTH_NS) {
        appetite = appetite < FILCHI_LOOT_MAX ? 2 * appetite : FILCHI_LOOT_MAX;
    } else if (brought_ns > (uint64_t)32 * WORTH_NS) {
        appetite = 1;
    } else if (brought_ns > (uint64_t)4 * WORTH_NS) {
        appetite = (appetite + 1) / 2;
    }
    thief->appetite = appetite;
    thief->fed_ns = busy_ns;
}

static void take_loot(filchi_worker *thief, filchi_work *out_work)
{
    filchi_counters_add_many(&thief->counters, FILCHI_COUNT_STEALS_WON, thief->loot.count);
    filchi_counters_add_many(&thief->counters, FILCHI_COUNT_FORKS_STOLEN, thief->loot.count);
    adapt_appetite(thief);
    *out_work = (filchi_work){ filchi_loot_run, &thief->loot };
}

static bool steal_fork_from(filchi_worker *thief, filchi_worker *victim, filchi_work *out_work)
{
    const filchi_take got = filchi_lane_steal(&victim->lane, thief->appetite, &thief->loot);
    if (got != FILCHI_TAKE_GOT) {
        count_failure(thief, got == FILCHI_TAKE_LOST);
        return false;
    }
    take_loot(thief, out_work);
    return true;
}

static bool join_loop(filchi_worker *thief, filchi_work *out_work)
{
    filchi_offer *offer = filchi_board_take(&thief->lane.pool->board);
    if (offer == NULL) {
        return false;
    }
    filchi_counters_add(&thief->counters, FILCHI_COUNT_LOOPS_JOINED);
    *out_work = (filchi_work){ offer->run, offer };
    return true;
}

static bool steal_any_from(filchi_worker *thief, filchi_worker *victim, filchi_work *out_work)
{
    return steal_fork_from(thief, victim, out_work) || steal_task_from(thief, victim, out_work);
}

typedef bool steal_fn(filchi_worker *thief, filchi_worker *victim, filchi_work *out_work);

/* A few of the workers on duty, and one of the others: they may have left something. */
static bool try_victims(filchi_worker *thief, steal_fn *steal, filchi_work *out_work)
{
    filch_pool *pool = thief->lane.pool;
    /* relaxed: which victims are worth a try is a guess */
    const uint32_t active = filchi_load_relaxed_u32(&pool->active);
    const uint32_t off_duty = pool->worker_count - active;
    for (uint32_t i = active - 1 < TRIES ? active - 1 : TRIES; i > 0; i--) {
        const uint32_t victim = choose_victim(thief, active);
        if (steal(thief, pool->workers[victim], out_work)) {
            return true;
        }
    }
    if (off_duty != 0) {
        const uint32_t victim = active + filchi_rng_below(&thief->lane.rng, off_duty);
        return victim != thief->index && steal(thief, pool->workers[victim], out_work);
    }
    return false;
}

bool filchi_steal_fork(filchi_worker *thief, filchi_work *out_work)
{
    return try_victims(thief, steal_fork_from, out_work) || join_loop(thief, out_work);
}

bool filchi_steal_any(filchi_worker *thief, filchi_work *out_work)
{
    return try_victims(thief, steal_any_from, out_work) || join_loop(thief, out_work);
}

bool filchi_forks_in_sight(const filch_pool *pool)
{
    if (!filchi_board_looks_empty(&pool->board)) {
        return true;
    }
    for (unsigned i = 0; i < pool->worker_count; i++) {
        if (filchi_lane_offers(&pool->workers[i]->lane)) {
            return true;
        }
    }
    return false;
}

bool filchi_tasks_in_sight(const filch_pool *pool)
{
    if (filchi_pool_paused(pool)) {
        return false; /* the resume looks again */
    }
    if (!filchi_injector_looks_empty(&pool->injector) || !filchi_groups_look_empty(&pool->groups)) {
        return true;
    }
    for (unsigned i = 0; i < pool->worker_count; i++) {
        if (!filchi_deque_looks_empty(&pool->workers[i]->tasks) ||
            !filchi_deque_looks_empty(&pool->workers[i]->batch)) {
            return true;
        }
    }
    return false;
}

/* Where a bell is not bare something may be hidden. Whoever is woken for nothing proves it bare. */
bool filchi_forks_hand_on(const filch_pool *pool)
{
    bool left = filchi_forks_in_sight(pool);
    for (unsigned i = 0; !left && i < pool->worker_count; i++) {
        const filchi_region *region = filchi_lane_region(&pool->workers[i]->lane);
        left = filchi_region_bell(region) != FILCHI_BELL_BARE;
    }
    return left;
}

/* Its own bell it has rung before it registered. */
static void ring_all(const filch_pool *pool, filchi_worker *sleeper)
{
    for (unsigned i = 0; i < pool->worker_count; i++) {
        if (i != sleeper->index) {
            filchi_region *region = filchi_lane_region(&pool->workers[i]->lane);
            sleeper->sightings[i] = (filchi_sighting){ region, filchi_region_look(region) };
            filchi_region_ring(region, FILCHI_BELL_OF(sleeper->index));
        }
    }
}

/* It has found nothing: where its bell is still the last, nothing is private. */
static void prove_all(const filch_pool *pool, const filchi_worker *sleeper)
{
    for (unsigned i = 0; i < pool->worker_count; i++) {
        if (i != sleeper->index) {
            filchi_region_prove_bare(sleeper->sightings[i].region, FILCHI_BELL_OF(sleeper->index));
        }
    }
}

/* A private record of this victim, all threads having passed a fence since its bell was rung. */
static filchi_take force(filchi_worker *thief, filchi_worker *victim, filchi_sighting sighting,
                         filchi_work *out_work)
{
    if (filchi_lane_region(&victim->lane) != sighting.region) {
        return FILCHI_TAKE_LOST;
    }
    const filchi_take got = filchi_region_force(sighting.region, sighting.taken, &thief->loot);
    if (got == FILCHI_TAKE_GOT) {
        filchi_loot_complete(&thief->loot);
        take_loot(thief, out_work);
        filchi_counters_add(&thief->counters, FILCHI_COUNT_FORKS_FORCED);
    }
    return got;
}

bool filchi_forks_last_look(filchi_worker *thief, bool fence, filchi_work *out_work)
{
    const filch_pool *pool = thief->lane.pool;
    ring_all(pool, thief);
    fence = fence && filchi_barrier();
    if (fence) {
        filchi_counters_add(&thief->counters, FILCHI_COUNT_BARRIERS);
    }
    if (filchi_forks_in_sight(pool)) {
        return true;
    }
    for (unsigned i = 0; fence && i < pool->worker_count; i++) {
        if (i != thief->index &&
            force(thief, pool->workers[i], thief->sightings[i], out_work) != FILCHI_TAKE_NONE) {
            return true;
        }
    }
    prove_all(pool, thief);
    return false;
}
