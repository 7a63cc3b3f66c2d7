/* SPDX-License-Identifier: MIT */
/* Threads, groups, sleep. All atomics are seq_cst: a publisher puts the task and then reads who
 * sleeps, a sleeper says that it sleeps and then looks once more, both under the mutex or with
 * seq_cst, so one of the two sees the other. */
#define _GNU_SOURCE

#include "bench/designs/crew.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

enum { STACK_BYTES = 64 << 20, LOOKS = 64, PATIENT_LOOKS = 4096 /* some 0.1 ms */ };

static inline void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Lists. */

static void list_open(crew_list *list)
{
    pthread_mutex_init(&list->mutex, NULL);
    list->oldest = NULL;
    list->newest = NULL;
    atomic_init(&list->count, 0);
}

void crew_list_put(crew_list *list, design_task *task)
{
    crew_link *link = crew_link_of(task);
    link->next = NULL;
    pthread_mutex_lock(&list->mutex);
    link->prev = list->newest;
    if (list->newest != NULL) {
        crew_link_of(list->newest)->next = task;
    } else {
        list->oldest = task;
    }
    list->newest = task;
    atomic_fetch_add(&list->count, 1);
    pthread_mutex_unlock(&list->mutex);
}

static void take_out(crew_list *list, design_task *task)
{
    const crew_link *link = crew_link_of(task);
    if (link->prev != NULL) {
        crew_link_of(link->prev)->next = link->next;
    } else {
        list->oldest = link->next;
    }
    if (link->next != NULL) {
        crew_link_of(link->next)->prev = link->prev;
    } else {
        list->newest = link->prev;
    }
    atomic_fetch_sub(&list->count, 1);
}

static design_task *list_take(crew_list *list, bool oldest)
{
    if (atomic_load(&list->count) == 0) {
        return NULL;
    }
    pthread_mutex_lock(&list->mutex);
    design_task *task = oldest ? list->oldest : list->newest;
    if (task != NULL) {
        take_out(list, task);
    }
    pthread_mutex_unlock(&list->mutex);
    return task;
}

design_task *crew_list_take_oldest(crew_list *list)
{
    return list_take(list, true);
}

design_task *crew_list_take_newest(crew_list *list)
{
    return list_take(list, false);
}

/* Sleep and wake; both under the mutex of the crew. */

static void get_up(crew *pool, crew_cx *cx)
{
    crew_cx **at = &pool->sleepers;
    while (*at != cx) {
        at = &(*at)->next_sleeper;
    }
    *at = cx->next_sleeper;
    atomic_store(&cx->asleep, false);
    atomic_fetch_sub(&pool->sleeping, 1);
}

