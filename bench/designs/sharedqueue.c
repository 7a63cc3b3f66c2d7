/* SPDX-License-Identifier: MIT */
/* One queue, one mutex, one condition variable a thread (so that a wake reaches whom it is for).
 *
 * Why waiting cannot deadlock: a waiter runs its own unstarted tasks itself, so it only sleeps for
 * tasks that others have started. A started task depends on tasks it forked, and on what lies above
 * it on its thread's stack; both were started later. A chain of such dependencies only goes to
 * later starts, so it ends at a task that is running.
 *
 * All fields below are protected by sharedq.mutex, except those marked I (set at init). */
#define _POSIX_C_SOURCE 200809L

#include "sharedqueue.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
    STACK_BYTES = 8 << 20, /* as a worker of Filch has */
    MAX_HELPS = 64 /* foreign tasks nested on one stack; more sleeps, which bounds the stack */
};

struct sharedq_cx {
    sharedq *pool;   /* I */
    pthread_t id;    /* I */
    unsigned number; /* I */
    unsigned helps;
    bool asleep;
    bool for_work;          /* woken to take a task: counted in sharedq.coming */
    sharedq_cx *wake_later; /* whom to signal at the next unlock */
    sharedq_link in_sleepers;
    pthread_cond_t wake;
};

struct sharedq {
    pthread_mutex_t mutex;
    sharedq_link queue;    /* oldest first */
    sharedq_link sleepers; /* longest asleep first; only those that would take a task */
    size_t queued;
    size_t coming; /* threads that were woken to take a task and have not got here yet */
    sharedq_group submitted;
    pthread_cond_t outside; /* a group with no waiter of the pool is complete */
    bool stopping;
    unsigned threads; /* I */
    sharedq_cx cx[];
};

#define TASK_OF(link, member) ((sharedq_task *)((char *)(link)-offsetof(sharedq_task, member)))

static void list_init(sharedq_link *head)
{
    head->next = head;
    head->prev = head;
}

static bool list_is_empty(const sharedq_link *head)
{
    return head->next == head;
}

static void list_append(sharedq_link *head, sharedq_link *link)
{
    link->prev = head->prev;
    link->next = head;
    head->prev->next = link;
    head->prev = link;
}

static void list_remove(sharedq_link *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
}

static void take_off_list(sharedq_cx *cx)
{
    list_remove(&cx->in_sleepers);
    list_init(&cx->in_sleepers); /* removing it again does no harm */
    cx->asleep = false;
}

/* Whom to wake for the tasks that are queued: nobody if enough are coming already; otherwise the
 * thread that fell asleep last, whose cache is the warmest. */
static sharedq_cx *pick_sleeper(sharedq *pool)
{
    if (pool->queued <= pool->coming || list_is_empty(&pool->sleepers)) {
        return NULL;
    }
    sharedq_cx *cx =
        (sharedq_cx *)((char *)pool->sleepers.prev - offsetof(sharedq_cx, in_sleepers));
    take_off_list(cx);
    cx->for_work = true;
    pool->coming++;
    return cx;
}

/* Signal after the mutex is free, or the woken thread runs straight into it. */
static void unlock_and_wake(sharedq *pool, sharedq_cx *sleeper)
{
    pthread_mutex_unlock(&pool->mutex);
    if (sleeper != NULL) {
        pthread_cond_signal(&sleeper->wake);
    }
}

static void flush_wake(sharedq_cx *cx)
{
    if (cx->wake_later != NULL) {
        pthread_cond_signal(&cx->wake_later->wake);
        cx->wake_later = NULL;
    }
}

static void fall_asleep(sharedq_cx *cx, bool takes_tasks)
{
    sharedq *const pool = cx->pool;
    flush_wake(cx);
    cx->asleep = true;
    list_init(&cx->in_sleepers);
    if (takes_tasks) {
        list_append(&pool->sleepers, &cx->in_sleepers);
    }
    while (cx->asleep) {
        pthread_cond_wait(&cx->wake, &pool->mutex);
    }
    pool->coming -= cx->for_work;
    cx->for_work = false;
}

static void enqueue(sharedq *pool, sharedq_group *group, sharedq_task *task)
{
    task->group = group;
    group->pending++;
    pool->queued++;
    list_append(&pool->queue, &task->in_queue);
    list_append(&group->unstarted, &task->in_group);
}

static void finish_one(sharedq_cx *cx, sharedq_group *group)
{
    if (--group->pending > 0) {
        return;
    }
    sharedq_cx *const waiter = group->waiter;
    if (waiter == NULL) {
        pthread_cond_broadcast(&cx->pool->outside);
    } else if (waiter->asleep) {
        take_off_list(waiter);
        cx->wake_later = waiter;
    }
}

/* Run a queued task; called and left with the mutex held. The node is not touched after `fn`. */
static void run_task(sharedq_cx *cx, sharedq_task *task)
{
    cx->pool->queued--;
    list_remove(&task->in_queue);
    list_remove(&task->in_group);
    sharedq_group *const group = task->group;
    sharedq_cx *const sleeper = cx->wake_later;
    cx->wake_later = NULL;
    unlock_and_wake(cx->pool, sleeper);
    task->fn(cx, task->arg);
    pthread_mutex_lock(&cx->pool->mutex);
    finish_one(cx, group);
}

