/* SPDX-License-Identifier: MIT */
/* One worker: a thread of a pool with its lane, its detached tasks, and what it counts. */
#ifndef FILCHI_CORE_WORKER_H
#define FILCHI_CORE_WORKER_H

#include "core/cx.h"
#include "core/job.h"
#include "rec/counters.h"
#include "rec/lengths.h"
#include "rec/timesheet.h"
#include "sync/eventcount.h"

struct filchi_worker {
    filch_cx cx;
    filch_deque tasks; /* detached tasks posted by this worker's tasks */
    filchi_parker parker;
    filchi_waiter waiter;
    filchi_node_list nodes; /* spare, this worker's own */
    uint32_t tick;          /* detached tasks taken; paces the look at the injector */
    unsigned index;
    filchi_thread thread;
    filchi_lengths *lengths; /* NULL: the pool does not time tasks */
    _Alignas(FILCHI_CACHELINE) filchi_counters counters;
    _Alignas(FILCHI_CACHELINE) filchi_timesheet time;
};

filchi_worker *filchi_worker_create(filch_pool *pool, unsigned index);
/* After its thread has ended, or was never started. */
void filchi_worker_destroy(filchi_worker *worker);

/* The body of the thread. */
void filchi_worker_main(void *worker);

/* Has the pool become smaller than this worker's number? Then it takes no more work, and rests until
 * it is on duty again, or the pool stops. */
bool filchi_worker_off_duty(const filchi_worker *worker);
void filchi_worker_rest(filchi_worker *worker);

/* The other worker a thief tries next: uniform over `workers` without `self`. workers >= 2. */
uint32_t filchi_steal_victim(filchi_rng *rng, uint32_t workers, uint32_t self);

/* Take a fork (only forks, or an open loop), any work, from others. One round of tries. */
bool filchi_steal_fork(filchi_worker *thief, filch_item *out_item);
bool filchi_steal_any(filchi_worker *thief, filch_item *out_item);

/* Is there any fork or open loop in sight, any detached task? seq_cst looks, see README.md. */
bool filchi_forks_in_sight(const filch_pool *pool);
bool filchi_tasks_in_sight(const filch_pool *pool);

#endif
