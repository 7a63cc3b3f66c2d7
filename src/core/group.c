/* SPDX-License-Identifier: MIT */
/* The tasks of groups: from the post to the end. An entry of a group's list is the address of a node, or
 * of a caller's filch_task with TASK_BIT. Nothing of the user runs under the lock. */
#include "core/group.h"

#include "base/alloc.h"
#include "base/compiler.h"
#include "core/place.h"
#include "core/pool.h"
#include "core/spi.h"
#include "core/submit.h"

enum { ROOM_PART = 2 /* half must be free before those who wait for room wake */ };

#define TASK_BIT ((uintptr_t)1)

void filchi_group_init(filch_group *group, filch_pool *pool)
{
    group->pool = pool;
    filchi_list_init(&group->board);
    filchi_list_init(&group->helpers);
    filchi_list_init(&group->finishers);
    filchi_list_init(&group->producers);
}

bool filchi_groups_init(filchi_groups *groups)
{
    filchi_list_init(&groups->board);
    filchi_group_init(&groups->loose, FILCHI_CONTAINER(groups, filch_pool, groups));
    return filchi_mutex_init(&groups->lock);
}

void filchi_groups_destroy(filchi_groups *groups)
{
    filchi_mutex_destroy(&groups->lock);
}

bool filchi_groups_left(filchi_groups *groups)
{
    filchi_mutex_lock(&groups->lock);
    const bool left = groups->count != 0;
    filchi_mutex_unlock(&groups->lock);
    return left;
}

/* Entries. */

static filch_task *task_of(uintptr_t entry)
{
    return (filch_task *)(entry & ~TASK_BIT);
}

static uintptr_t *next_of(uintptr_t entry)
{
    return (entry & TASK_BIT) != 0 ? filchi_job_task_next(task_of(entry))
                                   : &((filchi_job_node *)entry)->job.more.next;
}

/* The job of an entry; of a task a copy, since its owner may free it when it runs. */
static filchi_job *job_of(uintptr_t entry, filchi_job *copy)
{
    if ((entry & TASK_BIT) == 0) {
        return &((filchi_job_node *)entry)->job;
    }
    filchi_job_of_task(copy, task_of(entry));
    return copy;
}

static void free_entry(filch_pool *pool, filchi_worker *worker, uintptr_t entry)
{
    if ((entry & TASK_BIT) != 0) {
        return;
    }
    if (worker != NULL) {
        filchi_job_node_put(worker, (filchi_job_node *)entry);
    } else {
        filchi_job_node_discard(pool, (filchi_job_node *)entry);
    }
}

/* Waiting, under the lock. */

void filchi_group_wake(filchi_link *list)
{
    while (!filchi_list_empty(list)) {
        filchi_group_waiter *waiter = FILCHI_CONTAINER(list->next, filchi_group_waiter, link);
        filchi_list_remove(&waiter->link);
        filchi_unpark(waiter->parker);
    }
}

bool filchi_group_sleep(filchi_group_waiter *waiter, filchi_link *list, filch_time until)
{
    filchi_mutex *lock = &waiter->groups->lock;
    bool in_time = true;
    filchi_list_push_back(list, &waiter->link);
    while (in_time && !filchi_list_empty(&waiter->link)) {
        filchi_mutex_unlock(lock);
        in_time =
            filchi_park(waiter->parker, until); /* a worker's may hold another waker's token */
        filchi_mutex_lock(lock);
    }
    const bool woken = filchi_list_empty(&waiter->link);
    filchi_list_remove(&waiter->link);
    return woken;
}

void filchi_group_stop_waiter(filchi_token_wait *wait)
{
    filchi_group_waiter *waiter = FILCHI_CONTAINER(wait, filchi_group_waiter, stop);
    filchi_mutex_lock(&waiter->groups->lock);
    if (!filchi_list_empty(&waiter->link)) {
        filchi_list_remove(&waiter->link);
        filchi_unpark(waiter->parker);
    }
    filchi_mutex_unlock(&waiter->groups->lock);
}

