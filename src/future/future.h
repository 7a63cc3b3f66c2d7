/* SPDX-License-Identifier: MIT */
/* Futures from the inside: one counted object under its own lock. README.md has the states, who holds
 * which reference, and why nobody touches what is gone. */
#ifndef FILCHI_FUTURE_FUTURE_H
#define FILCHI_FUTURE_FUTURE_H

#include <filch/future.h>

#include "base/list.h"
#include "core/spi.h"

/* What happens when a future ends, on the thread that ended it, without a lock. What is to happen next
 * goes onto `due`, so that a chain of ends needs no stack. */
typedef struct filchi_watch {
    filchi_link link;
    void (*fire)(struct filchi_watch *watch, filchi_link *due);
} filchi_watch;

typedef enum filchi_future_kind {
    FILCHI_FUTURE_PROMISE,
    FILCHI_FUTURE_TASK,
    FILCHI_FUTURE_ALL,
    FILCHI_FUTURE_ANY
} filchi_future_kind;

/* I: set at creation   L: under `lock`   E: written before the end, read after it   A: atomic */
struct filch_future {
    filchi_atomic_u64 references; /* A */
    filchi_atomic_u32 ended;      /* A, written under the lock, once */
    filchi_future_kind kind;      /* I */
    filch_status status;          /* E */
    uint32_t generation;          /* I: filchi_fork_generation() of its process */
    size_t index;                 /* E: of all and any */
    size_t bytes;                 /* I: of the value */
    void *value;                  /* I: it lies in the block; its bytes: E */
    size_t block_bytes;           /* I */
    filchi_link watches;          /* L */
    filchi_link waiters;          /* L: threads */
    filchi_mutex lock;
    filch_allocator allocator; /* I */
};

struct filch_promise {
    filch_future future;
    bool claimed; /* L: somebody ends it */
    bool dropped; /* L */
};

/* A task, detached or one that waits for its input. */
typedef enum filchi_future_stage {
    FILCHI_FUTURE_IDLE,   /* its input has not ended */
    FILCHI_FUTURE_READY,  /* it is in a queue: who claims it runs it */
    FILCHI_FUTURE_CLAIMED /* it runs, or ends without */
} filchi_future_stage;

typedef struct filchi_future_task {
    filch_future future;
    filchi_watch watch; /* in the input */
    filch_task entry;   /* in a queue */
    filch_pool *pool;   /* I; alive until the claim, and held until the end of a continuation */
    filch_async_fn *async;
    filch_then_fn *then; /* NULL: it is no continuation */
    void *data;
    filch_end_fn *end;
    const char *label;
    filch_token *stop;
    filch_time start_by;       /* or 0 */
    filch_future *input;       /* L: NULL when there is none, or it is no more needed */
    filchi_future_stage stage; /* L */
    uintptr_t runner;          /* L: the thread that runs it, or 0 */
} filchi_future_task;

typedef struct filchi_combined filchi_combined;

typedef struct filchi_leg {
    filchi_watch watch; /* in the input */
    filchi_combined *owner;
    filch_future *input; /* L, of the owner: NULL when it has ended */
} filchi_leg;

struct filchi_combined {
    filch_future future;
    size_t count;      /* I */
    size_t left;       /* L */
    bool decided;      /* L */
    filch_status wins; /* L */
    size_t by;         /* L */
    filchi_leg legs[];
};

/* A block of `head` bytes that begins with a future, one reference, and behind it room for `extra` and
 * for the value; *out_extra is that room. NULL: no memory. */
filch_future *filchi_future_make(const filch_allocator *allocator, filchi_future_kind kind,
                                 size_t head, size_t extra, size_t value_bytes, void **out_extra);
void filchi_future_free(filch_future *future);

bool filchi_future_forked(const filch_future *future);

/* End it; what its watches are to do goes onto `due`. Or do it all. */
void filchi_future_end(filch_future *future, filch_status status, filchi_link *due);
void filchi_future_end_all(filch_future *future, filch_status status);
void filchi_future_do_due(filchi_link *due);

/* At the end of `future` the watch fires, now if it has ended. */
void filchi_future_watch(filch_future *future, filchi_watch *watch, filchi_link *due);

/* A thread that waits: claim and run one task that `future` needs. False: there is none. */
bool filchi_future_help(filch_future *future);

/* Under the lock of the task: may this thread run it inside a wait? Then it is claimed. */
bool filchi_future_claim_to_help(filchi_future_task *task);
void filchi_future_run_claimed(filchi_future_task *task);

#endif
