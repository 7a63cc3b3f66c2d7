/* SPDX-License-Identifier: MIT */
/* A tree of tokens under one lock; a stop walks it without a stack of its own. */
#include "sync/token.h"

#include "base/alloc.h"
#include "base/compiler.h"

static bool forked(const filch_token *token)
{
    return token->generation != filchi_fork_generation();
}

/* Link a new token into the tree of its parent, or make it the root of one of its own. */
static bool plant(filch_token *token, filch_token *parent)
{
    token->parent = parent;
    if (parent == NULL) {
        token->lock = &token->own_lock;
        return filchi_mutex_init(&token->own_lock);
    }
    token->lock = parent->lock;
    filchi_mutex_lock(token->lock);
    filchi_list_push_back(&parent->children, &token->siblings);
    /* relaxed, both: under the lock; the lock has brought what the stopper wrote */
    filchi_store_relaxed_u32(&token->stopped, filchi_load_relaxed_u32(&parent->stopped));
    filchi_mutex_unlock(token->lock);
    return true;
}

filch_status filch_token_create(filch_token *parent, const filch_allocator *allocator,
                                filch_token **out_token)
{
    if (out_token == NULL || !filchi_allocator_valid(allocator)) {
        return FILCH_E_INVALID;
    }
    if (parent != NULL && forked(parent)) {
        return FILCH_E_FORKED;
    }
    const filch_allocator *source = allocator != NULL ? allocator : &filchi_libc_allocator;
    filch_token *token = filchi_fork_watch() ? filchi_alloc_zeroed(source, sizeof(*token)) : NULL;
    if (token == NULL) {
        return FILCH_E_NOMEM;
    }
    token->allocator = *source;
    token->generation = filchi_fork_generation();
    filchi_list_init(&token->siblings);
    filchi_list_init(&token->children);
    filchi_list_init(&token->waits);
    if (!plant(token, parent)) {
        filchi_free(source, token, sizeof(*token));
        return FILCH_E_NOMEM;
    }
    *out_token = token;
    return FILCH_OK;
}

/* Those who wait stay listed until they leave, so that nobody destroys the token under them. */
static void stop_one(filch_token *token)
{
    /* relaxed: under the lock */
    if (filchi_load_relaxed_u32(&token->stopped) != 0) {
        return;
    }
    /* [TOKEN-2] release, pairs with TOKEN-1: what the stopper wrote is visible to who sees it. */
    filchi_store_release_u32(&token->stopped, 1);
    for (filchi_link *link = token->waits.next; link != &token->waits; link = link->next) {
        filchi_token_wait *wait = FILCHI_CONTAINER(link, filchi_token_wait, link);
        wait->wake(wait);
    }
}

static filch_token *token_of(filchi_link *siblings)
{
    return FILCHI_CONTAINER(siblings, filch_token, siblings);
}

/* The next one below `top`, parents first; NULL: that was the last. */
static filch_token *next_below(filch_token *top, filch_token *token)
{
    if (!filchi_list_empty(&token->children)) {
        return token_of(token->children.next);
    }
    while (token != top && token->siblings.next == &token->parent->children) {
        token = token->parent;
    }
    return token != top ? token_of(token->siblings.next) : NULL;
}

filch_status filch_token_stop(filch_token *token)
{
    if (token == NULL) {
        return FILCH_E_INVALID;
    }
    if (forked(token)) {
        return FILCH_E_FORKED;
    }
    filchi_mutex_lock(token->lock);
    for (filch_token *one = token; one != NULL; one = next_below(token, one)) {
        stop_one(one);
    }
    filchi_mutex_unlock(token->lock);
    return FILCH_OK;
}

int filch_token_stopped(const filch_token *token)
{
    return filchi_token_stopped(token);
}

filch_status filch_token_destroy(filch_token *token)
{
    if (token == NULL) {
        return FILCH_OK;
    }
    if (!forked(token)) { /* in a child the lock may be held by a thread that is not there */
        filchi_mutex_lock(token->lock);
        const bool used = !filchi_list_empty(&token->children) || !filchi_list_empty(&token->waits);
        if (!used) {
            filchi_list_remove(&token->siblings);
        }
        filchi_mutex_unlock(token->lock);
        if (used) {
            return FILCH_E_BUSY;
        }
        if (token->parent == NULL) {
            filchi_mutex_destroy(&token->own_lock);
        }
    }
    const filch_allocator allocator = token->allocator;
    filchi_free(&allocator, token, sizeof(*token));
    return FILCH_OK;
}

bool filchi_token_enter(filch_token *token, filchi_token_wait *wait,
                        void (*wake)(filchi_token_wait *wait))
{
    filchi_list_init(&wait->link);
    wait->wake = wake;
    if (token == NULL) {
        return true;
    }
    filchi_mutex_lock(token->lock);
    /* relaxed: under the lock */
    const bool stopped = filchi_load_relaxed_u32(&token->stopped) != 0;
    if (!stopped) {
        filchi_list_push_back(&token->waits, &wait->link);
    }
    filchi_mutex_unlock(token->lock);
    return !stopped;
}

void filchi_token_leave(filch_token *token, filchi_token_wait *wait)
{
    if (token != NULL) {
        filchi_mutex_lock(token->lock);
        filchi_list_remove(&wait->link);
        filchi_mutex_unlock(token->lock);
    }
}