/* The list, under the lock. */

static void push(filch_group *group, uintptr_t entry)
{
    filchi_groups *groups = &group->pool->groups;
    *next_of(entry) = 0;
    if (group->last != 0) {
        *next_of(group->last) = entry;
    } else {
        group->first = entry;
        filchi_list_push_back(&groups->board, &group->board);
    }
    group->last = entry;
    group->waiting++;
    filchi_group_wake(&group->helpers);
    /* relaxed: only written under the lock */
    const uint64_t waiting = filchi_load_relaxed_u64(&groups->waiting) + 1;
    /* [GROUP-1] seq_cst, pairs with GROUP-2, SLEEP-1: a sleeper sees the task, or is seen. */
    filchi_store_seq_cst_u64(&groups->waiting, waiting);
}

static void count_taken(filch_group *group, uint64_t tasks)
{
    filchi_groups *groups = &group->pool->groups;
    group->waiting -= tasks;
    /* relaxed, both: only written under the lock; who sees too many looks in vain */
    filchi_store_relaxed_u64(&groups->waiting, filchi_load_relaxed_u64(&groups->waiting) - tasks);
    if (group->first == 0) {
        group->last = 0;
        filchi_list_remove(&group->board);
    }
}

uintptr_t filchi_group_pop(filch_group *group)
{
    const uint64_t capacity = group->pool->config.queue_tasks;
    const uintptr_t entry = group->first;
    if (entry == 0) {
        return 0;
    }
    group->first = *next_of(entry);
    count_taken(group, 1);
    if (group->waiting + (capacity + ROOM_PART - 1) / ROOM_PART <= capacity) {
        filchi_group_wake(&group->producers);
    }
    return entry;
}

uintptr_t filchi_group_cut(filch_group *group)
{
    const uintptr_t entries = group->first;
    /* relaxed: tasks may ask once more in vain */
    filchi_store_relaxed_u32(&group->cancelled, 1);
    group->collected = false;
    group->first = 0;
    count_taken(group, group->waiting);
    filchi_group_wake(&group->producers);
    return entries;
}

bool filchi_groups_take(filchi_worker *worker, filchi_work *out_work)
{
    filchi_groups *groups = &worker->lane.pool->groups;
    /* relaxed: a guess; who goes to sleep looks again */
    if (FILCHI_LIKELY(filchi_load_relaxed_u64(&groups->waiting) == 0)) {
        return false;
    }
    uintptr_t entry = 0;
    filchi_mutex_lock(&groups->lock);
    if (!filchi_list_empty(&groups->board)) {
        filch_group *group = FILCHI_CONTAINER(groups->board.next, filch_group, board);
        entry = filchi_group_pop(group);
        if (group->first != 0) { /* the next time it is another one's turn */
            filchi_list_remove(&group->board);
            filchi_list_push_back(&groups->board, &group->board);
        }
    }
    filchi_mutex_unlock(&groups->lock);
    *out_work = (filchi_work){ filchi_group_run, (void *)entry };
    return entry != 0;
}

/* Running and ending. */

/* One task is no longer pending: the last touch of the group. */
static void task_ended(filch_pool *pool, filchi_worker *worker, filch_group *group,
                       filch_status failure)
{
    uintptr_t rest = 0;
    filchi_mutex_lock(&pool->groups.lock);
    if (failure != FILCH_OK) {
        group->failed = group->failed != FILCH_OK ? group->failed : failure;
        rest = (group->flags & FILCH_GROUP_FAIL_FAST) != 0 ? filchi_group_cut(group) : 0;
    }
    group->pending--;
    if (group->pending == 0) {
        filchi_group_wake(&group->helpers);
        filchi_group_wake(&group->finishers);
    }
    filchi_mutex_unlock(&pool->groups.lock);
    (void)filchi_group_end_all(pool, worker, rest);
}

