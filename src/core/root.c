/* SPDX-License-Identifier: MIT */
/* Roots: a foreign thread hands a call in and waits for it. The record lies on the caller's stack;
 * the latch is the pool's last touch of it. */
#include <filch/fork.h>

#include "core/full.h"
#include "core/place.h"
#include "core/pool.h"
#include "sync/latch.h"

typedef struct root {
    filch_fn *fn;
    filch_word_fn *word_fn; /* NULL: fn is to be called */
    void *arg;
    uintptr_t word; /* argument, then result of word_fn */
    filch_end how;
    filchi_latch latch;
} root;

static void run_root(filch_cx *cx, void *object)
{
    root *call = object;
    if (call->word_fn != NULL) {
        call->word = call->word_fn(cx, call->word);
    } else {
        call->fn(cx, call->arg);
    }
}

static void end_root(void *object, filch_end how)
{
    root *call = object;
    call->how = how;
    filchi_latch_set(&call->latch);
}

static filch_status run_foreign(filch_pool *pool, root *call)
{
    filchi_parker parker;
    if (!filchi_parker_init(&parker)) {
        return filchi_pool_refuse(pool, FILCH_E_NOMEM);
    }
    filchi_latch_init(&call->latch);
    filchi_job job;
    job.fn = run_root;
    job.end = end_root;
    job.label = NULL;
    job.arg = call;
    job.kind = FILCHI_JOB_POINTER;
    filchi_full_stamp(pool, &job);
    filch_status status;
    if (!filchi_pool_caller_enter(pool)) {
        status = filchi_pool_refuse(pool, FILCH_E_CLOSED);
    } else {
        size_t done;
        const filchi_full_options wait = { FILCH_FULL_BLOCK, FILCH_FOREVER, NULL };
        (void)filchi_full_put(pool, &job, 1, wait, &done);
        filchi_pool_caller_exit(pool);
        filchi_latch_wait(&call->latch, &parker);
        status = call->how == FILCH_RAN ? FILCH_OK : FILCH_E_CANCELLED;
    }
    filchi_parker_destroy(&parker);
    return status;
}

static filch_status run_anywhere(filch_pool *pool, root *call)
{
    if (filchi_pool_forked(pool)) {
        return FILCH_E_FORKED;
    }
    filchi_worker *worker = filchi_place_worker(pool);
    if (worker != NULL) {
        filchi_lane *lane = &worker->lane;
        filchi_lane_run(lane, filchi_lane_top(lane, lane->cx), (filchi_work){ run_root, call });
        return FILCH_OK;
    }
    return run_foreign(pool, call);
}

filch_status filch_run(filch_pool *pool, filch_fn *fn, void *arg)
{
    if (pool == NULL || fn == NULL) {
        return FILCH_E_INVALID;
    }
    root call = { .fn = fn, .arg = arg };
    return run_anywhere(pool, &call);
}

filch_status filch_run_word(filch_pool *pool, filch_word_fn *fn, uintptr_t arg,
                            uintptr_t *out_value)
{
    if (pool == NULL || fn == NULL) {
        return FILCH_E_INVALID;
    }
    root call = { .word_fn = fn, .word = arg };
    const filch_status status = run_anywhere(pool, &call);
    if (status == FILCH_OK && out_value != NULL) {
        *out_value = call.word;
    }
    return status;
}
