/* SPDX-License-Identifier: MIT */
/* The end of a pool: both modes, deadlines, who may call it when, and that waiting for quiet waits
 * for children too. Random timing is in stress/stress_shutdown.c. */
#include "support/pool.h"

#include <string.h>

/* A task that holds its worker until it is let go. */
typedef struct gate {
    filch_pool *pool;
    atomic_uint begun;
    atomic_uint go;
    atomic_uint ran;
    atomic_uint cancelled;
} gate;

static void hold(filch_cx *cx, void *arg)
{
    gate *g = arg;
    (void)cx;
    atomic_fetch_add(&g->begun, 1);
    test_await(&g->go, 1);
    atomic_fetch_add(&g->ran, 1);
}

static void count_run(filch_cx *cx, void *arg)
{
    (void)cx;
    atomic_fetch_add(&((gate *)arg)->ran, 1);
}

static void count_end(void *data, filch_end how)
{
    gate *g = data;
    if (how == FILCH_CANCELLED) {
        atomic_fetch_add(&g->cancelled, 1);
    }
}

static const filch_submit_options with_end = { sizeof(filch_submit_options),
                                               0,
                                               NULL,
                                               count_end,
                                               FILCH_FULL_DEFAULT,
                                               0,
                                               NULL,
                                               NULL,
                                               0,
                                               { 0, 0, 0 } };

/* One worker held by a task, and `queued` tasks behind it. */
static void open_gate(gate *g, unsigned workers, unsigned queued)
{
    memset(g, 0, sizeof(*g));
    g->pool = test_pool_make(workers);
    assert_int_equal(filch_post(g->pool, hold, g, 0, &with_end), FILCH_OK);
    test_await(&g->begun, 1);
    for (unsigned i = 0; i < queued; i++) {
        assert_int_equal(filch_post(g->pool, count_run, g, 0, &with_end), FILCH_OK);
    }
}

static void shutdown__drain__runs_all_that_was_accepted(void **state)
{
    gate g;
    filch_shutdown_report report;
    (void)state;
    open_gate(&g, 1, 100);
    assert_int_equal(filch_pool_shutdown(g.pool, FILCH_DRAIN, FILCH_NOW, &report), FILCH_E_TIMEOUT);
    assert_int_equal(report.accepted, 101);
    assert_int_equal(report.ran, 0);
    assert_int_equal(report.cancelled, 0);
    assert_int_equal(filch_post(g.pool, count_run, &g, 0, &with_end), FILCH_E_CLOSED);
    atomic_store(&g.go, 1);
    assert_int_equal(filch_pool_shutdown(g.pool, FILCH_DRAIN, FILCH_FOREVER, &report), FILCH_OK);
    assert_int_equal(atomic_load(&g.ran), 101);
    assert_int_equal(report.accepted, 101);
    assert_int_equal(report.ran, 101);
    assert_int_equal(report.cancelled, 0);
    assert_int_equal(report.refused, 1);
    test_pool_close(g.pool);
}

static void shutdown__cancel__ends_what_has_not_started(void **state)
{
    gate g;
    filch_shutdown_report report;
    (void)state;
    open_gate(&g, 1, 100);
    assert_int_equal(filch_pool_shutdown(g.pool, FILCH_CANCEL, filch_time_after_ms(1), &report),
                     FILCH_E_TIMEOUT);
    assert_int_equal(atomic_load(&g.ran), 0);
    atomic_store(&g.go, 1);
    assert_int_equal(filch_pool_shutdown(g.pool, FILCH_CANCEL, FILCH_FOREVER, &report), FILCH_OK);
    assert_int_equal(atomic_load(&g.ran), 1);
    assert_int_equal(atomic_load(&g.cancelled), 100);
    assert_int_equal(report.accepted, 101);
    assert_int_equal(report.ran, 1);
    assert_int_equal(report.cancelled, 100);
    test_pool_close(g.pool);
}

/* What a task that was running got for posts of its own. */
typedef struct late {
    gate gate;
    filch_task task;
    filch_status posted;
    filch_status submitted;
} late;

static void hold_then_post(filch_cx *cx, void *arg)
{
    late *l = arg;
    (void)cx;
    atomic_fetch_add(&l->gate.begun, 1);
    test_await(&l->gate.go, 1);
    l->posted = filch_post(l->gate.pool, count_run, &l->gate, 0, NULL);
    l->submitted = filch_submit(l->gate.pool, &l->task, NULL);
}