static void end_one(filch_pool *pool, filchi_worker *worker, uintptr_t entry, filch_end how)
{
    filchi_job copy;
    filchi_job *job = job_of(entry, &copy);
    filch_group *group = job->more.group;
    filchi_job_end(pool, job, how);
    free_entry(pool, worker, entry);
    if (worker == NULL) {
        /* relaxed: a counter */
        (void)filchi_add_relaxed_u64(how == FILCH_CANCELLED ? &pool->groups.cancelled
                                                            : &pool->groups.dropped,
                                     1);
    }
    task_ended(pool, worker, group, FILCH_E_CANCELLED);
    if (worker == NULL) {
        filchi_pool_tasks_ended(pool, 1);
    } else {
        filchi_job_count(worker, how);
    }
}

size_t filchi_group_end_all(filch_pool *pool, filchi_worker *worker, uintptr_t entries)
{
    size_t count = 0;
    while (entries != 0) {
        const uintptr_t entry = entries;
        entries = *next_of(entry);
        end_one(pool, worker, entry, FILCH_CANCELLED);
        count++;
    }
    return count;
}

/* Isolated: README.md says why. */
static filch_end run_job(filch_cx *cx, filchi_job *job, filch_status *out_failure)
{
    filchi_lane *lane = filchi_lane_of(cx);
    filchi_group_frame frame = { job->more.group, FILCH_OK, lane->group_frame };
    filch_end how = FILCH_RAN;
    lane->group_frame = &frame;
    const bool isolated = filchi_lane_isolate(lane, cx, true);
    if (lane->worker != NULL) {
        how = filchi_job_finish(cx, job);
    } else {
        filchi_job_run_as_guest(cx, job);
    }
    (void)filchi_lane_isolate(lane, cx, isolated);
    lane->group_frame = frame.outer;
    *out_failure = how == FILCH_RAN    ? frame.status
                   : how == FILCH_LATE ? FILCH_E_TIMEOUT
                                       : FILCH_E_CANCELLED;
    return how;
}

void filchi_group_run(filch_cx *cx, void *object)
{
    const uintptr_t entry = (uintptr_t)object;
    filchi_worker *worker = filchi_lane_of(cx)->worker;
    filch_pool *pool = worker->lane.pool;
    filchi_job copy;
    filchi_job *job = job_of(entry, &copy);
    filch_group *group = job->more.group;
    filch_status failure;
    if (group == &pool->groups.loose) {
        job->more.group = NULL;
        filchi_job_run(cx, job);
        return;
    }
    const filch_end how = run_job(cx, job, &failure);
    free_entry(pool, worker, entry);
    task_ended(pool, worker, group, failure);
    filchi_job_count(worker, how); /* last: a quiet pool has no task left in a group */
}

/* Posts. */

/* Under the lock: may a task come in? The first one after a wait begins a round. */
static bool is_open(filch_group *group)
{
    if (group->collected && group->pending == 0) {
        group->collected = false;
        group->round++;
        group->failed_before = group->failed;
        group->failed = FILCH_OK;
        filchi_store_relaxed_u32(&group->cancelled, 0); /* relaxed: no task is there to ask */
    }
    /* relaxed: under the lock */
    return filchi_load_relaxed_u32(&group->cancelled) == 0;
}

static filch_status post_own(filchi_worker *worker, filch_group *group, uintptr_t entry)
{
    filch_pool *pool = worker->lane.pool;
    if (!filchi_submit_accept_own(worker)) {
        return filchi_pool_refuse(pool, FILCH_E_CLOSED);
    }
    filchi_mutex_lock(&pool->groups.lock);
    const bool open = is_open(group);
    const bool room = group->waiting < pool->config.own_tasks;
    if (open) {
        group->pending++;
        if (room) {
            push(group, entry);
        }
    }
    filchi_mutex_unlock(&pool->groups.lock);
    if (!open) {
        return filchi_submit_take_back(worker, FILCH_E_CANCELLED);
    }
    if (room) {
        filchi_pool_task_published(pool);
        return FILCH_OK;
    }
    const filch_status status = filchi_submit_run_inline(worker, (void *)entry, filchi_group_run);
    if (status != FILCH_OK) {
        task_ended(pool, worker, group, FILCH_OK);
    }
    return status;
}

