/* SPDX-License-Identifier: MIT */
/* Pools for tests: made and closed with the checks that hold for every pool. Main thread only. */
#ifndef FILCH_TEST_POOL_H
#define FILCH_TEST_POOL_H

#include <filch/filch.h>

#include "support/test.h"

/* A pool of so many workers, with defaults otherwise; or as configured. */
filch_pool *test_pool_make(unsigned workers);
filch_pool *test_pool_make_as(const filch_pool_config *config);

/* Wait until it is quiet, check that the sums agree, destroy it, and see no failed checks. */
void test_pool_close(filch_pool *pool);

/* Workers of a pool that leaves their number open, as filch_cpus_read tells it. */
unsigned test_default_workers(void);

/* The counters of a pool. */
filch_stats test_pool_stats(const filch_pool *pool);

/* Run as a root and insist on FILCH_OK. */
void test_pool_run(filch_pool *pool, filch_fn *fn, void *arg);

/* Work for tests that ask how a pool lives, and not what it computes: add 1, or the size of the
 * piece, to the atomic_uint that is the argument; Fibonacci's number by a fork a node. */
void test_count_task(filch_cx *cx, void *arg);
void test_count_range(filch_cx *cx, void *ctx, filch_range range);
uintptr_t test_fork_tree(filch_cx *cx, uintptr_t n);

/* All workers at once: a task that waits until as many of its kind as expected have begun. */
typedef struct test_roll_call {
    atomic_uint begun;
    unsigned expected;
} test_roll_call;

void test_answer_roll(filch_cx *cx, void *roll_call);

#endif