static void wake(crew *pool, crew_cx *to)
{
    if (atomic_load(&pool->sleeping) == 0) {
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    crew_cx *cx = to;
    if (cx == NULL) {
        cx = pool->sleepers;
        while (cx != NULL && !cx->takes) {
            cx = cx->next_sleeper;
        }
    }
    if (cx != NULL && atomic_load(&cx->asleep)) {
        get_up(pool, cx);
    } else {
        cx = NULL;
    }
    pthread_mutex_unlock(&pool->mutex);
    if (cx != NULL) {
        pthread_cond_signal(&cx->wake);
    }
}

static bool may_sleep(const crew_cx *cx, const crew_group *group)
{
    crew *pool = cx->pool;
    if (group != NULL ? atomic_load(&group->pending) == 0 : atomic_load(&pool->stopping)) {
        return false;
    }
    return !cx->takes || pool->policy->is_empty(pool, cx);
}

/* Until woken, or until there is something to do; `group` NULL: not in a wait. */
static void sleep_until(crew_cx *cx, const crew_group *group)
{
    crew *pool = cx->pool;
    pthread_mutex_lock(&pool->mutex);
    cx->takes = group == NULL || !pool->policy->idle_waits;
    cx->next_sleeper = pool->sleepers;
    pool->sleepers = cx;
    atomic_store(&cx->asleep, true);
    atomic_fetch_add(&pool->sleeping, 1);
    while (atomic_load(&cx->asleep)) {
        if (may_sleep(cx, group)) {
            pthread_cond_wait(&cx->wake, &pool->mutex);
        } else {
            get_up(pool, cx);
        }
    }
    pthread_mutex_unlock(&pool->mutex);
}

/* Tasks. */

static void finish(crew *pool, crew_group *group)
{
    crew_cx *waiter = group->waiter; /* the group may be gone after the next line */
    if (atomic_fetch_sub(&group->pending, 1) != 1) {
        return;
    }
    if (waiter == NULL) {
        pthread_mutex_lock(&pool->mutex);
        pthread_cond_broadcast(&pool->outside);
        pthread_mutex_unlock(&pool->mutex);
    } else if (atomic_load(&waiter->asleep)) {
        wake(pool, waiter);
    }
}

static void run_task(crew_cx *cx, design_task *task)
{
    const crew_link link = *crew_link_of(task); /* the task may be gone when it has run */
    const unsigned first = cx->first;
    const unsigned end = cx->end;
    const design_cx here = { cx->pool->on, cx };
    cx->first = link.first;
    cx->end = link.end;
    task->fn(&here, task->arg);
    cx->first = first;
    cx->end = end;
    finish(cx->pool, link.group);
}

static bool put(crew *pool, crew_cx *from, crew_group *group, design_task *task)
{
    crew_cx *to = NULL;
    crew_link_of(task)->group = group;
    if (!pool->policy->put(pool, from, task, &to)) {
        return false;
    }
    wake(pool, to);
    return true;
}

static void put_from_outside(crew *pool, crew_group *group, design_task *task)
{
    atomic_fetch_add(&group->pending, 1);
    crew_link_of(task)->first = 0;
    crew_link_of(task)->end = pool->threads;
    while (!put(pool, NULL, group, task)) {
        sched_yield();
    }
}

void crew_group_begin(crew_group *group, crew_cx *waiter)
{
    atomic_init(&group->pending, 0);
    group->waiter = waiter;
}

void crew_fork(crew_cx *cx, crew_group *group, design_task *task, unsigned first, unsigned end)
{
    atomic_fetch_add(&group->pending, 1);
    crew_link_of(task)->first = first;
    crew_link_of(task)->end = end;
    if (!put(cx->pool, cx, group, task)) {
        run_task(cx, task);
    }
}

void crew_wait(crew_cx *cx, crew_group *group)
{
    crew *pool = cx->pool;
    unsigned looks = 0;
    while (atomic_load(&group->pending) != 0) {
        design_task *task = pool->policy->idle_waits ? NULL : pool->policy->take(pool, cx);
        if (task != NULL) {
            run_task(cx, task);
            looks = 0;
        } else if (++looks > pool->looks) {
            sleep_until(cx, group);
            looks = 0;
        } else {
            pause_cpu();
        }
    }
}

void crew_pair(const design_cx *here, design_task *a, design_task *b)
{
    crew_cx *cx = here->lane;
    crew_group group;
    crew_group_begin(&group, cx);
    crew_fork(cx, &group, b, 0, 0);
    a->fn(here, a->arg);
    crew_wait(cx, &group);
}

void crew_all(const design_cx *here, design_task *first, size_t stride, size_t count)
{
    crew_cx *cx = here->lane;
    crew_group group;
    crew_group_begin(&group, cx);
    for (size_t i = 0; i < count; i++) {
        crew_fork(cx, &group, design_task_at(first, stride, i), 0, 0);
    }
    crew_wait(cx, &group);
}

static void wait_outside(crew *pool, const crew_group *group)
{
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load(&group->pending) != 0) {
        pthread_cond_wait(&pool->outside, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
}

static void crew_run(void *crew_pool, design_task *root)
{
    crew *pool = crew_pool;
    crew_group group;
    crew_group_begin(&group, NULL);
    put_from_outside(pool, &group, root);
    wait_outside(pool, &group);
}

static void crew_post(void *crew_pool, design_task *task)
{
    crew *pool = crew_pool;
    put_from_outside(pool, &pool->posted, task);
}

static void crew_drain(void *crew_pool)
{
    crew *pool = crew_pool;
    wait_outside(pool, &pool->posted);
}

static uint64_t crew_steals(const void *crew_pool)
{
    const crew *pool = crew_pool;
    uint64_t steals = 0;
    for (unsigned i = 0; i < pool->threads; i++) {
        steals += atomic_load_explicit(&pool->cx[i].steals, memory_order_relaxed);
    }
    return steals;
}

uint64_t crew_random(crew_cx *cx)
{
    cx->random ^= cx->random << 13;
    cx->random ^= cx->random >> 7;
    cx->random ^= cx->random << 17;
    return cx->random;
}

/* Threads. */

/* With fewer CPUs than threads a long look takes the CPU from the one that is waited for. */
static unsigned looks_of(const crew_policy *policy, unsigned threads)
{
    cpu_set_t allowed;
    const bool free = sched_getaffinity(0, sizeof(allowed), &allowed) == 0 &&
                      threads <= (unsigned)CPU_COUNT(&allowed);
    return policy->patient && free ? PATIENT_LOOKS : LOOKS;
}

static void *thread_main(void *arg)
{
    crew_cx *cx = arg;
    crew *pool = cx->pool;
    unsigned looks = 0;
    for (;;) {
        design_task *task = pool->policy->take(pool, cx);
        if (task != NULL) {
            run_task(cx, task);
            looks = 0;
        } else if (++looks > pool->looks) {
            if (atomic_load(&pool->stopping)) {
                return NULL;
            }
            sleep_until(cx, NULL);
            looks = 0;
        } else {
            pause_cpu();
        }
    }
}

/* How many were started is left in *out_started. */
static int start_threads(crew *pool, unsigned *out_started)
{
    pthread_attr_t attr;
    int error = pthread_attr_init(&attr);
    if (error != 0) {
        return error;
    }
    error = pthread_attr_setstacksize(&attr, STACK_BYTES);
    while (error == 0 && *out_started < pool->threads) {
        crew_cx *cx = &pool->cx[*out_started];
        error = pthread_create(&cx->id, &attr, thread_main, cx);
        *out_started += error == 0;
    }
    pthread_attr_destroy(&attr);
    return error;
}

static void stop_threads(crew *pool, unsigned started)
{
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->stopping, true);
    while (pool->sleepers != NULL) {
        crew_cx *cx = pool->sleepers;
        get_up(pool, cx);
        pthread_cond_signal(&cx->wake);
    }
    pthread_mutex_unlock(&pool->mutex);
    for (unsigned i = 0; i < started; i++) {
        pthread_join(pool->cx[i].id, NULL);
    }
}

static void free_crew(crew *pool)
{
    if (pool->policy->close != NULL) {
        pool->policy->close(pool);
    }
    pthread_cond_destroy(&pool->outside);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->lists);
    free(pool->cx);
    free(pool);
}

