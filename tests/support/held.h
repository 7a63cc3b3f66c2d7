/* SPDX-License-Identifier: MIT */
/* A pool whose workers are held in a task each, so that what is posted waits until they are let go. */
#ifndef FILCH_TEST_HELD_H
#define FILCH_TEST_HELD_H

#include "support/pool.h"

#include <string.h>

typedef struct held {
    filch_pool *pool;
    atomic_uint in;
    atomic_uint open;
} held;

static inline void hold_one(filch_cx *cx, void *arg)
{
    held *h = arg;
    TEST_CHECK(!filch_stopped(cx));
    atomic_fetch_add(&h->in, 1);
    test_await(&h->open, 1);
}

static inline void hold_as(held *h, const filch_pool_config *config)
{
    memset(h, 0, sizeof(*h));
    h->pool = test_pool_make_as(config);
    for (unsigned i = 0; i < config->workers; i++) {
        filch_submit_options wait = FILCH_SUBMIT_OPTIONS_INIT;
        wait.full = FILCH_FULL_BLOCK;
        assert_int_equal(filch_post(h->pool, hold_one, h, 0, &wait), FILCH_OK);
        test_await(&h->in, i + 1);
    }
}

static inline void hold(held *h, unsigned workers, size_t queue_tasks)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = workers;
    config.queue_tasks = queue_tasks;
    hold_as(h, &config);
}

/* The held tasks end, and all that waited. */
static inline void let_go(held *h)
{
    atomic_store(&h->open, 1);
    assert_int_equal(filch_pool_wait_quiet(h->pool, FILCH_FOREVER), FILCH_OK);
}

#endif
