/* SPDX-License-Identifier: MIT */
/* Deadlines for the start of tasks: who is late never starts, ends once as that, and is counted. The
 * deadlines pass while the workers are held. */
#include "support/ends.h"
#include "support/held.h"

enum { BIG = 100, KINDS = 6 };

static void run_it(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
    atomic_fetch_add(&runs, 1);
}

static filch_submit_options by(filch_time start_by)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.start_by = start_by;
    options.end = note_end;
    return options;
}

static void pass(filch_time time)
{
    while (filch_time_now() <= time) {
        test_spin_ns(100000);
    }
}

typedef filch_status post_call(filch_pool *pool, void *object, const filch_submit_options *options);

static filch_status post_bytes(filch_pool *pool, void *object, const filch_submit_options *options)
{
    static const unsigned char data[BIG];
    const size_t bytes = *(const size_t *)object;
    return filch_post(pool, run_it, bytes != 0 ? data : NULL, bytes, options);
}

static filch_status submit_task(filch_pool *pool, void *object, const filch_submit_options *options)
{
    return filch_submit(pool, object, options);
}

/* With a start_by soon; refused on a machine so slow that it has passed by then: then later. */
static void post_soon(filch_pool *pool, post_call *call, void *object,
                      filch_submit_options *options)
{
    filch_status status = FILCH_E_TIMEOUT;
    for (uint64_t ms = 10; status != FILCH_OK; ms *= 2) {
        options->start_by = filch_time_after_ms(ms);
        status = call(pool, object, options);
        TEST_CHECK(status == FILCH_OK || status == FILCH_E_TIMEOUT);
    }
}

/* All are late afterwards. */
static void post_all_kinds(filch_pool *pool, filch_task *task, filch_submit_options *options)
{
    static size_t sizes[KINDS - 1] = { 0, 8, 32, 33, BIG };
    for (size_t i = 0; i < TEST_CASES(sizes); i++) {
        post_soon(pool, post_bytes, &sizes[i], options);
        pass(options->start_by);
    }
    post_soon(pool, submit_task, task, options);
    pass(options->start_by);
}

static void start_by__passes_in_the_queue__late(void **state)
{
    held h;
    filch_task task = FILCH_TASK_INIT(run_it, NULL);
    filch_submit_options soon = by(0);
    const filch_submit_options in_time = by(filch_time_after_ms(3600000));
    (void)state;
    begin();
    hold(&h, 2, 0);
    post_all_kinds(h.pool, &task, &soon);
    assert_int_equal(filch_post(h.pool, run_it, NULL, 0, &in_time), FILCH_OK);
    let_go(&h);
    assert_int_equal(runs, 1);
    assert_int_equal(ends[FILCH_RAN], 1);
    assert_int_equal(ends[FILCH_LATE], KINDS);
    assert_int_equal(ends[FILCH_CANCELLED] + ends[FILCH_DROPPED], 0);
    const filch_stats stats = test_pool_stats(h.pool);
    assert_int_equal(stats.total.tasks_cancelled, KINDS);
    assert_int_equal(stats.total.tasks_late, KINDS);
    assert_int_equal(stats.accepted, stats.total.tasks_run + KINDS);
    test_pool_close(h.pool);
}

typedef struct own {
    filch_submit_options soon;
    filch_task task;
} own;

static void post_own(filch_cx *cx, void *arg)
{
    own *o = arg;
    post_all_kinds(filch_cx_pool(cx), &o->task, &o->soon);
}

static void start_by__of_own_posts__late(void **state)
{
    own o = { by(0), FILCH_TASK_INIT(run_it, NULL) };
    filch_pool *pool = test_pool_make(1);
    (void)state;
    begin();
    test_pool_run(pool, post_own, &o);
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(runs, 0);
    assert_int_equal(ends[FILCH_LATE], KINDS);
    test_pool_close(pool);
}

