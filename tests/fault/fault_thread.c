/* SPDX-License-Identifier: MIT */
/* Threads that do not start: the pool is smaller and says so, or, if it is strict or has no thread
 * at all, creation fails; no thread and no memory is left behind. Needs the library with its
 * hooks. */
#include "support/pool.h"

#include "base/fault.h"
#include "support/alloc.h"
#include "support/proc.h"

#include <limits.h>

enum { WORKERS = 6 };

/* The start number `fail_at` fails, counted from 1, and all later ones if `for_good`. */
typedef struct start_fault {
    atomic_uint starts;
    unsigned fail_at;
    bool for_good;
} start_fault;

static bool fail_start(void *ctx, filchi_point point)
{
    start_fault *fault = ctx;
    if (point != FILCHI_AT_THREAD_START) {
        return false;
    }
    unsigned start = atomic_fetch_add(&fault->starts, 1) + 1;
    return start == fault->fail_at || (fault->for_good && start > fault->fail_at);
}

static void count(filch_cx *cx, void *arg)
{
    TEST_CHECK(filch_cx_worker(cx) < filch_pool_workers(filch_cx_pool(cx)));
    atomic_fetch_add((atomic_uint *)arg, 1);
}

static void fork_and_count(filch_cx *cx, void *arg)
{
    filch_join2(cx, count, arg, count, arg);
}

static void expect_works(filch_pool *pool)
{
    atomic_uint runs = 0;
    for (int i = 0; i < 200; i++) {
        assert_int_equal(filch_post(pool, count, &runs, 0, NULL), FILCH_OK);
        assert_int_equal(filch_run(pool, fork_and_count, &runs), FILCH_OK);
    }
    test_pool_close(pool);
    assert_int_equal(atomic_load(&runs), 600);
}

static void try_create(start_fault *fault, unsigned flags, unsigned expected_workers)
{
    int marker = 0;
    filch_pool *pool = (filch_pool *)(void *)&marker;
    test_allocator memory;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    size_t threads_before = test_proc_threads(NULL, 0);

    test_allocator_init(&memory);
    config.workers = WORKERS;
    config.flags = flags;
    config.allocator = &memory.hooks;
    filchi_points_set(fail_start, fault);
    filch_status status = filch_pool_create(&config, &pool);
    if (expected_workers == 0) {
        assert_int_equal(status, FILCH_E_THREAD);
        assert_ptr_equal(pool, &marker);
    } else {
        assert_int_equal(status, FILCH_OK);
        filch_stats stats = test_pool_stats(pool);
        assert_int_equal(stats.workers, expected_workers);
        assert_int_equal(stats.workers_asked, WORKERS);
        assert_int_equal(filch_pool_workers(pool), expected_workers);
        assert_int_equal(filch_slots(pool), expected_workers + 1);
        expect_works(pool);
    }
    filchi_points_set(NULL, NULL);
    test_allocator_assert_balanced(&memory);
    assert_true(test_proc_await_threads(threads_before));
}

static void create__kth_thread_fails_for_good__smaller_pool(void **state)
{
    (void)state;
    for (unsigned k = 1; k <= WORKERS; k++) {
        start_fault fault = { 0, k, true };
        try_create(&fault, 0, k - 1);
    }
}

/* One failure only: whether the pool tries on or stops there, it has what it says it has. */
static void create__kth_thread_fails_once__pool_says_how_many(void **state)
{
    (void)state;
    for (unsigned k = 1; k <= WORKERS; k++) {
        start_fault fault = { 0, k, false };
        filch_pool *pool = NULL;
        filch_pool_config config = FILCH_POOL_CONFIG_INIT;
        size_t threads_before = test_proc_threads(NULL, 0);
        config.workers = WORKERS;
        filchi_points_set(fail_start, &fault);
        filch_status status = filch_pool_create(&config, &pool);
        if (status == FILCH_OK) {
            filch_stats stats = test_pool_stats(pool);
            assert_true(stats.workers >= 1 && stats.workers < WORKERS);
            assert_int_equal(stats.workers_asked, WORKERS);
            assert_int_equal(test_proc_threads(NULL, 0), threads_before + stats.workers);
            expect_works(pool);
        } else {
            assert_int_equal(status, FILCH_E_THREAD);
            assert_null(pool);
        }
        filchi_points_set(NULL, NULL);
        assert_true(test_proc_await_threads(threads_before));
    }
}

