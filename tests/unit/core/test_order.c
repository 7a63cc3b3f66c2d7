/* SPDX-License-Identifier: MIT */
/* Who runs what, in which order: a thief takes a worker's oldest fork, the owner its newest; a
 * worker's detached tasks run newest first, or oldest first on request; a foreign thread's in the
 * order they came; and a join never runs a detached task. */
#include "support/pool.h"

#include <sched.h>

/* Three forks of one worker, and a second worker that is free to steal. */
typedef struct three_forks {
    atomic_uint order[3]; /* 1 for the first to start, … */
    atomic_uint started;
    atomic_uint ended;
    unsigned thread[3]; /* the worker each one ran on */
    unsigned owner;
    bool with_scope;
} three_forks;

typedef struct fork_arg {
    three_forks *all;
    unsigned index;
} fork_arg;

static uintptr_t fork_body(filch_cx *cx, uintptr_t word)
{
    fork_arg *arg = (fork_arg *)word;
    three_forks *all = arg->all;
    all->thread[arg->index] = filch_cx_worker(cx);
    atomic_store(&all->order[arg->index], atomic_fetch_add(&all->started, 1) + 1);
    if (filch_cx_worker(cx) != all->owner) {
        test_await(&all->ended, 2); /* the thief holds on until the owner has run the others */
    }
    atomic_fetch_add(&all->ended, 1);
    return arg->index;
}

static void fork_body_void(filch_cx *cx, void *arg)
{
    (void)fork_body(cx, (uintptr_t)arg);
}

static void fork_three(filch_cx *cx, void *arg)
{
    three_forks *all = arg;
    fork_arg args[3] = { { all, 0 }, { all, 1 }, { all, 2 } };
    filch_fork_handle handles[3];
    filch_scope scope;

    all->owner = filch_cx_worker(cx);
    if (all->with_scope) {
        filch_scope_begin(cx, &scope);
    }
    for (unsigned i = 0; i < 3; i++) {
        if (all->with_scope) {
            filch_spawn(cx, &scope, fork_body_void, &args[i]);
        } else {
            filch_fork(cx, &handles[i], fork_body, (uintptr_t)&args[i]);
        }
    }
    /* The owner does not join before the other worker has taken one by itself. */
    test_await(&all->started, 1);
    if (all->with_scope) {
        filch_scope_end(cx, &scope);
        return;
    }
    for (unsigned i = 3; i-- > 0;) {
        TEST_CHECK(filch_join(cx, &handles[i]) == i);
    }
}

static void fork__stolen_from__thief_gets_oldest_owner_newest(void **state)
{
    size_t rounds = test_count(300, 50);
    filch_pool *pool = test_pool_make(2);
    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        three_forks all = { .with_scope = (round & 1U) != 0 };
        test_pool_run(pool, fork_three, &all);
        assert_int_equal(atomic_load(&all.order[0]), 1);
        assert_int_equal(atomic_load(&all.order[2]), 2);
        assert_int_equal(atomic_load(&all.order[1]), 3);
        assert_int_not_equal(all.thread[0], all.owner);
        assert_int_equal(all.thread[1], all.owner);
        assert_int_equal(all.thread[2], all.owner);
    }
    test_pool_close(pool);
}

/* Detached tasks on one worker: their numbers in the order they ran. */
enum { TASKS = 5 };

typedef struct run_log {
    filch_pool *pool;
    unsigned ran;
    unsigned numbers[TASKS];
    atomic_uint go;
    atomic_uint begun;
} run_log;

typedef struct log_entry {
    run_log *log;
    unsigned number;
} log_entry;

static void log_task(filch_cx *cx, void *data)
{
    const log_entry *entry = data;
    (void)cx;
    entry->log->numbers[entry->log->ran++] = entry->number;
}

static void post_all(run_log *log)
{
    for (unsigned i = 0; i < TASKS; i++) {
        log_entry entry = { log, i };
        TEST_CHECK(filch_post(log->pool, log_task, &entry, sizeof(entry), NULL) == FILCH_OK);
    }
}

static void post_from_worker(filch_cx *cx, void *arg)
{
    run_log *log = arg;
    (void)cx;
    post_all(log);
    TEST_CHECK(log->ran == 0);
}

