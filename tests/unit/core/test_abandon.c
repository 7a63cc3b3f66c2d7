/* SPDX-License-Identifier: MIT */
/* Tasks that do not end in time: the report names them, and the owner of the pool need not wait. */
#include "support/pool.h"

#include <sched.h>
#include <string.h>

#include "support/alloc.h"
#include "support/child.h"
#include "support/proc.h"

static const char stuck_label[] = "stuck";

typedef struct stuck {
    filch_pool *pool;
    test_allocator memory;
    size_t threads; /* of the process, without the pool */
    atomic_uint begun;
    atomic_uint go;
    atomic_uint over;
    atomic_uint ran;
    atomic_uint cancelled;
} stuck;

static void make(stuck *s, unsigned workers, unsigned flags)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    memset(s, 0, sizeof(*s));
    test_allocator_init(&s->memory);
    s->threads = test_proc_threads(NULL, 0);
    config.workers = workers;
    config.flags = flags;
    config.queue_tasks = 32;
    config.own_tasks = 1;
    config.allocator = &s->memory.hooks;
    s->pool = test_pool_make_as(&config);
}

/* All that the pool had is given back: nothing else tells when an abandoned one is gone. */
static void await_gone(stuck *s)
{
    while (atomic_load(&s->memory.live_bytes) != 0) {
        (void)sched_yield();
    }
    test_allocator_assert_balanced(&s->memory);
    assert_true(test_proc_await_threads(s->threads));
    test_assert_clean();
}

static void hold(filch_cx *cx, void *arg)
{
    stuck *s = arg;
    (void)cx;
    atomic_fetch_add(&s->begun, 1);
    test_await(&s->go, 1);
    atomic_fetch_add(&s->ran, 1);
}

static void count_end(void *data, filch_end how)
{
    stuck *s = data;
    if (how == FILCH_CANCELLED) {
        atomic_fetch_add(&s->cancelled, 1);
    }
    atomic_fetch_add(&s->over, 1);
}

static void post_held(stuck *s, unsigned tasks)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.label = stuck_label;
    options.end = count_end;
    for (unsigned i = 0; i < tasks; i++) {
        assert_int_equal(filch_post(s->pool, hold, s, 0, &options), FILCH_OK);
    }
}

static filch_status give_up(stuck *s, filch_time until, filch_shutdown_report *out_report)
{
    return filch_pool_shutdown(s->pool, FILCH_ABANDON, until, out_report);
}

/* More workers than the report has room for; what is queued is cancelled when one is free. */
static void abandon__stuck_tasks__named_and_left_behind(void **state)
{
    enum { WORKERS = 9, QUEUED = 20 };
    static stuck s;
    filch_shutdown_report report;
    (void)state;
    make(&s, WORKERS, FILCH_POOL_TIME_TASKS);
    post_held(&s, WORKERS);
    test_await(&s.begun, WORKERS);
    post_held(&s, QUEUED);
    assert_int_equal(give_up(&s, filch_time_after_ms(5), &report), FILCH_E_TIMEOUT);
    assert_int_equal(report.accepted, WORKERS + QUEUED);
    assert_int_equal(report.ran + report.cancelled + report.dropped, 0);
    assert_int_equal(report.running, WORKERS);
    for (unsigned i = 0; i < FILCH_REPORT_TASKS; i++) {
        assert_ptr_equal(report.tasks[i].label, stuck_label);
        assert_int_equal(report.tasks[i].worker, i);
        assert_true(report.tasks[i].for_ns > 0);
    }
    assert_int_equal(filch_pool_destroy(s.pool), FILCH_OK);
    assert_int_equal(atomic_load(&s.ran), 0); /* so it has not waited for them */
    assert_true(atomic_load(&s.memory.live_bytes) != 0);
    atomic_store(&s.go, 1);
    await_gone(&s);
    assert_int_equal(atomic_load(&s.ran), WORKERS);
    assert_int_equal(atomic_load(&s.cancelled), QUEUED);
    assert_int_equal(atomic_load(&s.over), WORKERS + QUEUED);
}

static void abandon__all_end_in_time__drains(void **state)
{
    static stuck s;
    filch_shutdown_report report;
    (void)state;
    make(&s, 2, 0);
    atomic_store(&s.go, 1);
    post_held(&s, 30);
    assert_int_equal(give_up(&s, FILCH_FOREVER, &report), FILCH_OK);
    assert_int_equal(report.accepted, 30);
    assert_int_equal(report.ran, 30);
    assert_int_equal(report.running, 0);
    assert_null(report.tasks[0].label);
    assert_int_equal(give_up(&s, FILCH_NOW, NULL), FILCH_OK);
    assert_int_equal(filch_pool_destroy(s.pool), FILCH_OK);
    await_gone(&s);
}

