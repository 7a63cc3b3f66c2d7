/* SPDX-License-Identifier: MIT */
/* Arguments: what breaks the contract of a call gives FILCH_E_INVALID and changes nothing, what is
 * at the edge of it works, and a size of zero fields means the defaults. */
#include "support/pool.h"

#include <string.h>

#include "support/alloc.h"

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
    TEST_FAIL("a loop body was called that should not be");
}

static uintptr_t nop_word(filch_cx *cx, uintptr_t arg)
{
    (void)cx;
    return arg;
}

static void expect_config_invalid(const filch_pool_config *config)
{
    int marker = 0;
    filch_pool *pool = (filch_pool *)(void *)&marker;
    assert_int_equal(filch_pool_create(config, &pool), FILCH_E_INVALID);
    assert_ptr_equal(pool, &marker);
}

static void config__absurd_field__invalid_and_untouched(void **state)
{
    static const unsigned bad_flags[] = { 0x4000, 0x8000, 0x80000000U, 0xffffffffU };
    static const unsigned bad_workers[] = { FILCH_MAX_WORKERS + 1, 0x80000000U, 0xffffffffU };
    static const size_t bad_stacks[] = { 1, 4096, FILCH_MIN_STACK_BYTES - 1,
                                         FILCH_MAX_STACK_BYTES + 1, SIZE_MAX };
    static const size_t bad_queues[] = { FILCH_MAX_QUEUE_TASKS + 1, SIZE_MAX / 2 + 2, SIZE_MAX };
    const filch_pool_config good = FILCH_POOL_CONFIG_INIT;
    filch_pool_config config = good;
    (void)state;
    config.size = 0;
    expect_config_invalid(&config);
    config.size = 1;
    expect_config_invalid(&config);
    for (size_t i = 0; i < TEST_CASES(bad_flags); i++) {
        config = good;
        config.flags = bad_flags[i];
        expect_config_invalid(&config);
    }
    for (size_t i = 0; i < TEST_CASES(bad_workers); i++) {
        config = good;
        config.workers = bad_workers[i];
        expect_config_invalid(&config);
    }
    for (size_t i = 0; i < TEST_CASES(bad_stacks); i++) {
        config = good;
        config.stack_bytes = bad_stacks[i];
        expect_config_invalid(&config);
    }
    for (size_t i = 0; i < TEST_CASES(bad_queues); i++) {
        config = good;
        config.queue_tasks = bad_queues[i];
        expect_config_invalid(&config);
    }
    for (size_t i = 0; i < TEST_CASES(config.reserved); i++) {
        config = good;
        config.reserved[i] = 1;
        expect_config_invalid(&config);
    }
    assert_int_equal(filch_pool_create(NULL, NULL), FILCH_E_INVALID);
    assert_int_equal(filch_pool_create(&good, NULL), FILCH_E_INVALID);
}

static void config__half_an_allocator__invalid(void **state)
{
    test_allocator memory;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    test_allocator_init(&memory);
    filch_allocator half = memory.hooks;
    half.free = NULL;
    config.allocator = &half;
    expect_config_invalid(&config);
    half = memory.hooks;
    half.alloc = NULL;
    expect_config_invalid(&config);
    assert_int_equal(atomic_load(&memory.calls), 0);
}

static void config__at_the_edges__works(void **state)
{
    static const size_t queues[][2] = { { 1, 1 }, { 2, 2 },       { 3, 3 },
                                        { 5, 5 }, { 1000, 1000 }, { 0, 1024 } };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(queues); i++) {
        filch_pool_config config = FILCH_POOL_CONFIG_INIT;
        config.workers = 1 + (unsigned)(i % 2);
        config.queue_tasks = queues[i][0];
        config.stack_bytes = (i % 2 == 0) ? (size_t)256 << 10 : 0;
        config.flags =
            (i % 3 == 0) ? FILCH_POOL_STRICT | FILCH_POOL_FIFO | FILCH_POOL_TIME_TASKS : 0;
        config.name = (i % 2 == 0) ? "" : "x";
        filch_pool *pool = test_pool_make_as(&config);
        filch_stats stats = test_pool_stats(pool);
        assert_int_equal(stats.queue_tasks, queues[i][1]);
        assert_int_equal(stats.workers, config.workers);
        assert_int_equal(stats.workers_asked, config.workers);
        assert_int_equal(filch_slots(pool), config.workers + 1);
        for (int k = 0; k < 50; k++) {
            assert_int_equal(filch_post(pool, nop, NULL, 0, NULL), FILCH_OK);
        }
        test_pool_close(pool);
    }
}

static void config__smallest_stack__runs_tasks(void **state)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    config.workers = 2;
    config.stack_bytes = FILCH_MIN_STACK_BYTES;
    filch_pool *pool = test_pool_make_as(&config);
    for (int i = 0; i < 100; i++) {
        test_pool_run(pool, nop, NULL);
    }
    test_pool_close(pool);
}

