/* SPDX-License-Identifier: MIT */
/* The pool's insides: workers, injector, board, sleep, and the account of what is pending. */
#ifndef FILCHI_CORE_POOL_H
#define FILCHI_CORE_POOL_H

#include <filch/pool.h>

#include "core/bind.h"
#include "core/follow.h"
#include "core/group.h"
#include "core/job.h"
#include "core/offer.h"
#include "core/sleep.h"
#include "core/worker.h"
#include "queue/injector.h"

/* A configuration with every default filled in. */
typedef struct filchi_config {
    unsigned flags;
    unsigned workers;
    unsigned max_workers; /* at least `workers` */
    unsigned part;        /* of a CPU, of the last worker, in thousandths; 0: all of it */
    unsigned follow_most; /* the pool follows the machine up to this; 0: it does not */
    bool shares;          /* `workers` is of all pools that share */
    size_t stack_bytes;
    size_t queue_tasks;
    size_t own_tasks;
    filch_full full;
    char name[FILCHI_THREAD_NAME_BYTES];
    void (*on_start)(void *hook_arg, unsigned worker);
    void (*on_stop)(void *hook_arg, unsigned worker);
    void (*on_resize)(void *hook_arg, unsigned workers);
    void *hook_arg;
    filch_allocator allocator;
} filchi_config;

#define FILCHI_POOL_BINDS (FILCH_POOL_COMPACT | FILCH_POOL_SPREAD)

/* NULL config: all defaults. */
filch_status filchi_config_fill(const filch_pool_config *config, filchi_config *out_config);

/* "<prefix>-<number>" in 15 bytes, the prefix cut if it must be. */
void filchi_config_thread_name(const char *prefix, unsigned number,
                               char out_name[FILCHI_THREAD_NAME_BYTES]);

/* Foreign threads come in by one of a few doors, each by its own as long as they are few. In one
 * word, so that both change in a single step: those inside in the low bits, and the tasks that ever
 * came in by this door above, which may wrap. */
#define FILCHI_DOOR_CALLER ((uint64_t)1)
#define FILCHI_DOOR_CALLERS ((uint64_t)0xffffff)
#define FILCHI_DOOR_TASK ((uint64_t)1 << 24)

typedef struct filchi_door {
    _Alignas(FILCHI_CACHELINE) filchi_atomic_u64 in;
    filchi_atomic_u64 ended; /* tasks that no worker ended */
} filchi_door;

enum {
    FILCHI_DOORS = 8, /* a power of two */
    /* what a pool that closes refuses: */
    FILCHI_CLOSED = 1,   /* work from foreign threads */
    FILCHI_CANCELLED = 2 /* to start anything */
};

/* Any number that freed memory does not hold by chance. */
#define FILCHI_POOL_ALIVE ((uint32_t)0xf11c4001)

/* I: set before the workers pass the gate   L: under `life`   A: atomic, any thread */
struct filch_pool {
    filchi_door doors[FILCHI_DOORS];
    _Alignas(FILCHI_CACHELINE) filchi_sleep sleep;             /* A */
    _Alignas(FILCHI_CACHELINE) filchi_injector injector;       /* A */
    _Alignas(FILCHI_CACHELINE) filchi_atomic_u64 room_waiters; /* A: threads waiting for room */
    filchi_eventcount room;                                    /* the injector has room */
    filchi_atomic_u64 quiet_waiters;                           /* A */
    filchi_eventcount quiet;                                   /* no task is pending */
    filchi_board board;                                        /* open loops */
    filchi_groups groups;
    filchi_atomic_u64 resting_workers; /* A */
    filchi_eventcount resting;         /* workers off duty */
    filchi_node_store nodes;           /* spare nodes for detached tasks */
    void *guest_memory;                /* under nodes.lock: spare regions for guests, chained */
    filchi_atomic_u64 refused;         /* A: counter */
    filchi_atomic_u64 room_waits;      /* A: counter */
    filchi_atomic_u64 queue_high;      /* A: the most that waited in the queue, as far as seen */
    filchi_atomic_u64 dropped;         /* A: what a full queue had to give up */
    filchi_atomic_u64 rejected;        /* A: counter; refused because the queue was full */
    filchi_atomic_u64 run_inside;      /* A: counter; run in the call of a foreign thread */
    filchi_atomic_u64 resizes;         /* A: counter */
    filchi_atomic_u32 closing; /* A: FILCHI_CLOSED, FILCHI_CANCELLED; written under `life` */
    filchi_atomic_u32 stop;    /* A: the workers shall end */
    filchi_atomic_u32 active;  /* A: workers on duty; written under `gate` */
    filchi_atomic_u32 paused;  /* A: no detached task starts; written under `gate` */
    uint64_t pauses;           /* under `gate`: without their resume */
    filchi_follow follow;
    uint32_t door_mask;       /* I: doors in use, less one */
    bool barrier;             /* I: thieves may take forks that are not offered */
    bool given_up;            /* I: create failed; the workers end without a hook */
    filchi_mutex gate;        /* held by create until worker_count is known, then by resize */
    unsigned started;         /* under `gate`: workers that have a thread */
    filchi_atomic_u32 bound;  /* A: of these, bound to a CPU; written under `gate` */
    filchi_cpu_spot *spots;   /* for workers in turns, under `gate`; NULL: they are not bound */
    filchi_near *nears;       /* I: config.max_workers of them, by place; NULL: nobody is bound */
    size_t spot_room;         /* I */
    size_t spot_count;        /* under `gate` */
    filchi_mutex life;        /* held by shutdown */
    bool stopped;             /* L: the threads are joined */
    bool abandoned;           /* L: the last shutdown has given it up */
    filchi_thread undertaker; /* which destroys it then */
    bool is_default;          /* I */
    uint32_t alive;           /* FILCHI_POOL_ALIVE until it is freed; debug builds look */
    uint32_t generation;      /* I: filchi_fork_generation() of its process */
    uint32_t search_rounds;   /* I: tries before an idle worker parks */
    unsigned worker_count;    /* I: workers there can be */
    unsigned workers_asked;   /* I: to begin with */
    filchi_worker **workers;  /* I: config.max_workers of them */
    filchi_config config;     /* I */
    filchi_stopwatch wall;    /* A: from the gate to the end of a shutdown */
};

