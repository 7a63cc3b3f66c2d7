/* SPDX-License-Identifier: MIT */
/* Pools for tests: see pool.h. */
#include "support/pool.h"

filch_pool *test_pool_make_as(const filch_pool_config *config)
{
    filch_pool *pool = NULL;
    assert_int_equal(filch_pool_create(config, &pool), FILCH_OK);
    assert_non_null(pool);
    return pool;
}

filch_pool *test_pool_make(unsigned workers)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = workers;
    config.flags = FILCH_POOL_STRICT;
    filch_pool *pool = test_pool_make_as(&config);
    assert_int_equal(filch_pool_workers(pool), workers);
    return pool;
}

filch_stats test_pool_stats(const filch_pool *pool)
{
    filch_stats stats = FILCH_STATS_INIT;
    assert_int_equal(filch_stats_read(pool, &stats), FILCH_OK);
    return stats;
}

void test_pool_close(filch_pool *pool)
{
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    filch_stats stats = test_pool_stats(pool);
    assert_int_equal(stats.pending, 0);
    assert_int_equal(stats.accepted, stats.total.tasks_run + stats.queue_run +
                                         stats.total.tasks_cancelled + stats.queue_dropped);
    assert_int_equal(filch_pool_destroy(pool), FILCH_OK);
    test_assert_clean();
}

unsigned test_default_workers(void)
{
    filch_cpus cpus = FILCH_CPUS_INIT;
    assert_int_equal(filch_cpus_read(NULL, &cpus), FILCH_OK);
    return cpus.cpu_bound;
}

void test_pool_run(filch_pool *pool, filch_fn *fn, void *arg)
{
    assert_int_equal(filch_run(pool, fn, arg), FILCH_OK);
    test_assert_clean();
}

void test_count_task(filch_cx *cx, void *arg)
{
    (void)cx;
    atomic_fetch_add((atomic_uint *)arg, 1);
}

void test_count_range(filch_cx *cx, void *ctx, filch_range range)
{
    (void)cx;
    atomic_fetch_add((atomic_uint *)ctx, (unsigned)(range.hi - range.lo));
}

uintptr_t test_fork_tree(filch_cx *cx, uintptr_t n)
{
    if (n < 2) {
        return n;
    }
    filch_pair pair = filch_join2_word(cx, test_fork_tree, n - 1, test_fork_tree, n - 2);
    return pair.first + pair.second;
}

void test_answer_roll(filch_cx *cx, void *roll_call)
{
    test_roll_call *r = roll_call;
    (void)cx;
    atomic_fetch_add(&r->begun, 1);
    test_await(&r->begun, r->expected);
}
