/* SPDX-License-Identifier: MIT */
/* A task that does not return. Ending its thread, or jumping out past a fork, aborts with the rule
 * in a debug build; a worker that somebody cancels goes on; a C++ exception that nobody catches
 * calls std::terminate (throw.cpp, if there is a C++ compiler). */
#include "support/pool.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/check.h"
#include "support/child.h"

enum { WORKERS = 2, POSTS = 1000 };

#if defined(FILCH_TEST_CXX)
void test_throw(filch_cx *cx, void *arg);
bool test_catch_inside(filch_cx *cx);
#endif

static void exit_thread(filch_cx *cx, void *arg)
{
    (void)cx;
    pthread_exit(arg);
}

static void exit_thread_in_loop(filch_cx *cx, void *ctx, filch_range range)
{
    (void)cx;
    (void)range;
    pthread_exit(ctx);
}

static void exit_thread_below(filch_cx *cx, void *arg)
{
    (void)filch_for(cx, 1, exit_thread_in_loop, arg, NULL);
}

static void be_cancelled(filch_cx *cx, void *arg)
{
    int before;
    (void)cx;
    (void)arg;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
    (void)pthread_cancel(pthread_self());
    pthread_testcancel();
}

static jmp_buf way_out;

static void jump(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
    longjmp(way_out, 1);
}

static void nop(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
}

/* Past a join2: its fork is never joined. */
static void jump_past_a_fork(filch_cx *cx, void *arg)
{
    if (setjmp(way_out) == 0) {
        filch_join2(cx, jump, arg, nop, arg);
    }
}

static void run_in_child(void *arg)
{
    filch_pool *pool = NULL;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_fn *const *fn = arg;
    config.workers = 1;
    TEST_CHILD_CHECK(filch_pool_create(&config, &pool) == FILCH_OK);
    (void)filch_run(pool, *fn, NULL);
}

static void task__does_not_return__aborts_with_the_rule(void **state)
{
    static const struct {
        filch_fn *fn;
        const char *sentence;
    } rows[] = {
        { exit_thread, "never ends its thread" },
        { exit_thread_below, "never ends its thread" },
        { be_cancelled, "never ends its thread" },
        { jump_past_a_fork, "joins its forks" },
    };
    (void)state;
    if (!FILCHI_DEBUG) {
        print_message("skipped: only debug builds check this\n");
        skip();
    }
    for (size_t i = 0; i < TEST_CASES(rows); i++) {
        filch_fn *fn = rows[i].fn;
        test_assert_child_aborts(run_in_child, &fn, rows[i].sentence);
    }
}

/* Cancellation is off: a worker that is cancelled lives, and so do its pool and its tasks. */
static void cancel_myself(filch_cx *cx, void *arg)
{
    (void)cx;
    TEST_CHECK(pthread_cancel(pthread_self()) == 0);
    pthread_testcancel();
    atomic_fetch_add((atomic_uint *)arg, 1);
}

static void count(filch_cx *cx, void *arg)
{
    (void)cx;
    pthread_testcancel();
    atomic_fetch_add((atomic_uint *)arg, 1);
}

static void worker__cancelled__goes_on(void **state)
{
    filch_pool *pool = test_pool_make(WORKERS);
    atomic_uint runs = 0;
    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(filch_post(pool, cancel_myself, &runs, 0, NULL), FILCH_OK);
    }
    for (unsigned i = 0; i < POSTS; i++) {
        assert_int_equal(filch_post(pool, count, &runs, 0, NULL), FILCH_OK);
    }
    test_pool_close(pool);
    assert_int_equal(atomic_load(&runs), POSTS + 10);
}

static void exception__leaves_a_task__terminates(void **state)
{
    (void)state;
#if defined(FILCH_TEST_CXX)
    filch_fn *fn = test_throw;
    test_assert_child_aborts(run_in_child, &fn, "terminate called");
#else
    print_message("skipped: no C++ compiler\n");
    skip();
#endif
}

#if defined(FILCH_TEST_CXX)
static void catch_inside(filch_cx *cx, void *arg)
{
    *(bool *)arg = test_catch_inside(cx);
}
#endif

static void exception__caught_inside_the_task__fine(void **state)
{
    (void)state;
#if defined(FILCH_TEST_CXX)
    filch_pool *pool = test_pool_make(WORKERS);
    bool caught = false;
    test_pool_run(pool, catch_inside, &caught);
    assert_true(caught);
    test_pool_close(pool);
#else
    print_message("skipped: no C++ compiler\n");
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(task__does_not_return__aborts_with_the_rule),
        cmocka_unit_test(worker__cancelled__goes_on),
        cmocka_unit_test(exception__leaves_a_task__terminates),
        cmocka_unit_test(exception__caught_inside_the_task__fine),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