static void shutdown__cancel__refuses_what_running_tasks_post(void **state)
{
    static late l;
    filch_shutdown_report report;
    (void)state;
    memset(&l, 0, sizeof(l));
    l.task = (filch_task)FILCH_TASK_INIT(count_run, &l.gate);
    l.gate.pool = test_pool_make(1);
    assert_int_equal(filch_post(l.gate.pool, hold_then_post, &l, 0, NULL), FILCH_OK);
    test_await(&l.gate.begun, 1);
    assert_int_equal(filch_pool_shutdown(l.gate.pool, FILCH_CANCEL, FILCH_NOW, NULL),
                     FILCH_E_TIMEOUT);
    atomic_store(&l.gate.go, 1);
    assert_int_equal(filch_pool_shutdown(l.gate.pool, FILCH_CANCEL, FILCH_FOREVER, &report),
                     FILCH_OK);
    assert_int_equal(l.posted, FILCH_E_CLOSED);
    assert_int_equal(l.submitted, FILCH_E_CLOSED);
    assert_int_equal(report.accepted, 1);
    assert_int_equal(report.ran, 1);
    assert_int_equal(report.refused, 2);
    assert_int_equal(atomic_load(&l.gate.ran), 0);
    test_pool_close(l.gate.pool);
}

static void shutdown__drain_then_cancel__the_rest_is_cancelled(void **state)
{
    gate g;
    filch_shutdown_report report;
    (void)state;
    open_gate(&g, 1, 100);
    assert_int_equal(filch_pool_shutdown(g.pool, FILCH_DRAIN, FILCH_NOW, NULL), FILCH_E_TIMEOUT);
    assert_int_equal(filch_pool_shutdown(g.pool, FILCH_CANCEL, FILCH_NOW, NULL), FILCH_E_TIMEOUT);
    atomic_store(&g.go, 1);
    assert_int_equal(filch_pool_shutdown(g.pool, FILCH_CANCEL, FILCH_FOREVER, &report), FILCH_OK);
    assert_int_equal(report.ran, 1);
    assert_int_equal(report.cancelled, 100);
    assert_int_equal(atomic_load(&g.cancelled), 100);
    test_pool_close(g.pool);
}

static void shutdown__again__ok_with_the_same_report(void **state)
{
    gate g;
    filch_shutdown_report first;
    filch_shutdown_report second;
    filch_task task = FILCH_TASK_INIT(count_run, &g);
    (void)state;
    open_gate(&g, 2, 10);
    atomic_store(&g.go, 1);
    assert_int_equal(filch_pool_shutdown(g.pool, FILCH_DRAIN, FILCH_FOREVER, &first), FILCH_OK);
    assert_int_equal(filch_pool_shutdown(g.pool, FILCH_CANCEL, FILCH_NOW, &second), FILCH_OK);
    assert_memory_equal(&first, &second, sizeof(first));
    assert_int_equal(filch_pool_shutdown(g.pool, FILCH_DRAIN, FILCH_NOW, NULL), FILCH_OK);
    assert_int_equal(filch_submit(g.pool, &task, NULL), FILCH_E_CLOSED);
    assert_int_equal(filch_run(g.pool, count_run, &g), FILCH_E_CLOSED);
    assert_int_equal(filch_pool_wait_quiet(g.pool, FILCH_NOW), FILCH_OK);
    assert_int_equal(test_pool_stats(g.pool).refused, 2);
    test_pool_close(g.pool);
}

static void ignore_range(filch_cx *cx, void *ctx, filch_range range)
{
    (void)cx;
    (void)ctx;
    (void)range;
}

static void *shut_down_for_good(void *arg)
{
    gate *g = arg;
    TEST_CHECK(filch_pool_shutdown(g->pool, FILCH_DRAIN, FILCH_FOREVER, NULL) == FILCH_OK);
    return NULL;
}

static void shutdown__while_another_thread_is_in_it__busy(void **state)
{
    gate g;
    pthread_t thread;
    filch_shutdown_report report = { .accepted = 1, .refused = 2, .ran = 3, .cancelled = 4 };
    (void)state;
    open_gate(&g, 1, 3);
    test_thread_start(&thread, shut_down_for_good, &g);
    /* A loop runs on the caller, so that this finds out without a worker. */
    while (filch_for_on(g.pool, 1, ignore_range, NULL, NULL) != FILCH_E_CLOSED) {}
    assert_int_equal(filch_pool_shutdown(g.pool, FILCH_CANCEL, FILCH_FOREVER, &report),
                     FILCH_E_BUSY);
    assert_int_equal(report.accepted, 1);
    assert_int_equal(filch_pool_destroy(g.pool), FILCH_E_BUSY);
    atomic_store(&g.go, 1);
    test_thread_join(thread);
    test_pool_close(g.pool);
}

/* A task of a draining pool may post; of a cancelling pool too, but nothing of it starts. */
static void post_chain(filch_cx *cx, void *data)
{
    gate *g = data;
    unsigned n = atomic_fetch_add(&g->ran, 1);
    (void)cx;
    if (n == 0) {
        atomic_fetch_add(&g->begun, 1);
        test_await(&g->go, 1);
    }
    if (n < 50) {
        TEST_CHECK(filch_post(g->pool, post_chain, g, 0, &with_end) == FILCH_OK);
    }
}