/* It grows as far as it can, works, and grows on when threads are to be had again. */
static void resize__kth_thread_fails__as_many_as_there_are(void **state)
{
    (void)state;
    for (unsigned k = 2; k <= WORKERS; k++) {
        start_fault fault = { 0, k, true };
        atomic_uint runs = 0;
        filch_pool *pool = NULL;
        filch_pool_config config = FILCH_POOL_CONFIG_INIT;
        size_t threads_before = test_proc_threads(NULL, 0);
        config.workers = 1;
        config.max_workers = WORKERS;
        filchi_points_set(fail_start, &fault);
        assert_int_equal(filch_pool_create(&config, &pool), FILCH_OK);
        assert_int_equal(filch_pool_resize(pool, WORKERS), FILCH_E_THREAD);
        assert_int_equal(filch_pool_workers(pool), k - 1);
        assert_int_equal(test_proc_threads(NULL, 0), threads_before + k - 1);
        assert_int_equal(filch_run(pool, fork_and_count, &runs), FILCH_OK);
        fault.fail_at = UINT_MAX; /* the hook itself stays while there are workers */
        assert_int_equal(filch_pool_resize(pool, WORKERS), FILCH_OK);
        assert_int_equal(filch_pool_workers(pool), WORKERS);
        expect_works(pool);
        filchi_points_set(NULL, NULL);
        assert_int_equal(atomic_load(&runs), 2);
        assert_true(test_proc_await_threads(threads_before));
    }
}

static void create__kth_thread_of_a_strict_pool_fails__thread(void **state)
{
    (void)state;
    for (unsigned k = 1; k <= WORKERS; k++) {
        for (int for_good = 0; for_good < 2; for_good++) {
            start_fault fault = { 0, k, for_good != 0 };
            try_create(&fault, FILCH_POOL_STRICT, 0);
        }
    }
}

static void create__no_thread_fails__complete(void **state)
{
    start_fault none = { 0, 0, false };
    (void)state;
    try_create(&none, FILCH_POOL_STRICT, WORKERS);
    try_create(&none, 0, WORKERS);
    assert_int_equal(atomic_load(&none.starts), 2 * WORKERS);
}

/* The default pool: a failure now is not remembered. It lives on, and with it the hook. */
static start_fault lasting_fault = { 0, 1, true };

static void default_pool__no_thread_at_first__a_later_call_tries_again(void **state)
{
    atomic_uint runs = 0;
    (void)state;
    filchi_points_set(fail_start, &lasting_fault);
    assert_null(filch_default_pool());
    assert_null(filch_default_pool());
    lasting_fault.fail_at = 0;
    lasting_fault.for_good = false;
    filch_pool *pool = filch_default_pool();
    assert_non_null(pool);
    test_pool_run(pool, count, &runs);
    assert_int_equal(atomic_load(&runs), 1);
}

static void wait_for_go(filch_cx *cx, void *arg)
{
    (void)cx;
    test_await(arg, 1);
}

/* An abandoned pool is still the caller's if there is no thread to leave it to. Nobody joins that
 * thread, so the hook stays here too. */
static void destroy__no_thread_for_an_abandoned_pool__thread(void **state)
{
    atomic_uint go = 0;
    test_allocator memory;
    filch_pool *pool = NULL;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    const size_t threads_before = test_proc_threads(NULL, 0);
    (void)state;
    test_allocator_init(&memory);
    config.workers = 1;
    config.allocator = &memory.hooks;
    assert_int_equal(filch_pool_create(&config, &pool), FILCH_OK);
    assert_int_equal(filch_post(pool, wait_for_go, &go, 0, NULL), FILCH_OK);
    assert_int_equal(filch_pool_shutdown(pool, FILCH_ABANDON, FILCH_NOW, NULL), FILCH_E_TIMEOUT);
    lasting_fault.fail_at = atomic_load(&lasting_fault.starts) + 1;
    assert_int_equal(filch_pool_destroy(pool), FILCH_E_THREAD);
    assert_int_equal(filch_pool_workers(pool), 1);
    assert_int_equal(filch_pool_destroy(pool), FILCH_OK);
    atomic_store(&go, 1);
    assert_true(test_proc_await_threads(threads_before));
    test_allocator_assert_balanced(&memory);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(create__kth_thread_fails_for_good__smaller_pool),
        cmocka_unit_test(create__kth_thread_fails_once__pool_says_how_many),
        cmocka_unit_test(resize__kth_thread_fails__as_many_as_there_are),
        cmocka_unit_test(create__kth_thread_of_a_strict_pool_fails__thread),
        cmocka_unit_test(create__no_thread_fails__complete),
        cmocka_unit_test(default_pool__no_thread_at_first__a_later_call_tries_again),
        cmocka_unit_test(destroy__no_thread_for_an_abandoned_pool__thread),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