/* Regions for guests (spi.c): one is there from the start, others are kept. */
bool filchi_guest_memory_init(filch_pool *pool);
void filchi_guest_memory_fini(filch_pool *pool);

bool filchi_pool_forked(const filch_pool *pool);
bool filchi_pool_stopping(const filch_pool *pool);
bool filchi_pool_cancelling(const filch_pool *pool);
/* Has a shutdown begun? */
bool filchi_pool_closed(const filch_pool *pool);

/* Shall detached tasks wait? A worker that is about to start one at the bottom of its stack waits
 * until they need not; further up the wait might be for a resume that is made below. */
bool filchi_pool_paused(const filch_pool *pool);
void filchi_pool_hold(filchi_worker *worker, filchi_work work);
/* The shutdown: the pool goes on, however many resumes are outstanding. */
void filchi_pool_end_pauses(filch_pool *pool);

/* A foreign thread enters a call that hands work in: one more caller and one more task. False:
 * closed, and it is out again. Its last touch of the pool is filchi_pool_caller_exit. */
bool filchi_pool_caller_enter(filch_pool *pool);
bool filchi_pool_caller_enter_many(filch_pool *pool, uint32_t tasks);
/* The same, also if it is closed: the caller has something that keeps the pool. */
void filchi_pool_caller_come(filch_pool *pool, uint32_t tasks);
void filchi_pool_caller_exit(filch_pool *pool);

/* Count a task or root that is refused; returns `why`. */
filch_status filchi_pool_refuse(filch_pool *pool, filch_status why);
filch_status filchi_pool_refuse_many(filch_pool *pool, size_t tasks, filch_status why);

/* Accepted tasks have ended, but not as a worker's own, which its counters tell. */
void filchi_pool_tasks_ended(filch_pool *pool, uint32_t tasks);

/* A worker has nothing at hand: if it ended the last task, those who wait for quiet wake. */
void filchi_account_ran_dry(filchi_worker *worker);

/* What is pending: tasks accepted and not ended, and foreign threads inside a call. */
typedef struct filchi_pending {
    uint64_t tasks;
    uint64_t callers;
} filchi_pending;

filchi_pending filchi_account_read(const filch_pool *pool);

/* Wait until no task is pending and nobody is inside a call. FILCH_E_TIMEOUT, FILCH_E_NOMEM. */
filch_status filchi_pool_wait_account(filch_pool *pool, filch_time until);

/* A detached task was published, with seq_cst: somebody is woken for it, if need be. */
static inline void filchi_pool_task_published(filch_pool *pool)
{
    if (filchi_sleep_task_needs_wake(filchi_sleep_look(&pool->sleep))) {
        filchi_sleep_wake_for_task(pool);
    }
}

/* Under `gate`: start threads until `wanted` workers have one; returns how many of these do. */
unsigned filchi_pool_start_workers(filch_pool *pool, unsigned wanted);
/* All that are off duty look again whether they are. */
void filchi_pool_wake_resting(filch_pool *pool);

#endif