static void *thread_main(void *arg)
{
    sharedq_cx *const cx = arg;
    sharedq *const pool = cx->pool;
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        if (!list_is_empty(&pool->queue)) {
            run_task(cx, TASK_OF(pool->queue.next, in_queue));
        } else if (pool->stopping) {
            break;
        } else {
            fall_asleep(cx, true);
        }
    }
    flush_wake(cx);
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

void sharedq_group_begin(sharedq_group *group)
{
    list_init(&group->unstarted);
    group->pending = 0;
    group->waiter = NULL;
}

void sharedq_fork(sharedq_cx *cx, sharedq_group *group, sharedq_task *task)
{
    sharedq *const pool = cx->pool;
    pthread_mutex_lock(&pool->mutex);
    group->waiter = cx;
    enqueue(pool, group, task);
    unlock_and_wake(pool, pick_sleeper(pool));
}

void sharedq_wait(sharedq_cx *cx, sharedq_group *group)
{
    sharedq *const pool = cx->pool;
    pthread_mutex_lock(&pool->mutex);
    while (group->pending > 0) {
        const bool helps = cx->helps < MAX_HELPS;
        if (!list_is_empty(&group->unstarted)) {
            run_task(cx, TASK_OF(group->unstarted.prev, in_group));
        } else if (helps && !list_is_empty(&pool->queue)) {
            cx->helps++;
            run_task(cx, TASK_OF(pool->queue.prev, in_queue));
            cx->helps--;
        } else {
            fall_asleep(cx, helps);
        }
    }
    flush_wake(cx);
    /* It may have been woken for a task that it now leaves to others: hand the wake on. */
    unlock_and_wake(pool, pick_sleeper(pool));
}

static void wait_outside(sharedq *pool, const sharedq_group *group)
{
    while (group->pending > 0) {
        pthread_cond_wait(&pool->outside, &pool->mutex);
    }
}

void sharedq_run(sharedq *pool, sharedq_fn *fn, void *arg)
{
    sharedq_group group;
    sharedq_task root = { .fn = fn, .arg = arg };
    sharedq_group_begin(&group);
    pthread_mutex_lock(&pool->mutex);
    enqueue(pool, &group, &root);
    sharedq_cx *const sleeper = pick_sleeper(pool);
    if (sleeper != NULL) {
        pthread_cond_signal(&sleeper->wake);
    }
    wait_outside(pool, &group);
    pthread_mutex_unlock(&pool->mutex);
}

void sharedq_submit(sharedq *pool, sharedq_task *task)
{
    pthread_mutex_lock(&pool->mutex);
    enqueue(pool, &pool->submitted, task);
    unlock_and_wake(pool, pick_sleeper(pool));
}

void sharedq_drain(sharedq *pool)
{
    pthread_mutex_lock(&pool->mutex);
    wait_outside(pool, &pool->submitted);
    pthread_mutex_unlock(&pool->mutex);
}

unsigned sharedq_threads(const sharedq *pool)
{
    return pool->threads;
}

unsigned sharedq_cx_thread(const sharedq_cx *cx)
{
    return cx->number;
}

static int start_thread(sharedq *pool, const pthread_attr_t *attr, unsigned number)
{
    sharedq_cx *const cx = &pool->cx[number];
    cx->pool = pool;
    cx->number = number;
    int error = pthread_cond_init(&cx->wake, NULL);
    if (error != 0) {
        return error;
    }
    error = pthread_create(&cx->id, attr, thread_main, cx);
    if (error != 0) {
        pthread_cond_destroy(&cx->wake);
    }
    return error;
}

/* Start as many threads as can be had; the error of the first one that could not. */
static int start_threads(sharedq *pool, unsigned threads)
{
    pthread_attr_t attr;
    int error = pthread_attr_init(&attr);
    if (error != 0) {
        return error;
    }
    error = pthread_attr_setstacksize(&attr, STACK_BYTES);
    while (error == 0 && pool->threads < threads) {
        error = start_thread(pool, &attr, pool->threads);
        pool->threads += error == 0;
    }
    pthread_attr_destroy(&attr);
    return error;
}

int sharedq_create(unsigned threads, sharedq **out_pool)
{
    if (threads == 0) {
        return EINVAL;
    }
    sharedq *const pool = calloc(1, sizeof *pool + threads * sizeof pool->cx[0]);
    if (pool == NULL) {
        return ENOMEM;
    }
    /* Plain mutexes and condition variables: on Linux their creation cannot fail. */
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->outside, NULL);
    list_init(&pool->queue);
    list_init(&pool->sleepers);
    sharedq_group_begin(&pool->submitted);
    const int error = start_threads(pool, threads);
    if (pool->threads == 0) {
        pthread_cond_destroy(&pool->outside);
        pthread_mutex_destroy(&pool->mutex);
        free(pool);
        return error;
    }
    *out_pool = pool;
    return 0;
}

void sharedq_destroy(sharedq *pool)
{
    if (pool == NULL) {
        return;
    }
    sharedq_drain(pool);
    pthread_mutex_lock(&pool->mutex);
    pool->stopping = true;
    for (unsigned i = 0; i < pool->threads; i++) {
        if (pool->cx[i].asleep) {
            take_off_list(&pool->cx[i]);
            pthread_cond_signal(&pool->cx[i].wake);
        }
    }
    pthread_mutex_unlock(&pool->mutex);
    for (unsigned i = 0; i < pool->threads; i++) {
        pthread_join(pool->cx[i].id, NULL);
        pthread_cond_destroy(&pool->cx[i].wake);
    }
    pthread_cond_destroy(&pool->outside);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}
