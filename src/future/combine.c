/* SPDX-License-Identifier: MIT */
/* All and any; and what a thread that waits for a future can do for it. README.md, "Helping". */
#include "future/future.h"

#include "base/alloc.h"

enum {
    MAX_DEPTH = 16,  /* all and any on top of one another; each is a frame of the search */
    MAX_LOOKS = 1024 /* inputs looked at in one search; the same one may be met often */
};

static filchi_combined *combined_of(filch_future *future)
{
    return FILCHI_CONTAINER(future, filchi_combined, future);
}

/* Under the lock: does this input end the whole? */
static bool decide(filchi_combined *all, size_t index, filch_status status)
{
    const bool any = all->future.kind == FILCHI_FUTURE_ANY;
    const bool begun = all->wins != FILCH_OK || all->decided;
    if (any ? !all->decided : (status != FILCH_OK && !begun)) {
        all->wins = status;
        all->by = index;
    }
    all->left--;
    const bool last = any ? !all->decided : all->left == 0;
    all->decided = all->decided || last;
    return last;
}

static void fire(filchi_watch *watch, filchi_link *due)
{
    filchi_leg *leg = FILCHI_CONTAINER(watch, filchi_leg, watch);
    filchi_combined *all = leg->owner;
    filch_future *input = leg->input;
    filchi_mutex_lock(&all->future.lock);
    const bool last = decide(all, (size_t)(leg - all->legs), input->status);
    leg->input = NULL;
    filchi_mutex_unlock(&all->future.lock);
    filch_future_release(input);
    if (last) {
        all->future.index = all->by;
        filchi_future_end(&all->future, all->wins, due);
    }
    filch_future_release(&all->future);
}

static filch_status check(filch_future *const *futures, size_t count)
{
    if (futures == NULL && count != 0) {
        return FILCH_E_INVALID;
    }
    if (count > SIZE_MAX / 4 / sizeof(filchi_leg)) {
        return FILCH_E_NOMEM;
    }
    filch_status status = FILCH_OK;
    for (size_t i = 0; i < count; i++) {
        if (futures[i] == NULL) {
            return FILCH_E_INVALID;
        }
        status = filchi_future_forked(futures[i]) ? FILCH_E_FORKED : status;
    }
    return status;
}

/* Each leg has a reference of the whole, until it fires. */
static filch_status combine(filchi_future_kind kind, filch_future *const *futures, size_t count,
                            const filch_allocator *allocator, filch_future **out_future)
{
    if (out_future == NULL || !filchi_allocator_valid(allocator)) {
        return FILCH_E_INVALID;
    }
    const filch_status status = check(futures, count);
    if (status != FILCH_OK) {
        return status;
    }
    void *extra;
    const filch_allocator *source = allocator != NULL ? allocator : &filchi_libc_allocator;
    filch_future *future =
        filchi_future_make(source, kind, sizeof(filchi_combined) + count * sizeof(filchi_leg), 0, 0,
                           &extra);
    if (future == NULL) {
        return FILCH_E_NOMEM;
    }
    filchi_combined *all = combined_of(future);
    filchi_link due;
    filchi_list_init(&due);
    all->count = count;
    all->left = count;
    all->by = count;
    for (size_t i = 0; i < count; i++) {
        all->legs[i] = (filchi_leg){ .watch.fire = fire,
                                     .owner = combined_of(filch_future_retain(future)),
                                     .input = filch_future_retain(futures[i]) };
    }
    for (size_t i = 0; i < count; i++) {
        filchi_future_watch(futures[i], &all->legs[i].watch, &due);
    }
    if (count == 0) {
        future->index = 0;
        filchi_future_end(future, FILCH_OK, &due);
    }
    *out_future = future;
    filchi_future_do_due(&due);
    return FILCH_OK;
}

filch_status filch_when_all(filch_future *const *futures, size_t count,
                            const filch_allocator *allocator, filch_future **out_future)
{
    return combine(FILCHI_FUTURE_ALL, futures, count, allocator, out_future);
}

filch_status filch_when_any(filch_future *const *futures, size_t count,
                            const filch_allocator *allocator, filch_future **out_future)
{
    if (count == 0) {
        return FILCH_E_INVALID;
    }
    return combine(FILCHI_FUTURE_ANY, futures, count, allocator, out_future);
}

/* Helping. */

typedef struct filchi_search {
    unsigned depth;
    unsigned looks;
} filchi_search;

static filch_future *find(filchi_search *search, filch_future *future);

/* The input with that number, retained; NULL: it has ended. */
static filch_future *input_of(filchi_combined *all, size_t index)
{
    filchi_mutex_lock(&all->future.lock);
    filch_future *input = filch_future_retain(all->legs[index].input);
    filchi_mutex_unlock(&all->future.lock);
    return input;
}

static filch_future *find_in(filchi_search *search, filchi_combined *all)
{
    filch_future *found = NULL;
    if (search->depth == MAX_DEPTH) {
        return NULL;
    }
    search->depth++;
    for (size_t i = 0; found == NULL && i < all->count && search->looks < MAX_LOOKS; i++) {
        search->looks++;
        filch_future *input = input_of(all, i);
        found = input != NULL ? find(search, input) : NULL;
    }
    search->depth--;
    return found;
}

/* Claim a task that `future` needs, and that this thread can run. Takes the reference of `future`, gives
 * that of the task. Down a chain of continuations it needs no stack. */
static filch_future *find(filchi_search *search, filch_future *future)
{
    while (future != NULL && !filch_future_ready(future)) {
        filch_future *next = NULL;
        if (future->kind == FILCHI_FUTURE_TASK) {
            filchi_future_task *task = FILCHI_CONTAINER(future, filchi_future_task, future);
            filchi_mutex_lock(&future->lock);
            const bool claimed = filchi_future_claim_to_help(task);
            if (!claimed && task->stage == FILCHI_FUTURE_IDLE) {
                next = filch_future_retain(task->input);
            }
            filchi_mutex_unlock(&future->lock);
            if (claimed) {
                return future;
            }
        } else if (future->kind != FILCHI_FUTURE_PROMISE) {
            filch_future *found = find_in(search, combined_of(future));
            filch_future_release(future);
            return found;
        }
        filch_future_release(future);
        future = next;
    }
    filch_future_release(future);
    return NULL;
}

bool filchi_future_help(filch_future *future)
{
    filchi_search search = { 0, 0 };
    filch_future *found = find(&search, filch_future_retain(future));
    if (found == NULL) {
        return false;
    }
    filchi_future_run_claimed(FILCHI_CONTAINER(found, filchi_future_task, future));
    filch_future_release(found);
    return true;
}
