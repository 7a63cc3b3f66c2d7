/* SPDX-License-Identifier: MIT */
/* Groups: detached tasks that are waited for or cancelled together. What has not started lies in the
 * group itself, where workers and those who wait for it find it. README.md, "Groups". */
#ifndef FILCHI_CORE_GROUP_H
#define FILCHI_CORE_GROUP_H

#include <filch/task.h>

#include "base/list.h"
#include "core/lane.h"
#include "plat/plat.h"
#include "sync/token.h"

typedef struct filchi_worker filchi_worker;

/* I: set at creation   the rest is under the lock of all groups */
struct filch_group {
    filch_pool *pool;          /* I */
    unsigned flags;            /* I */
    uint32_t generation;       /* I: filchi_fork_generation() of its process */
    filch_allocator allocator; /* I */
    filchi_link board;         /* in the pool's, while tasks wait */
    uintptr_t first;           /* of the tasks that have not started; 0: none */
    uintptr_t last;
    uint64_t waiting;            /* how many */
    uint64_t pending;            /* of all that have not ended */
    uint32_t users;              /* threads inside a call that gives up the lock */
    filchi_link helpers;         /* workers that wait for the end, and run its tasks meanwhile */
    filchi_link finishers;       /* foreign threads that wait for the end */
    filchi_link producers;       /* foreign threads that wait for room */
    uint64_t round;              /* from one collected end to the next */
    bool collected;              /* a wait has returned; the next post begins a round */
    filch_status failed;         /* in this round, first */
    filch_status failed_before;  /* in the round before */
    filchi_atomic_u32 cancelled; /* in this round; tasks ask without the lock */
};

/* Of a pool. L: under `lock`   A: atomic, any thread */
typedef struct filchi_groups {
    filchi_mutex lock;           /* of all groups: it outlives each of them */
    filchi_link board;           /* L: groups with tasks that have not started */
    uint64_t count;              /* L: groups there are */
    filchi_atomic_u64 waiting;   /* A, written under the lock: tasks in all of them, not started */
    filchi_atomic_u64 accepted;  /* A: counter; from foreign threads */
    filchi_atomic_u64 cancelled; /* A: counter; ended so by foreign threads */
    filchi_atomic_u64 dropped;   /* A: counter */
    filch_group loose;           /* L: tasks without a group and without a bound; see below */
} filchi_groups;

/* A thread that waits on one of the lists. A waker takes it off and unparks it, both under the lock. */
typedef struct filchi_group_waiter {
    filchi_link link;
    filchi_parker *parker;
    filchi_groups *groups;
    filchi_token_wait stop;
} filchi_group_waiter;

/* A task of a group that runs on a lane; in the frame of who runs it. */
struct filchi_group_frame {
    const filch_group *group;
    filch_status status;
    struct filchi_group_frame *outer;
};

/* Of a group that is zero. */
void filchi_group_init(filch_group *group, filch_pool *pool);

bool filchi_groups_init(filchi_groups *groups);
void filchi_groups_destroy(filchi_groups *groups);
bool filchi_groups_left(filchi_groups *groups);

/* A worker looks for work: the oldest task of the next group. */
bool filchi_groups_take(filchi_worker *worker, filchi_work *out_work);

static inline bool filchi_groups_look_empty(const filchi_groups *groups)
{
    /* [GROUP-2] seq_cst, pairs with GROUP-1: a sleeper sees each task whose poster did not see it. */
    return filchi_load_seq_cst_u64(&groups->waiting) == 0;
}

/* Post a task with options->group: a copy of `job`, if it is not NULL, or else `task`, which has its
 * options. `worker` is the calling thread, or NULL. */
filch_status filchi_group_post(filch_pool *pool, filchi_worker *worker, const filchi_job *job,
                               filch_task *task, const filch_submit_options *options);

/* Tasks that are posted when nobody can be told that there is no room, continuations of futures: they
 * lie in the group that every pool has, but they are no tasks of a group to themselves or to anybody.
 * Enter, which counts one task (false: the pool is closed; it is refused); then post it. In between the
 * pool is not destroyed. */
bool filchi_group_loose_enter(filch_pool *pool, filchi_worker *worker);
void filchi_group_loose_post(filch_pool *pool, filchi_worker *worker, filch_task *task);

/* Under the lock: the oldest that has not started, 0: none; what cancels all of these. */
uintptr_t filchi_group_pop(filch_group *group);
uintptr_t filchi_group_cut(filch_group *group);

/* Run one; it has been popped. */
void filchi_group_run(filch_cx *cx, void *entry);

/* End those that were cut as cancelled, on this thread. */
size_t filchi_group_end_all(filch_pool *pool, filchi_worker *worker, uintptr_t entries);

/* Under the lock: sleep until woken; false: the deadline passed. And wake all of a list. */
bool filchi_group_sleep(filchi_group_waiter *waiter, filchi_link *list, filch_time until);
void filchi_group_wake(filchi_link *list);
/* What the token of a wait does. */
void filchi_group_stop_waiter(filchi_token_wait *wait);

#endif
