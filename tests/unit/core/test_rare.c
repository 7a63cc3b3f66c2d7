/* SPDX-License-Identifier: MIT */
/* Ways through the core that other tests hardly ever take: posts of a worker whose pool is being
 * cancelled, or that has no memory left; more nodes at once than a pool keeps; a fork in a child
 * that a task has made while the other workers slept; no context. */
#include "support/pool.h"

#include <sched.h>
#include <unistd.h>

#include "core/pool.h"
#include "core/sleep.h"
#include "support/alloc.h"
#include "support/child.h"

static void cx__none__defaults(void **state)
{
    (void)state;
    assert_null(filch_cx_pool(NULL));
    assert_int_equal(filch_cx_worker(NULL), 0);
    assert_null(filch_label(NULL));
}

/* Detached tasks of the caller's own memory. */

enum { TASKS = 3000 };

typedef struct poster {
    filch_pool *pool;
    filch_task tasks[TASKS];
    filch_status status;
    test_allocator memory;
    atomic_uint ran;
    atomic_uint started;
} poster;

static poster the_poster;

static void count(filch_cx *cx, void *arg)
{
    poster *p = arg;
    (void)cx;
    (void)atomic_fetch_add(&p->ran, 1);
}

/* A pool of one worker over an allocator that can be told to fail. */
static void poster_open(poster *p)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    test_allocator_init(&p->memory);
    config.workers = 1;
    config.allocator = &p->memory.hooks;
    p->pool = test_pool_make_as(&config);
    atomic_store(&p->ran, 0);
}

static filch_status submit(poster *p, size_t number)
{
    p->tasks[number] = (filch_task)FILCH_TASK_INIT(count, p);
    return filch_submit(p->pool, &p->tasks[number], NULL);
}

static void submit_until_cancelled(filch_cx *cx, void *arg)
{
    poster *p = arg;
    size_t number = 0;
    (void)cx;
    atomic_store(&p->started, 1);
    do {
        p->status = submit(p, number % TASKS);
        number++;
    } while (p->status == FILCH_OK && number < TASKS);
    while (p->status == FILCH_OK) {
        /* all of the memory is in use; the first is refused as soon as the pool is cancelled */
        p->status = filch_post(p->pool, count, p, 0, NULL);
    }
    filch_task *const pair[] = { &p->tasks[0], &p->tasks[1] };
    size_t accepted = 4711;
    TEST_CHECK(filch_submit_many(p->pool, pair, 2, NULL, &accepted) == FILCH_E_CLOSED);
    TEST_CHECK(accepted == 0);
    p->status = submit(p, 0);
}

static void submit__own_pool_cancelled__closed(void **state)
{
    poster *p = &the_poster;
    filch_shutdown_report report;
    (void)state;
    p->pool = test_pool_make(1);
    assert_int_equal(filch_post(p->pool, submit_until_cancelled, p, 0, NULL), FILCH_OK);
    test_await(&p->started, 1);
    assert_int_equal(filch_pool_shutdown(p->pool, FILCH_CANCEL, FILCH_FOREVER, &report), FILCH_OK);
    assert_int_equal(p->status, FILCH_E_CLOSED);
    assert_true(report.refused >= 2);
    assert_int_equal(report.accepted, report.ran + report.cancelled);
    test_pool_close(p->pool);
}

static void submit_without_memory(filch_cx *cx, void *arg)
{
    poster *p = arg;
    (void)cx;
    test_allocator_fail(&p->memory, 1, true);
    for (size_t i = 0; i < TASKS; i++) {
        TEST_CHECK(submit(p, i) == FILCH_OK);
    }
    test_allocator_fail(&p->memory, 0, false);
}

static void submit__own_deque_cannot_grow__runs_at_once(void **state)
{
    poster *p = &the_poster;
    (void)state;
    poster_open(p);
    assert_int_equal(filch_post(p->pool, submit_without_memory, p, 0, NULL), FILCH_OK);
    assert_int_equal(filch_pool_wait_quiet(p->pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(atomic_load(&p->ran), TASKS);
    assert_true(test_pool_stats(p->pool).total.tasks_inline > 0);
    test_pool_close(p->pool);
    test_allocator_assert_balanced(&p->memory);
}

/* Nodes. */

enum { MANY = 20000 }; /* more than a pool keeps */

static void post_many(filch_cx *cx, void *arg)
{
    (void)cx;
    for (int i = 0; i < MANY; i++) {
        TEST_CHECK(filch_post(the_poster.pool, count, arg, 0, NULL) == FILCH_OK);
    }
}

static void post__more_than_a_pool_keeps__surplus_freed(void **state)
{
    poster *p = &the_poster;
    (void)state;
    poster_open(p);
    const unsigned long before = atomic_load(&p->memory.frees);
    assert_int_equal(filch_post(p->pool, post_many, p, 0, NULL), FILCH_OK);
    assert_int_equal(filch_pool_wait_quiet(p->pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(atomic_load(&p->ran), MANY);
    assert_true(atomic_load(&p->memory.frees) - before > 1000);
    test_pool_close(p->pool);
    test_allocator_assert_balanced(&p->memory);
}

/* A child process. */

static uintptr_t fib(filch_cx *cx, uintptr_t n)
{
    if (n < 2) {
        return n;
    }
    const filch_pair pair = filch_join2_word(cx, fib, n - 1, fib, n - 2);
    return pair.first + pair.second;
}

static void nothing(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
}

/* Whoever looks for sleepers finds some, and must not touch their locks. */
static void fork_and_spawn(filch_cx *cx)
{
    filch_scope scope;
    TEST_CHILD_CHECK(fib(cx, 12) == 144);
    filch_scope_begin(cx, &scope);
    filch_spawn(cx, &scope, nothing, NULL);
    filch_scope_end(cx, &scope);
}

static void fork_process(filch_cx *cx, void *arg)
{
    filch_pool *pool = filch_cx_pool(cx);
    (void)arg;
    while (!filchi_sleep_fork_needs_wake(filchi_sleep_look(&pool->sleep))) {
        (void)sched_yield(); /* until all others sleep */
    }
    const pid_t pid = fork();
    if (pid == 0) {
        alarm(30);
        fork_and_spawn(cx);
        test_child_leave(0);
    }
    TEST_CHECK(pid > 0 && test_child_wait(pid) == 0);
}

static void fork__in_a_child_while_others_slept__works_alone(void **state)
{
    filch_pool *pool = test_pool_make(3);
    (void)state;
    test_pool_run(pool, fork_process, NULL);
    test_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(cx__none__defaults),
        cmocka_unit_test(submit__own_pool_cancelled__closed),
        cmocka_unit_test(submit__own_deque_cannot_grow__runs_at_once),
        cmocka_unit_test(post__more_than_a_pool_keeps__surplus_freed),
        cmocka_unit_test(fork__in_a_child_while_others_slept__works_alone),
    };
    test_begin(100);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