static void start_by__in_a_group__is_its_failure(void **state)
{
    held h;
    filch_task task = FILCH_TASK_INIT(run_it, NULL);
    filch_group *group = NULL;
    filch_status first = FILCH_OK;
    (void)state;
    begin();
    hold(&h, 1, 0);
    assert_int_equal(filch_group_create(h.pool, NULL, &group), FILCH_OK);
    filch_submit_options soon = by(0);
    soon.group = group;
    post_all_kinds(h.pool, &task, &soon);
    let_go(&h);
    assert_int_equal(filch_group_wait(group, FILCH_FOREVER, NULL, &first), FILCH_OK);
    assert_int_equal(first, FILCH_E_TIMEOUT);
    assert_int_equal(runs, 0);
    assert_int_equal(ends[FILCH_LATE], KINDS);
    assert_int_equal(test_pool_stats(h.pool).total.tasks_late, KINDS);
    assert_int_equal(filch_group_destroy(group), FILCH_OK);
    test_pool_close(h.pool);
}

static void start_by__already_over__refused(void **state)
{
    filch_task tasks[] = { FILCH_TASK_INIT(run_it, NULL), FILCH_TASK_INIT(run_it, NULL) };
    filch_task *both[] = { &tasks[0], &tasks[1] };
    filch_pool *pool = test_pool_make(1);
    const filch_submit_options over = by(filch_time_now() - 1);
    const filch_submit_options long_ago = by(-1);
    size_t accepted = 7;
    (void)state;
    begin();
    assert_int_equal(filch_post(pool, run_it, NULL, 0, &over), FILCH_E_TIMEOUT);
    assert_int_equal(filch_submit(pool, both[0], &over), FILCH_E_TIMEOUT);
    assert_int_equal(filch_submit_many(pool, both, 2, &over, &accepted), FILCH_E_TIMEOUT);
    assert_int_equal(filch_post(pool, run_it, NULL, 0, &long_ago), FILCH_E_TIMEOUT);
    assert_int_equal(accepted, 0);
    assert_int_equal(runs, 0);
    assert_int_equal(test_pool_stats(pool).refused, 5);
    assert_int_equal(test_pool_stats(pool).queue_rejected, 0);
    test_pool_close(pool);
}

/* Nobody else wakes who waits for room. */
static void start_by__passes_in_a_wait_for_room__timeout(void **state)
{
    held h;
    filch_group *group = NULL;
    (void)state;
    begin();
    hold(&h, 1, 1);
    assert_int_equal(filch_group_create(h.pool, NULL, &group), FILCH_OK);
    filch_submit_options options = by(0);
    for (int grouped = 0; grouped < 2; grouped++) {
        options.group = grouped != 0 ? group : NULL;
        options.start_by = 0;
        assert_int_equal(filch_post(h.pool, run_it, NULL, 0, &options), FILCH_OK);
        options.start_by = filch_time_after_ms(20);
        assert_int_equal(filch_post(h.pool, run_it, NULL, 0, &options), FILCH_E_TIMEOUT);
        assert_true(filch_time_now() >= options.start_by);
    }
    let_go(&h);
    assert_int_equal(ends[FILCH_RAN], 2);
    assert_int_equal(ends[FILCH_LATE], 0);
    assert_int_equal(filch_group_destroy(group), FILCH_OK);
    test_pool_close(h.pool);
}

/* Cancelled comes first, so that the report of a shutdown says what it did. */
static void start_by__over_and_cancelled__cancelled(void **state)
{
    held h;
    filch_task task = FILCH_TASK_INIT(run_it, NULL);
    filch_shutdown_report report;
    (void)state;
    begin();
    hold(&h, 1, 0);
    filch_submit_options soon = by(0);
    post_all_kinds(h.pool, &task, &soon);
    assert_int_equal(filch_pool_shutdown(h.pool, FILCH_CANCEL, FILCH_NOW, NULL), FILCH_E_TIMEOUT);
    atomic_store(&h.open, 1);
    assert_int_equal(filch_pool_shutdown(h.pool, FILCH_CANCEL, FILCH_FOREVER, &report), FILCH_OK);
    assert_int_equal(report.cancelled, KINDS);
    assert_int_equal(ends[FILCH_CANCELLED], KINDS);
    assert_int_equal(test_pool_stats(h.pool).total.tasks_late, 0);
    test_pool_close(h.pool);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(start_by__passes_in_the_queue__late),
        cmocka_unit_test(start_by__of_own_posts__late),
        cmocka_unit_test(start_by__in_a_group__is_its_failure),
        cmocka_unit_test(start_by__already_over__refused),
        cmocka_unit_test(start_by__passes_in_a_wait_for_room__timeout),
        cmocka_unit_test(start_by__over_and_cancelled__cancelled),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
