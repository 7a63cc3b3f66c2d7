/* SPDX-License-Identifier: MIT */
/* The lane behind filch_cx: a stack that tasks run on, with its outstanding forks. Each worker has
 * one. A foreign thread that takes part in a loop gets a guest lane for that time: its deque has no
 * room, so its forks run on the spot. */
#ifndef FILCHI_CORE_CX_H
#define FILCHI_CORE_CX_H

#include "base/rng.h"
#include "core/arena.h"
#include "plat/plat.h"
#include "queue/deque.h"

typedef struct filchi_worker filchi_worker;
typedef struct filchi_fork filchi_fork;

/* How an item of a deque is run: `object` is its first word, this its second. */
typedef void filchi_run_fn(filch_cx *cx, void *object);

struct filch_cx {
    filch_deque forks;
    filch_pool *pool;
    filchi_worker *worker;    /* NULL: a guest */
    filchi_parker *parker;    /* for waits on this lane */
    const char *label;        /* of the detached task that runs */
    filchi_fork *newest_fork; /* debug builds: the one that must be joined next */
    uint32_t open_scopes;     /* debug builds */
    char *help_floor;         /* a stack pointer below this is too deep to help in a wait */
    char *inline_floor;       /* and below this to run a task inside its post */
    uint32_t help_depth;      /* tasks that were started inside a wait, on this stack */
    bool isolated;            /* waits run nothing */
    filchi_rng rng;
    filchi_arena arena;
};

/* Debug builds: whatever a call forks it joins before it returns. */
typedef struct filchi_call {
    const filchi_fork *newest_fork;
    uint32_t open_scopes;
} filchi_call;

static inline filchi_call filchi_call_begin(const filch_cx *cx)
{
    return (filchi_call){ cx->newest_fork, cx->open_scopes };
}

static inline void filchi_call_end(const filch_cx *cx, filchi_call call)
{
    FILCHI_RULE(call.newest_fork == cx->newest_fork && call.open_scopes == cx->open_scopes,
                "a task joins its forks and ends its scopes before it returns");
    (void)cx;
    (void)call;
}

/* Run an item that came from a deque. */
static inline void filchi_run_item(filch_cx *cx, filch_item item)
{
    filchi_run_fn *run = (filchi_run_fn *)item.second;
    run(cx, (void *)item.first);
}

#endif