static void abandon__twice_then_another_mode__waits_again(void **state)
{
    static stuck s;
    filch_shutdown_report report;
    (void)state;
    make(&s, 1, 0);
    post_held(&s, 1);
    test_await(&s.begun, 1);
    post_held(&s, 1);
    assert_int_equal(give_up(&s, FILCH_NOW, &report), FILCH_E_TIMEOUT);
    assert_int_equal(give_up(&s, FILCH_NOW, &report), FILCH_E_TIMEOUT);
    assert_int_equal(report.running, 1);
    assert_int_equal(report.tasks[0].for_ns, 0); /* it does not time tasks */
    assert_int_equal(filch_pool_shutdown(s.pool, FILCH_DRAIN, FILCH_NOW, &report), FILCH_E_TIMEOUT);
    atomic_store(&s.go, 1);
    assert_int_equal(filch_pool_destroy(s.pool), FILCH_OK);
    assert_int_equal(atomic_load(&s.memory.live_bytes), 0); /* it has waited */
    assert_int_equal(atomic_load(&s.ran), 1);
    assert_int_equal(atomic_load(&s.cancelled), 1); /* given up by the first */
    await_gone(&s);
}

static void destroy_inside(filch_cx *cx, void *arg)
{
    stuck *s = arg;
    atomic_fetch_add(&s->begun, 1);
    test_await(&s->go, 1);
    TEST_CHECK(give_up(s, FILCH_NOW, NULL) == FILCH_E_ON_WORKER);
    TEST_CHECK(filch_pool_destroy(filch_cx_pool(cx)) == FILCH_E_ON_WORKER);
    atomic_fetch_add(&s->over, 1);
    test_await(&s->go, 2);
}

static void abandon__from_a_worker__refused(void **state)
{
    static stuck s;
    (void)state;
    make(&s, 1, 0);
    assert_int_equal(filch_post(s.pool, destroy_inside, &s, 0, NULL), FILCH_OK);
    test_await(&s.begun, 1);
    assert_int_equal(give_up(&s, FILCH_NOW, NULL), FILCH_E_TIMEOUT);
    atomic_store(&s.go, 1);
    test_await(&s.over, 1);
    assert_int_equal(filch_pool_destroy(s.pool), FILCH_OK);
    atomic_store(&s.go, 2);
    await_gone(&s);
}

/* The deque has room for one of the two, so one runs inside its post. */
static void post_two(filch_cx *cx, void *arg)
{
    stuck *s = arg;
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.label = "inner";
    TEST_CHECK(filch_post(filch_cx_pool(cx), hold, s, 0, &options) == FILCH_OK);
    TEST_CHECK(filch_post(filch_cx_pool(cx), hold, s, 0, &options) == FILCH_OK);
    atomic_fetch_add(&s->over, 1);
    test_await(&s->go, 2);
}

static void report__task_inside_a_post__the_newest_is_named(void **state)
{
    static stuck s;
    filch_shutdown_report report;
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    (void)state;
    make(&s, 1, 0);
    options.label = "outer";
    assert_int_equal(filch_post(s.pool, post_two, &s, 0, &options), FILCH_OK);
    test_await(&s.begun, 1);
    assert_int_equal(filch_pool_shutdown(s.pool, FILCH_DRAIN, FILCH_NOW, &report), FILCH_E_TIMEOUT);
    assert_int_equal(report.running, 2);
    assert_string_equal(report.tasks[0].label, "inner");
    assert_null(report.tasks[1].label);
    atomic_store(&s.go, 1);
    test_await(&s.over, 1);
    assert_int_equal(filch_pool_shutdown(s.pool, FILCH_DRAIN, FILCH_NOW, &report), FILCH_E_TIMEOUT);
    assert_int_equal(report.running, 1);
    assert_string_equal(report.tasks[0].label, "outer");
    atomic_store(&s.go, 2);
    assert_int_equal(filch_pool_destroy(s.pool), FILCH_OK);
    await_gone(&s);
}

static atomic_uint accepted;
static atomic_uint closed;
static atomic_uint run_cancelled;

