/* SPDX-License-Identifier: MIT */
/* The life of a group: create, wait, cancel, destroy; and what its tasks say of themselves. */
#include "base/alloc.h"
#include "core/group.h"
#include "core/place.h"
#include "core/pool.h"

static bool forked(const filch_group *group)
{
    return group->generation != filchi_fork_generation();
}

filch_status filch_group_create(filch_pool *pool, const filch_group_config *config,
                                filch_group **out_group)
{
    static const filch_group_config defaults = FILCH_GROUP_CONFIG_INIT;
    config = config != NULL ? config : &defaults;
    if (pool == NULL || out_group == NULL || config->size != sizeof(*config) ||
        (config->flags & ~FILCH_GROUP_FAIL_FAST) != 0 || config->reserved[0] != 0 ||
        config->reserved[1] != 0) {
        return FILCH_E_INVALID;
    }
    if (filchi_pool_forked(pool)) {
        return FILCH_E_FORKED;
    }
    filch_group *group = filchi_alloc_zeroed(&pool->config.allocator, sizeof(*group));
    if (group == NULL) {
        return FILCH_E_NOMEM;
    }
    filchi_group_init(group, pool);
    group->flags = config->flags;
    group->generation = pool->generation;
    group->allocator = pool->config.allocator;
    filchi_mutex_lock(&pool->groups.lock);
    pool->groups.count++;
    filchi_mutex_unlock(&pool->groups.lock);
    *out_group = group;
    return FILCH_OK;
}

filch_status filch_group_destroy(filch_group *group)
{
    if (group == NULL) {
        return FILCH_OK;
    }
    if (!forked(group)) {
        filchi_groups *groups = &group->pool->groups;
        filchi_mutex_lock(&groups->lock);
        const bool used = group->pending != 0 || group->users != 0;
        groups->count -= !used;
        filchi_mutex_unlock(&groups->lock);
        if (used) {
            return FILCH_E_BUSY;
        }
    }
    const filch_allocator allocator = group->allocator;
    filchi_free(&allocator, group, sizeof(*group));
    return FILCH_OK;
}

/* A wait. */

typedef struct group_wait {
    filch_group *group;
    filchi_worker *worker; /* that this thread is, or NULL */
    filch_time until;
    const filch_token *stop;
    filchi_group_waiter waiter;
} group_wait;

/* Does a task of the group lie on this stack, below the wait? It would wait for itself. */
static bool inside_of(const filchi_worker *worker, const filch_group *group)
{
    const filchi_group_frame *frame = worker->lane.group_frame;
    while (frame != NULL && frame->group != group) {
        frame = frame->outer;
    }
    return frame != NULL;
}

static void run_one(filchi_worker *worker, uintptr_t entry)
{
    filchi_lane *lane = &worker->lane;
    filchi_lane_run(lane, filchi_lane_top(lane, lane->cx),
                    (filchi_work){ filchi_group_run, (void *)entry });
}

static bool is_late(filch_time until)
{
    return until != FILCH_FOREVER && filchi_clock_ns() >= until;
}

/* Under the lock: run a task of the group, or sleep. */
static void help_or_sleep(group_wait *wait)
{
    filch_group *group = wait->group;
    filchi_worker *worker = wait->worker;
    if (worker == NULL) {
        (void)filchi_group_sleep(&wait->waiter, &group->finishers, wait->until);
        return;
    }
    const uintptr_t entry = filchi_group_pop(group);
    if (entry != 0) {
        filchi_mutex_unlock(&wait->waiter.groups->lock);
        run_one(worker, entry);
        filchi_mutex_lock(&wait->waiter.groups->lock);
    } else {
        filchi_timesheet_turn(&worker->time, FILCHI_PARKED);
        (void)filchi_group_sleep(&wait->waiter, &group->helpers, wait->until);
        filchi_timesheet_turn(&worker->time, FILCHI_BUSY);
    }
}

