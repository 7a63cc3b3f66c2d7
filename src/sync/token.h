/* SPDX-License-Identifier: MIT */
/* Tokens, from the inside: who waits with one on an eventcount. README.md, "Token".
 *
 * All tokens of a tree are linked under one lock, the root's. */
#ifndef FILCHI_SYNC_TOKEN_H
#define FILCHI_SYNC_TOKEN_H

#include <filch/task.h>

#include "sync/eventcount.h"

/* L: under `lock`   I: set at creation   A: atomic, any thread */
struct filch_token {
    filchi_atomic_u32 stopped;  /* A: only ever set, under `lock` */
    uint32_t generation;        /* I: filchi_fork_generation() of its process */
    filchi_mutex *lock;         /* I: the root's `own_lock` */
    struct filch_token *parent; /* I: NULL: the root */
    filchi_link siblings;       /* L: in `children` of the parent */
    filchi_link children;       /* L */
    filchi_link waits;          /* L */
    filch_allocator allocator;  /* I */
    filchi_mutex own_lock;      /* in use in a root only */
};

/* A wait for something else that the token may end. It lives in the frame of who waits. */
typedef struct filchi_token_wait {
    filchi_link link; /* under the token's lock */
    void (*wake)(struct filchi_token_wait *wait);
} filchi_token_wait;

static inline bool filchi_token_stopped(const filch_token *token)
{
    /* [TOKEN-1] acquire, pairs with TOKEN-2: what was written before the stop is visible. */
    return token != NULL && filchi_load_acquire_u32(&token->stopped) != 0;
}

/* From now on a stop calls `wake`, under the token's lock: it must not block, and touches nothing after
 * it has released what it waits for. False, and nothing is called: it was stopped before. NULL token:
 * nothing to do. */
bool filchi_token_enter(filch_token *token, filchi_token_wait *wait,
                        void (*wake)(filchi_token_wait *wait));
/* After filchi_token_enter was true. Then `wake` is not called any more, nor still at work. */
void filchi_token_leave(filch_token *token, filchi_token_wait *wait);

#endif
