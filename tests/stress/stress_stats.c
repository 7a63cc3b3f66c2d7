/* SPDX-License-Identifier: MIT */
/* Reading a pool from outside, at a high rate, while it works: every getter, from a thread that is
 * no worker. Counters never go back, the sums agree once the pool is quiet, and TSan has nothing to
 * say. */
#include "support/pool.h"

#include <stdio.h>
#include <string.h>

typedef struct monitor {
    filch_pool *pool;
    atomic_bool stop;
    atomic_uint began;
    size_t reads;
} monitor;

/* A counter that went back is a wrong one. */
static void expect_not_less(const filch_worker_stats *now, const filch_worker_stats *before)
{
    TEST_CHECK(now->tasks_run >= before->tasks_run);
    TEST_CHECK(now->tasks_cancelled >= before->tasks_cancelled);
    TEST_CHECK(now->tasks_posted >= before->tasks_posted);
    TEST_CHECK(now->injected_taken >= before->injected_taken);
    TEST_CHECK(now->forks_stolen >= before->forks_stolen);
    TEST_CHECK(now->loops_joined >= before->loops_joined);
    TEST_CHECK(now->steals_won >= before->steals_won);
    TEST_CHECK(now->steals_lost >= before->steals_lost);
    TEST_CHECK(now->steals_empty >= before->steals_empty);
    TEST_CHECK(now->parks >= before->parks);
    TEST_CHECK(now->wakes >= before->wakes);
    TEST_CHECK(now->busy_ns >= before->busy_ns);
    TEST_CHECK(now->searching_ns >= before->searching_ns);
    TEST_CHECK(now->parked_ns >= before->parked_ns);
    TEST_CHECK(now->resting_ns >= before->resting_ns);
}

static void *watch(void *arg)
{
    enum { WORKERS_MAX = 8 };
    monitor *m = arg;
    filch_worker_stats last[WORKERS_MAX];
    filch_stats all_before = FILCH_STATS_INIT;
    unsigned workers = filch_pool_workers(m->pool);
    memset(last, 0, sizeof(last));
    while (!atomic_load_explicit(&m->stop, memory_order_relaxed)) {
        filch_stats all = FILCH_STATS_INIT;
        TEST_CHECK(filch_pool_workers(m->pool) == workers);
        TEST_CHECK(filch_slots(m->pool) == workers + 1);
        TEST_CHECK(filch_stats_read(m->pool, &all) == FILCH_OK);
        TEST_CHECK(all.workers == workers && all.workers_asked == workers);
        TEST_CHECK(all.accepted >= all_before.accepted);
        TEST_CHECK(all.wall_ns >= all_before.wall_ns);
        TEST_CHECK(strcmp(all.park_backend, "futex") == 0 ||
                   strcmp(all.park_backend, "condvar") == 0);
        expect_not_less(&all.total, &all_before.total);
        all_before = all;
        for (unsigned w = 0; w < workers; w++) {
            filch_worker_stats one;
            TEST_CHECK(filch_stats_read_worker(m->pool, w, &one) == FILCH_OK);
            expect_not_less(&one, &last[w]);
            last[w] = one;
        }
        m->reads++;
        atomic_store(&m->began, 1);
    }
    return NULL;
}

static void nop(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
}

static void nop_range(filch_cx *cx, void *ctx, filch_range range)
{
    (void)cx;
    (void)ctx;
    (void)range;
}

static uintptr_t tree(filch_cx *cx, uintptr_t depth)
{
    if (depth == 0) {
        return 1;
    }
    filch_pair pair = filch_join2_word(cx, tree, depth - 1, tree, depth - 1);
    return pair.first + pair.second;
}

static void mixed_task(filch_cx *cx, void *arg)
{
    TEST_CHECK(tree(cx, 6) == 64);
    TEST_CHECK(filch_for(cx, 500, nop_range, NULL, NULL) == FILCH_OK);
    for (int i = 0; i < 3; i++) {
        TEST_CHECK(filch_post(filch_cx_pool(cx), nop, arg, 0, NULL) == FILCH_OK);
    }
}

static void expect_sums(filch_pool *pool, size_t rounds)
{
    filch_stats all = test_pool_stats(pool);
    filch_worker_stats sum;
    memset(&sum, 0, sizeof(sum));
    for (unsigned w = 0; w < all.workers; w++) {
        filch_worker_stats one;
        assert_int_equal(filch_stats_read_worker(pool, w, &one), FILCH_OK);
        sum.tasks_run += one.tasks_run;
        sum.tasks_posted += one.tasks_posted;
        sum.injected_taken += one.injected_taken;
        sum.forks_stolen += one.forks_stolen;
        sum.steals_won += one.steals_won;
        assert_true(one.forks_stolen <= one.steals_won);
        assert_true(one.tasks_inline <= one.tasks_run);
    }
    assert_int_equal(all.total.tasks_run, sum.tasks_run);
    assert_int_equal(all.total.forks_stolen, sum.forks_stolen);
    assert_int_equal(all.total.steals_won, sum.steals_won);
    assert_int_equal(all.pending, 0);
    assert_int_equal(all.accepted, 5 * rounds);
    assert_int_equal(sum.tasks_run, 5 * rounds);
    assert_int_equal(sum.tasks_posted, 3 * rounds);
    assert_int_equal(sum.injected_taken, 2 * rounds);
}

static void stats__read_all_the_time__never_go_back_and_add_up(void **state)
{
    size_t rounds = test_count(20000, 5000);
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        monitor m = { .pool = test_pool_make(workers) };
        pthread_t thread;
        test_thread_start(&thread, watch, &m);
        for (size_t i = 0; i < rounds; i++) {
            assert_int_equal(filch_post(m.pool, mixed_task, NULL, 0, NULL), FILCH_OK);
            if (i % 4 == 0) {
                test_pool_run(m.pool, nop, NULL);
            } else {
                assert_int_equal(filch_post(m.pool, nop, NULL, 0, NULL), FILCH_OK);
            }
        }
        assert_int_equal(filch_pool_wait_quiet(m.pool, FILCH_FOREVER), FILCH_OK);
        test_await(&m.began, 1); /* a busy machine may not have let it run yet */
        atomic_store(&m.stop, true);
        test_thread_join(thread);
        printf("%u workers: read %zu times\n", workers, m.reads);
        assert_true(test_is_short() || m.reads > 0);
        expect_sums(m.pool, rounds);
        test_pool_close(m.pool);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(stats__read_all_the_time__never_go_back_and_add_up),
    };
    test_begin(200);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