/* The following give up the lock for a while; the group stays, since we count as a user of it. */

/* Run it on this thread. False: no memory for a lane, or the pool is closed by now. */
static bool run_inside(filch_group *group, uintptr_t entry)
{
    filch_pool *pool = group->pool;
    filchi_guest guest;
    filchi_job copy;
    filch_status failure = FILCH_OK;
    group->pending++;
    filchi_mutex_unlock(&pool->groups.lock);
    const bool ran = filchi_guest_enter(&guest, pool) == FILCH_OK;
    if (ran) {
        /* relaxed: a counter */
        (void)filchi_add_relaxed_u64(&pool->run_inside, 1);
        (void)run_job(guest.lane.cx, job_of(entry, &copy), &failure);
        filchi_guest_leave(&guest);
        free_entry(pool, NULL, entry);
    }
    task_ended(pool, NULL, group, failure);
    if (ran) {
        filchi_pool_tasks_ended(pool, 1);
    }
    filchi_mutex_lock(&pool->groups.lock);
    return ran;
}

static void drop_oldest(filch_group *group)
{
    filch_pool *pool = group->pool;
    filchi_place place;
    const uintptr_t entry = filchi_group_pop(group);
    filchi_mutex_unlock(&pool->groups.lock);
    filchi_place_enter(&place, pool, NULL);
    end_one(pool, NULL, entry, FILCH_DROPPED);
    filchi_place_leave(&place);
    filchi_mutex_lock(&pool->groups.lock);
}

static bool is_full(const filch_group *group)
{
    return group->waiting >= group->pool->config.queue_tasks;
}

/* Sleep while it is full. False: the deadline has passed. */
static bool wait_for_room(filch_group *group, filch_time until, filch_token *stop)
{
    filchi_groups *groups = &group->pool->groups;
    filchi_parker parker;
    filchi_group_waiter self = { .parker = &parker, .groups = groups };
    bool in_time = true;
    filchi_mutex_unlock(&groups->lock);
    (void)filchi_add_relaxed_u64(&group->pool->room_waits, 1); /* relaxed: a counter */
    filchi_list_init(&self.link);
    if (!filchi_parker_init(&parker)) {
        filchi_thread_yield(0);
        filchi_mutex_lock(&groups->lock);
        return until == FILCH_FOREVER || filchi_clock_ns() < until;
    }
    const bool entered = filchi_token_enter(stop, &self.stop, filchi_group_stop_waiter);
    filchi_mutex_lock(&groups->lock);
    /* relaxed: under the lock */
    if (is_full(group) && filchi_load_relaxed_u32(&group->cancelled) == 0 &&
        !filchi_token_stopped(stop)) {
        in_time = filchi_group_sleep(&self, &group->producers, until);
    }
    filchi_mutex_unlock(&groups->lock);
    if (entered) {
        filchi_token_leave(stop, &self.stop);
    }
    filchi_parker_destroy(&parker);
    filchi_mutex_lock(&groups->lock);
    return in_time;
}

/* The group is full. FILCH_OK: the task has ended already, *out_ended, or there may be room by now. */
static filch_status make_room(filch_group *group, uintptr_t entry, filch_full full,
                              filch_time until, filch_token *stop, bool *out_ended)
{
    if (full == FILCH_FULL_REJECT || (full == FILCH_FULL_RUN && filchi_pool_paused(group->pool))) {
        return FILCH_E_FULL;
    }
    if (filchi_token_stopped(stop)) {
        return FILCH_E_STOPPED;
    }
    if (full == FILCH_FULL_DROP_OLDEST) {
        drop_oldest(group);
        return FILCH_OK;
    }
    if (full == FILCH_FULL_RUN && run_inside(group, entry)) {
        *out_ended = true;
        return FILCH_OK;
    }
    if (wait_for_room(group, until, stop) || !is_full(group)) {
        return FILCH_OK;
    }
    return filchi_token_stopped(stop) ? FILCH_E_STOPPED : FILCH_E_TIMEOUT;
}