static void config__none__as_many_workers_as_cpus(void **state)
{
    filch_pool *pool = test_pool_make_as(NULL);
    (void)state;
    assert_true(filch_cpus_allowed() >= 1);
    assert_int_equal(filch_pool_workers(pool), test_default_workers());
    assert_int_equal(test_pool_stats(pool).workers_asked, test_default_workers());
    test_pool_close(pool);
}

static void submit__bad_arguments__invalid_and_untouched(void **state)
{
    filch_pool *pool = test_pool_make(1);
    filch_task task = FILCH_TASK_INIT(nop, NULL);
    const filch_task before = task;
    const filch_submit_options good = FILCH_SUBMIT_OPTIONS_INIT;
    filch_submit_options bad[TEST_CASES(good.reserved) + 2];
    size_t bads = 0;
    (void)state;
    for (size_t i = 0; i < TEST_CASES(good.reserved); i++, bads++) {
        bad[bads] = good;
        bad[bads].reserved[i] = 1;
    }
    bad[bads] = good;
    bad[bads++].size = 0;
    bad[bads] = good;
    bad[bads++].flags = 1;
    assert_int_equal(bads, TEST_CASES(bad));
    for (size_t i = 0; i < bads; i++) {
        assert_int_equal(filch_submit(pool, &task, &bad[i]), FILCH_E_INVALID);
        assert_int_equal(filch_post(pool, nop, &task, 8, &bad[i]), FILCH_E_INVALID);
    }
    assert_memory_equal(&task, &before, sizeof(task));
    assert_int_equal(filch_submit(NULL, &task, NULL), FILCH_E_INVALID);
    assert_int_equal(filch_submit(pool, NULL, NULL), FILCH_E_INVALID);
    task.fn = NULL;
    assert_int_equal(filch_submit(pool, &task, NULL), FILCH_E_INVALID);
    assert_int_equal(filch_post(NULL, nop, NULL, 0, NULL), FILCH_E_INVALID);
    assert_int_equal(filch_post(pool, NULL, NULL, 0, NULL), FILCH_E_INVALID);
    assert_int_equal(filch_post(pool, nop, NULL, 8, NULL), FILCH_E_INVALID);
    filch_stats stats = test_pool_stats(pool);
    assert_int_equal(stats.accepted, 0);
    assert_int_equal(stats.total.tasks_run, 0);
    test_pool_close(pool);
}

static void run__bad_arguments__invalid_and_untouched(void **state)
{
    filch_pool *pool = test_pool_make(1);
    uintptr_t value = 4711;
    (void)state;
    assert_int_equal(filch_run(NULL, nop, NULL), FILCH_E_INVALID);
    assert_int_equal(filch_run(pool, NULL, NULL), FILCH_E_INVALID);
    assert_int_equal(filch_run_word(NULL, nop_word, 1, &value), FILCH_E_INVALID);
    assert_int_equal(filch_run_word(pool, NULL, 1, &value), FILCH_E_INVALID);
    assert_int_equal(value, 4711);
    assert_int_equal(test_pool_stats(pool).accepted, 0);
    test_pool_close(pool);
}

static void pool__null__invalid_or_nothing(void **state)
{
    filch_shutdown_report report = { .accepted = 1, .refused = 2, .ran = 3, .cancelled = 4 };
    filch_stats stats = FILCH_STATS_INIT;
    filch_worker_stats worker_stats;
    (void)state;
    assert_int_equal(filch_pool_workers(NULL), 0);
    assert_int_equal(filch_slots(NULL), 0);
    assert_int_equal(filch_pool_wait_quiet(NULL, FILCH_NOW), FILCH_E_INVALID);
    assert_int_equal(filch_pool_shutdown(NULL, FILCH_DRAIN, FILCH_NOW, &report), FILCH_E_INVALID);
    assert_int_equal(report.accepted, 1);
    assert_int_equal(filch_pool_destroy(NULL), FILCH_OK);
    assert_int_equal(filch_stats_read(NULL, &stats), FILCH_E_INVALID);
    assert_int_equal(filch_stats_read_worker(NULL, 0, &worker_stats), FILCH_E_INVALID);
}

static void shutdown__unknown_mode__invalid_and_stays_open(void **state)
{
    static const int modes[] = { 0, 4, 5, -1, 1000 };
    filch_pool *pool = test_pool_make(1);
    filch_shutdown_report report = { .accepted = 1, .refused = 2, .ran = 3, .cancelled = 4 };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(modes); i++) {
        filch_shutdown_mode mode = (filch_shutdown_mode)modes[i];
        assert_int_equal(filch_pool_shutdown(pool, mode, FILCH_NOW, &report), FILCH_E_INVALID);
        assert_int_equal(report.accepted, 1);
    }
    test_pool_run(pool, nop, NULL);
    test_pool_close(pool);
}

