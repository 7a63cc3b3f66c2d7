/* SPDX-License-Identifier: MIT */
/* One worker: a thread of a pool with its lane, its detached tasks, and what it counts. */
#ifndef FILCHI_CORE_WORKER_H
#define FILCHI_CORE_WORKER_H

#include "core/job.h"
#include "core/lane.h"
#include "core/pace.h"
#include "queue/deque.h"
#include "rec/counters.h"
#include "rec/lengths.h"
#include "rec/timesheet.h"
#include "sync/eventcount.h"

/* A lane when its bell was rung. */
typedef struct filchi_sighting {
    filchi_region *region;
    filchi_taken taken;
} filchi_sighting;

struct filchi_worker {
    filchi_lane lane;
    filch_deque tasks; /* detached tasks posted by this worker's tasks */
    filch_deque batch; /* taken from the injector and not started: batch.h */
    filchi_parker parker;
    filchi_waiter waiter;
    filchi_node_list nodes; /* spare, this worker's own */
    uint32_t batch_size;    /* the last one's */
    uint32_t tick;          /* detached tasks taken; paces the look at the injector */
    unsigned index;
    uint32_t near; /* its place in the pool's nears, if it has some */
    filchi_thread thread;
    filchi_seat seat;
    bool seated;             /* the seat can be moved */
    bool moved;              /* by who woke it; it restores its seat */
    unsigned waker_cpu;      /* FILCHI_CPU_UNKNOWN: it was woken for a task, or not at all */
    filchi_lengths *lengths; /* NULL: the pool does not time tasks */
    filchi_lengths *waits;   /* of tasks in the queue; NULL: not measured */
    bool woken;              /* since it last searched in vain */
    uint64_t woken_busy_ns;  /* busy time then */
    uint64_t nap_ns;         /* its last nap; 0: the last wake was worth it */
    uint32_t appetite;       /* forks to steal at a time */
    uint64_t fed_ns;         /* busy time at the last theft */
    filchi_loot loot;        /* stolen last */
    filchi_pace pace;
    filchi_sighting *sightings; /* one a worker, for the last look before it sleeps */
    _Alignas(FILCHI_CACHELINE) filchi_counters counters;
    filchi_atomic_u32 running;  /* O: detached tasks begun and not ended on this stack, */
    filchi_atomic_uptr label;   /* O: the label of the newest of them, */
    filchi_atomic_u64 began_ns; /* O: and when it began, in pools that time tasks; 0 elsewhere */
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

static inline filchi_work filchi_item_work(filch_item item)
{
    return (filchi_work){ (filchi_run_fn *)item.second, (void *)item.first };
}

/* Take a fork (only forks, or an open loop), any work, from others. One round of tries. */
bool filchi_steal_fork(filchi_worker *thief, filchi_work *out_work);
bool filchi_steal_any(filchi_worker *thief, filchi_work *out_work);

/* Is there any fork on offer, or open loop; any detached task? seq_cst looks, see README.md. */
bool filchi_forks_in_sight(const filch_pool *pool);
bool filchi_tasks_in_sight(const filch_pool *pool);

/* The end of a search that others relied on: is there a fork for somebody else, or may there be one
 * that nobody sees? */
bool filchi_forks_hand_on(const filch_pool *pool);

/* A registered sleeper: is anything on offer? Every lane is asked to offer; with `fence` also a look
 * at what is private. True: there is something; it may have been taken. */
bool filchi_forks_last_look(filchi_worker *thief, bool fence, filchi_work *out_work);

#endif