/* Under the lock. */
static filch_status put(filch_group *group, uintptr_t entry, const filch_submit_options *options,
                        bool *out_ended)
{
    filch_pool *pool = group->pool;
    filch_full full = options->full != FILCH_FULL_DEFAULT ? options->full : pool->config.full;
    if ((full == FILCH_FULL_RUN || full == FILCH_FULL_DROP_OLDEST) && filchi_place_inside(pool)) {
        full = FILCH_FULL_BLOCK;
    }
    const filch_time until = filchi_submit_until(options);
    filch_status status = FILCH_OK;
    while (status == FILCH_OK && !*out_ended) {
        if (!is_open(group)) {
            return FILCH_E_CANCELLED;
        }
        if (!is_full(group)) {
            group->pending++;
            push(group, entry);
            /* relaxed: a counter */
            (void)filchi_add_relaxed_u64(&pool->groups.accepted, 1);
            return FILCH_OK;
        }
        status = make_room(group, entry, full, until, options->stop, out_ended);
    }
    return status;
}

static filch_status post_foreign(filch_pool *pool, filch_group *group, uintptr_t entry,
                                 const filch_submit_options *options)
{
    bool ended = false;
    if (!filchi_pool_caller_enter(pool)) {
        return filchi_pool_refuse(pool, FILCH_E_CLOSED);
    }
    filchi_mutex_lock(&pool->groups.lock);
    group->users++;
    const filch_status status = put(group, entry, options, &ended);
    group->users--;
    filchi_mutex_unlock(&pool->groups.lock);
    if (status == FILCH_OK) {
        filchi_pool_task_published(pool);
    } else {
        if (status != FILCH_E_CANCELLED) {
            (void)filchi_add_relaxed_u64(&pool->rejected, 1); /* relaxed: a counter */
        }
        (void)filchi_pool_refuse(pool, status);
        filchi_pool_tasks_ended(pool, 1);
    }
    filchi_pool_caller_exit(pool);
    return status;
}

filch_status filchi_group_post(filch_pool *pool, filchi_worker *worker, const filchi_job *job,
                               filch_task *task, const filch_submit_options *options)
{
    uintptr_t entry = (uintptr_t)task | TASK_BIT;
    if (job != NULL) {
        filchi_job_node *node =
            worker != NULL ? filchi_job_node_get(worker) : filchi_job_node_find(pool);
        if (node == NULL) {
            return filchi_pool_refuse(pool, FILCH_E_NOMEM);
        }
        filchi_job_copy(&node->job, job);
        entry = (uintptr_t)node;
    }
    const filch_status status = worker != NULL ? post_own(worker, options->group, entry)
                                               : post_foreign(pool, options->group, entry, options);
    if (status != FILCH_OK) {
        free_entry(pool, worker, entry);
    }
    return status;
}

/* Loose tasks. */

bool filchi_group_loose_enter(filch_pool *pool, filchi_worker *worker)
{
    const bool in =
        worker != NULL ? filchi_submit_accept_own(worker) : filchi_pool_caller_enter(pool);
    if (!in) {
        (void)filchi_pool_refuse(pool, FILCH_E_CLOSED);
    }
    return in;
}

void filchi_group_loose_post(filch_pool *pool, filchi_worker *worker, filch_task *task)
{
    filchi_groups *groups = &pool->groups;
    filchi_mutex_lock(&groups->lock);
    push(&groups->loose, (uintptr_t)task | TASK_BIT);
    filchi_mutex_unlock(&groups->lock);
    if (worker == NULL) {
        /* relaxed: a counter */
        (void)filchi_add_relaxed_u64(&groups->accepted, 1);
    }
    filchi_pool_task_published(pool);
    if (worker == NULL) {
        filchi_pool_caller_exit(pool);
    }
}