static void *post_until_closed(void *arg)
{
    stuck *s = arg;
    filch_status status = FILCH_OK;
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.end = count_end;
    options.full = FILCH_FULL_REJECT;
    while (status != FILCH_E_CLOSED) {
        status = filch_post(s->pool, hold, s, 0, &options);
        TEST_CHECK(status == FILCH_OK || status == FILCH_E_FULL || status == FILCH_E_CLOSED);
        atomic_fetch_add(&accepted, status == FILCH_OK);
    }
    atomic_fetch_add(&closed, 1);
    return NULL;
}

/* Into the full queue: inside the call when the pool is destroyed. */
static void *post_and_wait(void *arg)
{
    stuck *s = arg;
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.end = count_end;
    TEST_CHECK(filch_post(s->pool, hold, s, 0, &options) == FILCH_OK);
    atomic_fetch_add(&accepted, 1);
    return NULL;
}

static void *run_and_wait(void *arg)
{
    stuck *s = arg;
    TEST_CHECK(filch_run(s->pool, hold, s) == FILCH_E_CANCELLED);
    atomic_fetch_add(&run_cancelled, 1);
    return NULL;
}

static void abandon__live_submitters__each_gets_its_answer(void **state)
{
    enum { LOOPS = 2, BLOCKED = 2, ALL = LOOPS + BLOCKED + 1 };
    static stuck s;
    pthread_t threads[ALL];
    filch_shutdown_report report;
    (void)state;
    make(&s, 1, 0);
    post_held(&s, 1);
    test_await(&s.begun, 1);
    test_thread_start(&threads[LOOPS], run_and_wait, &s);
    while (test_pool_stats(s.pool).queue_depth != 1) {
        (void)sched_yield();
    }
    for (unsigned i = 0; i < LOOPS; i++) {
        test_thread_start(&threads[i], post_until_closed, &s);
    }
    while (test_pool_stats(s.pool).queue_rejected == 0) {
        (void)sched_yield();
    }
    for (unsigned i = 0; i < BLOCKED; i++) {
        test_thread_start(&threads[LOOPS + 1 + i], post_and_wait, &s);
    }
    while (test_pool_stats(s.pool).queue_waits != BLOCKED) {
        (void)sched_yield();
    }
    assert_int_equal(give_up(&s, FILCH_NOW, &report), FILCH_E_TIMEOUT);
    for (unsigned i = 0; i < LOOPS; i++) {
        test_thread_join(threads[i]);
    }
    assert_int_equal(atomic_load(&closed), LOOPS);
    assert_int_equal(filch_pool_destroy(s.pool), FILCH_OK);
    assert_int_equal(atomic_load(&run_cancelled), 0);
    atomic_store(&s.go, 1);
    for (unsigned i = LOOPS; i < ALL; i++) {
        test_thread_join(threads[i]);
    }
    await_gone(&s);
    assert_int_equal(atomic_load(&run_cancelled), 1);
    assert_int_equal(atomic_load(&s.ran), 1);
    assert_int_equal(atomic_load(&s.cancelled), atomic_load(&accepted));
}

static void end_in_child(void *arg)
{
    stuck *s = arg;
    TEST_CHILD_CHECK(give_up(s, FILCH_NOW, NULL) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_pool_destroy(s->pool) == FILCH_OK);
}

static void nothing_in_child(void *arg)
{
    (void)arg;
}

static void abandon__fork__child_frees_and_parent_goes_on(void **state)
{
    static stuck s;
    (void)state;
    make(&s, 2, 0);
    post_held(&s, 2);
    test_await(&s.begun, 2);
    assert_int_equal(give_up(&s, FILCH_NOW, NULL), FILCH_E_TIMEOUT);
    test_assert_child_ok(end_in_child, &s);
    assert_int_equal(filch_pool_destroy(s.pool), FILCH_OK);
    test_assert_child_ok(nothing_in_child, NULL); /* while a thread waits for the pool's end */
    atomic_store(&s.go, 1);
    await_gone(&s);
    assert_int_equal(atomic_load(&s.ran), 2);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(abandon__stuck_tasks__named_and_left_behind),
        cmocka_unit_test(abandon__all_end_in_time__drains),
        cmocka_unit_test(abandon__twice_then_another_mode__waits_again),
        cmocka_unit_test(abandon__from_a_worker__refused),
        cmocka_unit_test(report__task_inside_a_post__the_newest_is_named),
        cmocka_unit_test(abandon__live_submitters__each_gets_its_answer),
        cmocka_unit_test(abandon__fork__child_frees_and_parent_goes_on),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