/* Under the lock. */
static filch_status wait_for_end(group_wait *wait, filch_status *out_first)
{
    filch_group *group = wait->group;
    const uint64_t round = group->round;
    while (group->pending != 0 && group->round == round) {
        if (filchi_token_stopped(wait->stop)) {
            return FILCH_E_STOPPED;
        }
        if (is_late(wait->until)) {
            return FILCH_E_TIMEOUT;
        }
        help_or_sleep(wait);
    }
    if (group->round != round) { /* others were quicker with the next one */
        *out_first = group->failed_before;
        return FILCH_OK;
    }
    *out_first = group->failed;
    /* relaxed: under the lock */
    if (*out_first == FILCH_OK && filchi_load_relaxed_u32(&group->cancelled) != 0) {
        *out_first = FILCH_E_CANCELLED;
    }
    group->collected = true;
    return FILCH_OK;
}

filch_status filch_group_wait(filch_group *group, filch_time until, filch_token *stop,
                              filch_status *out_first)
{
    if (group == NULL) {
        return FILCH_E_INVALID;
    }
    if (forked(group)) {
        return FILCH_E_FORKED;
    }
    filch_pool *pool = group->pool;
    filchi_worker *worker = filchi_place_worker(pool);
    if (worker != NULL ? inside_of(worker, group) : filchi_place_inside(pool)) {
        return FILCH_E_ON_WORKER;
    }
    filchi_parker parker;
    if (worker == NULL && !filchi_parker_init(&parker)) {
        return FILCH_E_NOMEM;
    }
    group_wait wait = { .group = group, .worker = worker, .until = until, .stop = stop };
    wait.waiter.groups = &pool->groups;
    wait.waiter.parker = worker != NULL ? worker->lane.parker : &parker;
    filchi_list_init(&wait.waiter.link);
    const bool entered = filchi_token_enter(stop, &wait.waiter.stop, filchi_group_stop_waiter);
    filch_status first = FILCH_OK;
    filchi_mutex_lock(&pool->groups.lock);
    group->users++;
    const filch_status status = wait_for_end(&wait, &first);
    group->users--;
    filchi_mutex_unlock(&pool->groups.lock);
    if (entered) {
        filchi_token_leave(stop, &wait.waiter.stop);
    }
    if (worker == NULL) {
        filchi_parker_destroy(&parker);
    }
    if (status == FILCH_OK && out_first != NULL) {
        *out_first = first;
    }
    return status;
}

/* Ending tasks is what a call of theirs would do: on a foreign thread, inside the pool, and counted
 * there, since the pool may be destroyed as soon as the group has ended. */
filch_status filch_group_cancel(filch_group *group, size_t *out_cancelled)
{
    if (group == NULL) {
        return FILCH_E_INVALID;
    }
    if (forked(group)) {
        return FILCH_E_FORKED;
    }
    filch_pool *pool = group->pool;
    filchi_worker *worker = filchi_place_worker(pool);
    filchi_place place;
    if (worker == NULL) {
        filchi_pool_caller_come(pool, 0);
        filchi_place_enter(&place, pool, NULL);
    }
    filchi_mutex_lock(&pool->groups.lock);
    const uintptr_t entries = filchi_group_cut(group);
    filchi_mutex_unlock(&pool->groups.lock);
    const size_t count = filchi_group_end_all(pool, worker, entries);
    if (worker == NULL) {
        filchi_place_leave(&place);
        filchi_pool_caller_exit(pool);
    }
    if (out_cancelled != NULL) {
        *out_cancelled = count;
    }
    return FILCH_OK;
}

/* Tasks of themselves. */

filch_status filch_fail(filch_cx *cx, filch_status status)
{
    filchi_lane *lane = cx != NULL ? filchi_lane_of(cx) : NULL;
    const filchi_job *job = lane != NULL ? lane->running : NULL;
    if (job == NULL || status == FILCH_OK || (job->kind & FILCHI_JOB_MORE) == 0 ||
        job->more.group == NULL) {
        return FILCH_E_INVALID;
    }
    filchi_group_frame *frame = lane->group_frame;
    frame->status = frame->status != FILCH_OK ? frame->status : status;
    return FILCH_OK;
}