static void expect_worker_order(unsigned flags, bool newest_first)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = 1;
    config.flags = flags;
    filch_pool *pool = test_pool_make_as(&config);
    run_log log = { .pool = pool };
    test_pool_run(pool, post_from_worker, &log);
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(log.ran, TASKS);
    for (unsigned i = 0; i < TASKS; i++) {
        assert_int_equal(log.numbers[i], newest_first ? TASKS - 1 - i : i);
    }
    test_pool_close(pool);
}

static void post__from_a_worker__newest_first(void **state)
{
    (void)state;
    expect_worker_order(0, true);
}

static void post__from_a_worker_of_a_fifo_pool__oldest_first(void **state)
{
    (void)state;
    expect_worker_order(FILCH_POOL_FIFO, false);
}

static void hold_worker(filch_cx *cx, void *arg)
{
    run_log *log = arg;
    (void)cx;
    atomic_store(&log->begun, 1);
    test_await(&log->go, 1);
}

static void post__from_a_foreign_thread__in_order(void **state)
{
    filch_pool *pool = test_pool_make(1);
    run_log log = { .pool = pool };
    filch_task holder = FILCH_TASK_INIT(hold_worker, &log);
    (void)state;
    assert_int_equal(filch_submit(pool, &holder, NULL), FILCH_OK);
    test_await(&log.begun, 1);
    post_all(&log);
    atomic_store(&log.go, 1);
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(log.ran, TASKS);
    for (unsigned i = 0; i < TASKS; i++) {
        assert_int_equal(log.numbers[i], i);
    }
    test_pool_close(pool);
}

/* A join that waits, with detached tasks in the worker's own deque. */
static _Thread_local unsigned joins_on_this_thread;

typedef struct join_case {
    filch_pool *pool;
    atomic_uint stolen;
    atomic_uint detached;
    unsigned owner;
    bool steal;
} join_case;

static void detached_task(filch_cx *cx, void *data)
{
    join_case *c = *(join_case **)data;
    (void)cx;
    TEST_CHECK(joins_on_this_thread == 0);
    atomic_fetch_add(&c->detached, 1);
}

static uintptr_t slow_child(filch_cx *cx, uintptr_t word)
{
    join_case *c = (join_case *)word;
    atomic_store(&c->stolen, 1);
    if (filch_cx_worker(cx) != c->owner) {
        for (int i = 0; i < 2000; i++) {
            sched_yield(); /* leave the owner time to do wrong in its join */
        }
    }
    return 3;
}

static void join_over_detached(filch_cx *cx, void *arg)
{
    join_case *c = arg;
    filch_fork_handle handle;
    c->owner = filch_cx_worker(cx);
    filch_fork(cx, &handle, slow_child, (uintptr_t)c);
    if (c->steal) {
        test_await(&c->stolen, 1);
    }
    for (int i = 0; i < 10; i++) {
        TEST_CHECK(filch_post(c->pool, detached_task, &c, sizeof(c), NULL) == FILCH_OK);
    }
    joins_on_this_thread++;
    TEST_CHECK(filch_join(cx, &handle) == 3);
    joins_on_this_thread--;
    TEST_CHECK(atomic_load(&c->detached) == 0 || c->steal);
}

static void join__waits_over_detached_tasks__runs_none_of_them(void **state)
{
    size_t rounds = test_count(50, 10);
    (void)state;
    for (unsigned workers = 1; workers <= 2; workers++) {
        filch_pool *pool = test_pool_make(workers);
        for (size_t i = 0; i < rounds; i++) {
            join_case c = { .pool = pool, .steal = workers > 1 };
            test_pool_run(pool, join_over_detached, &c);
            assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
            assert_int_equal(atomic_load(&c.detached), 10);
        }
        test_pool_close(pool);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(fork__stolen_from__thief_gets_oldest_owner_newest),
        cmocka_unit_test(post__from_a_worker__newest_first),
        cmocka_unit_test(post__from_a_worker_of_a_fifo_pool__oldest_first),
        cmocka_unit_test(post__from_a_foreign_thread__in_order),
        cmocka_unit_test(join__waits_over_detached_tasks__runs_none_of_them),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
