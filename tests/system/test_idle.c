/* SPDX-License-Identifier: MIT */
/* An idle pool uses no CPU at all: for seconds, no worker gets a time slice. Neither does a thread
 * that waits for a pool, nor do the other workers while one of them is blocked. Three seconds, ten
 * at a scale of 4 and more; all bounds are on CPU time and context switches. */
#include "support/pool.h"

#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "support/proc.h"

enum { WORKERS = 8, THREADS_MAX = 64 };

#define CPU_NS_PER_SECOND UINT64_C(500000) /* 5 ms in ten seconds */

static unsigned window_seconds(void)
{
    return (test_scale() >= 4.0) ? 10 : 3;
}

/* Time that passes is what is measured here. */
static void let_time_pass(uint64_t ms)
{
    struct timespec span = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };
    nanosleep(&span, NULL);
}

static uint64_t switches_of_workers(size_t *out_workers, bool *out_asleep)
{
    static test_proc_thread threads[THREADS_MAX];
    size_t count = test_proc_threads(threads, THREADS_MAX);
    uint64_t switches = 0;
    *out_workers = 0;
    *out_asleep = true;
    for (size_t i = 0; i < count && i < THREADS_MAX; i++) {
        if (strncmp(threads[i].name, "idle-", 5) == 0) {
            switches += threads[i].voluntary;
            *out_asleep = *out_asleep && threads[i].state == 'S';
            ++*out_workers;
        }
    }
    return switches;
}

static void count(filch_cx *cx, void *arg)
{
    (void)cx;
    atomic_fetch_add((atomic_uint *)arg, 1);
}

static filch_pool *make_idle_pool(bool use_it)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    atomic_uint runs = 0;
    config.workers = WORKERS;
    config.name = "idle";
    filch_pool *pool = test_pool_make_as(&config);
    for (int i = 0; use_it && i < 1000; i++) {
        assert_int_equal(filch_post(pool, count, &runs, 0, NULL), FILCH_OK);
    }
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    return pool;
}

/* Wait until all workers sleep and nothing has switched for a tenth of a second. */
static bool settle(size_t workers)
{
    uint64_t before = UINT64_MAX;
    for (int i = 0; i < 100; i++) {
        size_t seen = 0;
        bool asleep = false;
        uint64_t now = switches_of_workers(&seen, &asleep);
        if (asleep && seen == workers && now == before) {
            return true;
        }
        before = now;
        let_time_pass(100);
    }
    return false;
}

static void expect_nothing_happens(size_t workers)
{
    size_t seen = 0;
    bool asleep = false;
    assert_true(settle(workers));
    uint64_t switches = switches_of_workers(&seen, &asleep);
    uint64_t cpu = test_cpu_ns();
    let_time_pass(window_seconds() * UINT64_C(1000));
    cpu = test_cpu_ns() - cpu;
    switches = switches_of_workers(&seen, &asleep) - switches;
    printf("%u s: %.3f ms of CPU time, %llu context switches of %zu workers\n", window_seconds(),
           (double)cpu * 1e-6, (unsigned long long)switches, seen);
    assert_int_equal(seen, workers);
    assert_int_equal(switches, 0);
    /* TSan has a thread of its own that ticks. */
    assert_true(TEST_UNDER_TSAN || cpu < CPU_NS_PER_SECOND * window_seconds());
}

static void pool__idle_from_the_start__uses_no_cpu(void **state)
{
    filch_pool *pool = make_idle_pool(false);
    (void)state;
    expect_nothing_happens(WORKERS);
    test_pool_close(pool);
}

static void pool__idle_after_work__uses_no_cpu(void **state)
{
    filch_pool *pool = make_idle_pool(true);
    (void)state;
    expect_nothing_happens(WORKERS);
    test_pool_close(pool);
}

/* One worker blocked in a task, a thread in wait_quiet, another in a root that waits in a join. */
typedef struct blocked {
    filch_pool *pool;
    sem_t gate;
    atomic_uint begun;
} blocked;

static void block(filch_cx *cx, void *arg)
{
    blocked *b = arg;
    (void)cx;
    atomic_fetch_add(&b->begun, 1);
    while (sem_wait(&b->gate) != 0) {}
}

static void join_with_blocked(filch_cx *cx, void *arg)
{
    blocked *b = arg;
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    filch_spawn(cx, &scope, block, b);
    test_await(&b->begun, 1); /* another worker has it: the end of the scope has to wait */
    filch_scope_end(cx, &scope);
}

static void *run_join(void *arg)
{
    blocked *b = arg;
    TEST_CHECK(filch_run(b->pool, join_with_blocked, b) == FILCH_OK);
    return NULL;
}

static void *wait_quiet(void *arg)
{
    blocked *b = arg;
    TEST_CHECK(filch_pool_wait_quiet(b->pool, FILCH_FOREVER) == FILCH_OK);
    return NULL;
}

static void pool__waits_in_joins_roots_and_quiet__use_no_cpu(void **state)
{
    blocked b = { .begun = 0 };
    pthread_t runner;
    pthread_t waiter;
    (void)state;
    b.pool = make_idle_pool(true);
    sem_init(&b.gate, 0, 0);
    test_thread_start(&runner, run_join, &b);
    test_await(&b.begun, 1);
    test_thread_start(&waiter, wait_quiet, &b);
    expect_nothing_happens(WORKERS);
    sem_post(&b.gate);
    test_thread_join(runner);
    test_thread_join(waiter);
    test_pool_close(b.pool);
    sem_destroy(&b.gate);
}

/* One thread posts an empty task every millisecond into a pool that sleeps in between: one worker wakes
 * for each, not all of them, and it does not search for long. */
static void pool__a_trickle_of_posts__one_wake_each(void **state)
{
    enum { MANY_WORKERS = 16 };
    const uint64_t posts = test_count(1000, 200);
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    atomic_uint runs = 0;
    size_t seen = 0;
    bool asleep = false;
    (void)state;
    config.workers = MANY_WORKERS;
    config.name = "idle";
    filch_pool *pool = test_pool_make_as(&config);
    assert_true(settle(MANY_WORKERS));
    const uint64_t wakes_before = test_pool_stats(pool).total.wakes;
    uint64_t switches = switches_of_workers(&seen, &asleep);
    uint64_t cpu = test_cpu_ns();
    for (uint64_t i = 0; i < posts; i++) {
        assert_int_equal(filch_post(pool, count, &runs, 0, NULL), FILCH_OK);
        let_time_pass(1);
    }
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    cpu = test_cpu_ns() - cpu;
    switches = switches_of_workers(&seen, &asleep) - switches;
    const uint64_t wakes = test_pool_stats(pool).total.wakes - wakes_before;
    printf("%llu posts: %llu wakes, %llu context switches, %.1f us of CPU time each\n",
           (unsigned long long)posts, (unsigned long long)wakes, (unsigned long long)switches,
           (double)cpu * 1e-3 / (double)posts);
    assert_int_equal(atomic_load(&runs), posts);
    assert_true(wakes <= posts + posts / 5);
    assert_true(switches <= 3 * posts);
    /* it takes 35 us; if all woke each time, 500. A sanitizer's share is not ours */
    assert_true(TEST_UNDER_TSAN || TEST_UNDER_ASAN || cpu <= posts * UINT64_C(300000));
    test_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(pool__idle_from_the_start__uses_no_cpu),
        cmocka_unit_test(pool__idle_after_work__uses_no_cpu),
        cmocka_unit_test(pool__a_trickle_of_posts__one_wake_each),
        cmocka_unit_test(pool__waits_in_joins_roots_and_quiet__use_no_cpu),
    };
    test_begin(100);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
