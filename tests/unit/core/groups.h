/* SPDX-License-Identifier: MIT */
/* What the tests of groups share. Main thread only, unless a helper just posts or waits. */
#ifndef FILCH_TEST_GROUPS_H
#define FILCH_TEST_GROUPS_H

#include "support/ends.h"
#include "support/held.h"

static inline filch_group *make_group(filch_pool *pool, unsigned flags)
{
    filch_group *group = NULL;
    filch_group_config config = FILCH_GROUP_CONFIG_INIT;
    config.flags = flags;
    TEST_CHECK(filch_group_create(pool, &config, &group) == FILCH_OK);
    return group;
}

static inline void destroy_group(filch_group *group)
{
    TEST_CHECK(filch_group_destroy(group) == FILCH_OK);
}

static inline filch_status post(filch_group *group, filch_pool *pool, filch_fn *fn, void *arg)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.group = group;
    return filch_post(pool, fn, arg, 0, &options);
}

static inline filch_status wait_for(filch_group *group)
{
    filch_status first = FILCH_E_INVALID;
    TEST_CHECK(filch_group_wait(group, FILCH_FOREVER, NULL, &first) == FILCH_OK);
    return first;
}

static inline void expect_sums(filch_pool *pool)
{
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    const filch_stats s = test_pool_stats(pool);
    assert_int_equal(s.accepted,
                     s.total.tasks_run + s.queue_run + s.total.tasks_cancelled + s.queue_dropped);
    assert_int_equal(s.pending, 0);
}

static inline void let_go_and_close(held *h)
{
    let_go(h);
    expect_sums(h->pool);
    test_pool_close(h->pool);
}

static inline void run_it(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
    atomic_fetch_add(&runs, 1);
}

enum { THOUSAND = 1000 };

static filch_task tasks[THOUSAND];

static inline void submit_thousand(filch_pool *pool, filch_group *group)
{
    filch_task *pointers[THOUSAND];
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    size_t accepted = 0;
    options.group = group;
    options.end = note_end;
    for (int i = 0; i < THOUSAND; i++) {
        tasks[i] = (filch_task)FILCH_TASK_INIT(run_it, NULL);
        pointers[i] = &tasks[i];
    }
    TEST_CHECK(filch_submit_many(pool, pointers, THOUSAND, &options, &accepted) == FILCH_OK);
    TEST_CHECK(accepted == THOUSAND);
}

#endif