static int crew_start(const design *on, unsigned threads, void **out_pool)
{
    crew *pool = calloc(1, sizeof(*pool));
    if (pool == NULL) {
        return ENOMEM;
    }
    const crew_policy *policy = on->policy;
    pool->on = on;
    pool->policy = policy;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->outside, NULL);
    crew_group_begin(&pool->posted, NULL);
    pool->cx = aligned_alloc(64, threads * sizeof(*pool->cx));
    pool->lists = aligned_alloc(64, (threads + 1) * sizeof(*pool->lists));
    int error = pool->cx == NULL || pool->lists == NULL ? ENOMEM : 0;
    for (unsigned i = 0; error == 0 && i <= threads; i++) {
        list_open(&pool->lists[i]);
    }
    for (unsigned i = 0; error == 0 && i < threads; i++) {
        crew_cx *cx = &pool->cx[i];
        *cx = (crew_cx){ .pool = pool, .number = i, .random = i + 88172645463325252 };
        pthread_cond_init(&cx->wake, NULL);
    }
    unsigned started = 0;
    pool->threads = threads;
    pool->looks = looks_of(policy, threads);
    error = error == 0 && policy->open != NULL ? policy->open(pool) : error;
    error = error == 0 ? start_threads(pool, &started) : error;
    if (error != 0) {
        stop_threads(pool, started);
        free_crew(pool);
        return error;
    }
    *out_pool = pool;
    return 0;
}

static void crew_stop(void *crew_pool)
{
    if (crew_pool != NULL) {
        crew_drain(crew_pool);
        crew *pool = crew_pool;
        stop_threads(pool, pool->threads);
        free_crew(crew_pool);
    }
}

const design_life crew_life = { .start = crew_start,
                                .stop = crew_stop,
                                .run = crew_run,
                                .post = crew_post,
                                .drain = crew_drain,
                                .steals = crew_steals };
