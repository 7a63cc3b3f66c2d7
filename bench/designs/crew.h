/* SPDX-License-Identifier: MIT */
/* What the designs below have in common: threads, groups of tasks that are waited for, sleeping and
 * waking. A design says where a task is put and where a thread looks for one.
 *
 * A thread that waits for a group runs what it can take meanwhile, so waiting nests without
 * deadlock as long as each task can be taken by a thread that waits, or is run at once. */
#ifndef FILCH_BENCH_CREW_H
#define FILCH_BENCH_CREW_H

#include "bench/designs/design.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct crew crew;
typedef struct crew_cx crew_cx;

typedef struct crew_group {
    atomic_size_t pending;
    crew_cx *waiter; /* NULL: a thread of outside */
} crew_group;

/* The private part of a design_task. */
typedef struct crew_link {
    design_task *next;
    design_task *prev;
    crew_group *group;
    unsigned first; /* where it matters: the threads that the task may hand work to */
    unsigned end;
} crew_link;

_Static_assert(sizeof(crew_link) <= sizeof(((design_task *)0)->priv), "no room in a task");

static inline crew_link *crew_link_of(design_task *task)
{
    return (crew_link *)(void *)task->priv;
}

/* A list of tasks behind a mutex. */
typedef struct crew_list {
    _Alignas(64) pthread_mutex_t mutex;
    design_task *oldest;
    design_task *newest;
    atomic_size_t count; /* may be read without the mutex, as a hint */
} crew_list;

void crew_list_put(crew_list *list, design_task *task);
design_task *crew_list_take_oldest(crew_list *list);
design_task *crew_list_take_newest(crew_list *list);

typedef struct crew_policy {
    bool idle_waits; /* who waits for a group runs nothing meanwhile */
    bool patient;    /* what a thread waits for comes soon, and to it: it looks for longer */

    /* The queues; 0 or an errno value. May be NULL. */
    int (*open)(crew *pool);
    void (*close)(crew *pool);

    /* False: there is no room, the caller runs the task or tries again. `from` is NULL for a thread
     * of outside. *out_to is NULL on entry: whoever sleeps may be woken; else only that thread. */
    bool (*put)(crew *pool, crew_cx *from, design_task *task, crew_cx **out_to);
    design_task *(*take)(crew *pool, crew_cx *cx);
    /* Nothing that take would give `cx`. */
    bool (*is_empty)(crew *pool, const crew_cx *cx);
} crew_policy;

struct crew_cx {
    _Alignas(64) crew *pool;
    unsigned number;
    unsigned first; /* of the task that runs, as in crew_link */
    unsigned end;
    uint64_t random;
    atomic_uint_fast64_t steals; /* written by this thread only */
    pthread_t id;
    bool takes; /* asleep, and would take a task */
    atomic_bool asleep;
    crew_cx *next_sleeper;
    pthread_cond_t wake;
};

struct crew {
    const design *on;
    const crew_policy *policy; /* of `on` */
    void *queues;              /* the policy's */
    crew_list *lists;          /* one a thread and one more, for policies that want them */
    atomic_uint turn;          /* for taking turns from outside */
    crew_group posted;
    atomic_bool stopping;
    atomic_uint sleeping;
    pthread_mutex_t mutex; /* sleepers and their flags */
    pthread_cond_t outside;
    crew_cx *sleepers; /* the last to fall asleep first */
    unsigned threads;
    unsigned looks; /* fruitless ones before a thread sleeps */
    crew_cx *cx;
};

/* The life of every design whose policy is a crew_policy. */
extern const design_life crew_life;

/* Groups. */
void crew_group_begin(crew_group *group, crew_cx *waiter);
/* The threads [first, end) are the task's to hand work to. */
void crew_fork(crew_cx *cx, crew_group *group, design_task *task, unsigned first, unsigned end);
void crew_wait(crew_cx *cx, crew_group *group);

/* A pair is one fork, `all` is as many as there are tasks. */
void crew_pair(const design_cx *cx, design_task *a, design_task *b);
void crew_all(const design_cx *cx, design_task *first, size_t stride, size_t count);

uint64_t crew_random(crew_cx *cx);

#endif