static void shutdown__drain_with_tasks_that_post__runs_these_too(void **state)
{
    gate g;
    filch_shutdown_report report;
    (void)state;
    memset(&g, 0, sizeof(g));
    g.pool = test_pool_make(2);
    assert_int_equal(filch_post(g.pool, post_chain, &g, 0, &with_end), FILCH_OK);
    test_await(&g.begun, 1);
    assert_int_equal(filch_pool_shutdown(g.pool, FILCH_DRAIN, FILCH_NOW, NULL), FILCH_E_TIMEOUT);
    atomic_store(&g.go, 1);
    assert_int_equal(filch_pool_shutdown(g.pool, FILCH_DRAIN, FILCH_FOREVER, &report), FILCH_OK);
    assert_int_equal(atomic_load(&g.ran), 51);
    assert_int_equal(report.ran, 51);
    assert_int_equal(report.accepted, 51);
    test_pool_close(g.pool);
}

/* Children of a running task run also while the pool is being cancelled. */
static void fork_after_cancel(filch_cx *cx, void *arg)
{
    gate *g = arg;
    atomic_fetch_add(&g->begun, 1);
    test_await(&g->go, 1);
    filch_join2(cx, count_run, g, count_run, g);
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    for (int i = 0; i < 10; i++) {
        filch_spawn(cx, &scope, count_run, g);
    }
    filch_scope_end(cx, &scope);
}

static void shutdown__cancel_during_a_task__its_forks_still_run(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        gate g;
        memset(&g, 0, sizeof(g));
        g.pool = test_pool_make(workers);
        assert_int_equal(filch_post(g.pool, fork_after_cancel, &g, 0, NULL), FILCH_OK);
        test_await(&g.begun, 1);
        assert_int_equal(filch_pool_shutdown(g.pool, FILCH_CANCEL, FILCH_NOW, NULL),
                         FILCH_E_TIMEOUT);
        atomic_store(&g.go, 1);
        test_pool_close(g.pool);
        assert_int_equal(atomic_load(&g.ran), 12);
    }
}

/* A root that waits behind the held worker is cancelled. */
static void *run_root(void *arg)
{
    gate *g = arg;
    TEST_CHECK(filch_run(g->pool, count_run, g) == FILCH_E_CANCELLED);
    uintptr_t value = 4711;
    TEST_CHECK(filch_run_word(g->pool, NULL, 0, &value) == FILCH_E_INVALID);
    TEST_CHECK(value == 4711);
    return NULL;
}

static void shutdown__cancel_before_a_root_starts__root_is_cancelled(void **state)
{
    gate g;
    pthread_t thread;
    (void)state;
    open_gate(&g, 1, 0);
    test_thread_start(&thread, run_root, &g);
    while (test_pool_stats(g.pool).accepted < 2) {}
    assert_int_equal(filch_pool_shutdown(g.pool, FILCH_CANCEL, FILCH_NOW, NULL), FILCH_E_TIMEOUT);
    atomic_store(&g.go, 1);
    test_thread_join(thread);
    test_pool_close(g.pool);
    assert_int_equal(atomic_load(&g.ran), 1);
}

static void wait_quiet__tasks_left__timeout_then_ok(void **state)
{
    gate g;
    (void)state;
    open_gate(&g, 2, 5);
    assert_int_equal(filch_pool_wait_quiet(g.pool, FILCH_NOW), FILCH_E_TIMEOUT);
    assert_int_equal(filch_pool_wait_quiet(g.pool, filch_time_after_ms(2)), FILCH_E_TIMEOUT);
    assert_int_equal(filch_pool_wait_quiet(g.pool, filch_time_after_ns(1)), FILCH_E_TIMEOUT);
    atomic_store(&g.go, 1);
    assert_int_equal(filch_pool_wait_quiet(g.pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(atomic_load(&g.ran), 6);
    assert_int_equal(filch_pool_wait_quiet(g.pool, FILCH_NOW), FILCH_OK);
    test_pool_close(g.pool);
}

static void destroy__tasks_left__runs_them_first(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        gate g;
        open_gate(&g, workers, 200);
        atomic_store(&g.go, 1);
        assert_int_equal(filch_pool_destroy(g.pool), FILCH_OK);
        assert_int_equal(atomic_load(&g.ran), 201);
        assert_int_equal(atomic_load(&g.cancelled), 0);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(shutdown__drain__runs_all_that_was_accepted),
        cmocka_unit_test(shutdown__cancel__ends_what_has_not_started),
        cmocka_unit_test(shutdown__cancel__refuses_what_running_tasks_post),
        cmocka_unit_test(shutdown__drain_then_cancel__the_rest_is_cancelled),
        cmocka_unit_test(shutdown__again__ok_with_the_same_report),
        cmocka_unit_test(shutdown__while_another_thread_is_in_it__busy),
        cmocka_unit_test(shutdown__drain_with_tasks_that_post__runs_these_too),
        cmocka_unit_test(shutdown__cancel_during_a_task__its_forks_still_run),
        cmocka_unit_test(shutdown__cancel_before_a_root_starts__root_is_cancelled),
        cmocka_unit_test(wait_quiet__tasks_left__timeout_then_ok),
        cmocka_unit_test(destroy__tasks_left__runs_them_first),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