static void stats__bad_arguments__invalid_and_untouched(void **state)
{
    filch_pool *pool = test_pool_make(2);
    filch_stats stats = FILCH_STATS_INIT;
    filch_worker_stats worker_stats;
    (void)state;
    memset(&worker_stats, 0x5A, sizeof(worker_stats));
    const filch_worker_stats before = worker_stats;
    assert_int_equal(filch_stats_read(pool, NULL), FILCH_E_INVALID);
    stats.size = 0;
    stats.workers = 4711;
    assert_int_equal(filch_stats_read(pool, &stats), FILCH_E_INVALID);
    stats.size = sizeof(stats) + 8;
    assert_int_equal(filch_stats_read(pool, &stats), FILCH_E_INVALID);
    stats.size = sizeof(stats);
    stats.flags = FILCH_STATS_THROTTLING << 1;
    assert_int_equal(filch_stats_read(pool, &stats), FILCH_E_INVALID);
    assert_int_equal(stats.workers, 4711);
    assert_int_equal(filch_stats_read_worker(pool, 0, NULL), FILCH_E_INVALID);
    assert_int_equal(filch_stats_read_worker(pool, 2, &worker_stats), FILCH_E_INVALID);
    assert_int_equal(filch_stats_read_worker(pool, UINT32_MAX, &worker_stats), FILCH_E_INVALID);
    assert_memory_equal(&worker_stats, &before, sizeof(before));
    assert_int_equal(filch_stats_read_worker(pool, 1, &worker_stats), FILCH_OK);
    test_pool_close(pool);
}

static void loops_with_bad_arguments(filch_cx *cx, void *arg)
{
    filch_loop options = FILCH_LOOP_INIT;
    (void)arg;
    TEST_CHECK(filch_for(NULL, 10, nop_range, NULL, NULL) == FILCH_E_INVALID);
    TEST_CHECK(filch_for(cx, 10, NULL, NULL, NULL) == FILCH_E_INVALID);
    TEST_CHECK(filch_for(cx, 0, NULL, NULL, NULL) == FILCH_E_INVALID);
    options.size = 0;
    TEST_CHECK(filch_for(cx, 10, nop_range, NULL, &options) == FILCH_E_INVALID);
    options = (filch_loop)FILCH_LOOP_INIT;
    options.flags = 1;
    TEST_CHECK(filch_for(cx, 10, nop_range, NULL, &options) == FILCH_E_INVALID);
    TEST_CHECK(filch_for(cx, 0, nop_range, NULL, &options) == FILCH_E_INVALID);
    for (size_t i = 0; i < TEST_CASES(options.reserved); i++) {
        options = (filch_loop)FILCH_LOOP_INIT;
        options.reserved[i] = 1;
        TEST_CHECK(filch_for(cx, 10, nop_range, NULL, &options) == FILCH_E_INVALID);
    }
    options = (filch_loop)FILCH_LOOP_INIT;
    TEST_CHECK(filch_for(cx, 0, nop_range, NULL, &options) == FILCH_OK);
    TEST_CHECK(filch_for(cx, 0, nop_range, NULL, NULL) == FILCH_OK);
}

static void for__bad_arguments__invalid_and_no_call(void **state)
{
    filch_pool *pool = test_pool_make(2);
    filch_loop options = FILCH_LOOP_INIT;
    (void)state;
    test_pool_run(pool, loops_with_bad_arguments, NULL);
    options.flags = 1;
    assert_int_equal(filch_for_on(NULL, 10, nop_range, NULL, NULL), FILCH_E_INVALID);
    assert_int_equal(filch_for_on(pool, 10, NULL, NULL, NULL), FILCH_E_INVALID);
    assert_int_equal(filch_for_on(pool, 10, nop_range, NULL, &options), FILCH_E_INVALID);
    options.flags = 0;
    options.size = 0;
    assert_int_equal(filch_for_on(pool, 10, nop_range, NULL, &options), FILCH_E_INVALID);
    assert_int_equal(filch_for_on(pool, 0, nop_range, NULL, NULL), FILCH_OK);
    test_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(config__absurd_field__invalid_and_untouched),
        cmocka_unit_test(config__half_an_allocator__invalid),
        cmocka_unit_test(config__at_the_edges__works),
        cmocka_unit_test(config__smallest_stack__runs_tasks),
        cmocka_unit_test(config__none__as_many_workers_as_cpus),
        cmocka_unit_test(submit__bad_arguments__invalid_and_untouched),
        cmocka_unit_test(run__bad_arguments__invalid_and_untouched),
        cmocka_unit_test(pool__null__invalid_or_nothing),
        cmocka_unit_test(shutdown__unknown_mode__invalid_and_stays_open),
        cmocka_unit_test(stats__bad_arguments__invalid_and_untouched),
        cmocka_unit_test(for__bad_arguments__invalid_and_no_call),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
