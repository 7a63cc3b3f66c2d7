/* SPDX-License-Identifier: MIT */
/* Calls from inside a task: running a root is a plain call, waiting for the own pool is refused
 * with a status, and the pool goes on. And what a task can ask about where it is. */
#include "support/pool.h"

#include <sched.h>

static const unsigned worker_counts[] = { 1, 2, 4 };

typedef struct nest {
    filch_pool *pool;
    unsigned depth;
    atomic_uint *runs;
} nest;

static void run_nested(filch_cx *cx, void *arg)
{
    const nest *n = arg;
    TEST_CHECK(filch_cx_pool(cx) == n->pool);
    atomic_fetch_add(n->runs, 1);
    if (n->depth == 0) {
        return;
    }
    nest below = { n->pool, n->depth - 1, n->runs };
    unsigned worker = filch_cx_worker(cx);
    TEST_CHECK(filch_run(n->pool, run_nested, &below) == FILCH_OK);
    filch_join2(cx, run_nested, &below, run_nested, &below);
    TEST_CHECK(filch_cx_worker(cx) == worker);
}

static void run__inside_tasks_ten_deep__finishes_at_each_size(void **state)
{
    unsigned depth = (TEST_UNDER_ASAN || TEST_UNDER_TSAN) ? 7 : 10;
    unsigned expected = 1;
    (void)state;
    for (unsigned i = 0; i < depth; i++) {
        expected = 3 * expected + 1;
    }
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        atomic_uint runs = 0;
        filch_pool *pool = test_pool_make(worker_counts[w]);
        nest root = { pool, depth, &runs };
        test_pool_run(pool, run_nested, &root);
        assert_int_equal(atomic_load(&runs), expected);
        test_pool_close(pool);
    }
}

/* A task that hands in children and runs a root between them: all of them run. */
typedef struct family {
    filch_pool *pool;
    atomic_uint *runs;
    unsigned depth;
} family;

static void post_family(filch_cx *cx, void *data)
{
    const family *f = data;
    (void)cx;
    atomic_fetch_add(f->runs, 1);
    if (f->depth == 0) {
        return;
    }
    family child = { f->pool, f->runs, f->depth - 1 };
    for (int i = 0; i < 3; i++) {
        TEST_CHECK(filch_post(f->pool, post_family, &child, sizeof(child), NULL) == FILCH_OK);
    }
    family last = { f->pool, f->runs, 0 };
    TEST_CHECK(filch_run(f->pool, post_family, &last) == FILCH_OK);
}

static void post__children_of_children__all_run_with_a_tiny_queue(void **state)
{
    enum { ROOTS = 100 };
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        atomic_uint runs = 0;
        filch_pool_config config = FILCH_POOL_CONFIG_INIT;
        config.workers = worker_counts[w];
        config.queue_tasks = 4;
        filch_pool *pool = test_pool_make_as(&config);
        family root = { pool, &runs, 2 };
        for (int i = 0; i < ROOTS; i++) {
            assert_int_equal(filch_post(pool, post_family, &root, sizeof(root), NULL), FILCH_OK);
        }
        assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
        /* 1 + 3 + 9 posted, and 1 + 3 roots run inside. */
        assert_int_equal(atomic_load(&runs), ROOTS * (1 + 3 + 9 + 1 + 3));
        filch_stats stats = test_pool_stats(pool);
        assert_int_equal(stats.accepted, stats.total.tasks_run);
        test_pool_close(pool);
    }
}

/* Everything that would wait for the caller itself. */
static void call_what_waits(filch_cx *cx, void *arg)
{
    filch_pool *pool = arg;
    filch_shutdown_report report = { .accepted = 1, .refused = 2, .ran = 3, .cancelled = 4 };
    (void)cx;
    TEST_CHECK(filch_pool_wait_quiet(pool, FILCH_NOW) == FILCH_E_ON_WORKER);
    TEST_CHECK(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_E_ON_WORKER);
    TEST_CHECK(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, &report) == FILCH_E_ON_WORKER);
    TEST_CHECK(filch_pool_shutdown(pool, FILCH_CANCEL, FILCH_NOW, &report) == FILCH_E_ON_WORKER);
    TEST_CHECK(report.accepted == 1 && report.refused == 2);
    TEST_CHECK(report.ran == 3 && report.cancelled == 4);
    TEST_CHECK(filch_pool_destroy(pool) == FILCH_E_ON_WORKER);
}

static void call_and_fork(filch_cx *cx, void *arg)
{
    filch_join2(cx, call_what_waits, arg, call_what_waits, arg);
}

static void pool__ended_from_its_own_worker__on_worker_and_goes_on(void **state)
{
    static const unsigned sizes[] = { 1, 4 };
    size_t rounds = test_count(1000, 200);
    (void)state;
    for (size_t s = 0; s < TEST_CASES(sizes); s++) {
        filch_pool *pool = test_pool_make(sizes[s]);
        for (size_t i = 0; i < rounds; i++) {
            test_pool_run(pool, (i & 1U) ? call_what_waits : call_and_fork, pool);
        }
        for (size_t i = 0; i < rounds; i++) {
            filch_task *none = NULL;
            assert_int_equal(filch_submit(pool, none, NULL), FILCH_E_INVALID);
            assert_int_equal(filch_post(pool, call_what_waits, pool, 0, NULL), FILCH_OK);
        }
        test_pool_close(pool);
    }
}

/* A worker of one pool is a foreign thread to another. */
typedef struct two_pools {
    filch_pool *inner;
    filch_pool *outer;
    atomic_uint runs;
} two_pools;

static void inner_task(filch_cx *cx, void *arg)
{
    two_pools *t = arg;
    TEST_CHECK(filch_cx_pool(cx) == t->inner);
    atomic_fetch_add(&t->runs, 1);
}

static void outer_task(filch_cx *cx, void *arg)
{
    two_pools *t = arg;
    TEST_CHECK(filch_here() == cx);
    TEST_CHECK(filch_run(t->inner, inner_task, t) == FILCH_OK);
    TEST_CHECK(filch_post(t->inner, inner_task, t, 0, NULL) == FILCH_OK);
    TEST_CHECK(filch_pool_wait_quiet(t->inner, FILCH_FOREVER) == FILCH_OK);
    TEST_CHECK(filch_here() == cx);
    TEST_CHECK(filch_cx_pool(cx) == t->outer);
}

static void run__on_another_pool_from_a_worker__waits_for_it(void **state)
{
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        two_pools t = { test_pool_make(1), test_pool_make(worker_counts[w]), 0 };
        for (int i = 0; i < 100; i++) {
            test_pool_run(t.outer, outer_task, &t);
        }
        assert_int_equal(atomic_load(&t.runs), 200);
        test_pool_close(t.outer);
        test_pool_close(t.inner);
    }
}

static void destroy_inner(filch_cx *cx, void *arg)
{
    filch_pool *inner = NULL;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    two_pools t = { NULL, NULL, 0 };
    (void)arg;
    config.workers = 2;
    TEST_CHECK(filch_pool_create(&config, &inner) == FILCH_OK);
    t.inner = inner;
    TEST_CHECK(filch_run(inner, inner_task, &t) == FILCH_OK);
    TEST_CHECK(filch_pool_destroy(inner) == FILCH_OK);
    TEST_CHECK(atomic_load(&t.runs) == 1);
    TEST_CHECK(filch_here() == cx);
}

static void pool__lives_within_a_task_of_another__ends_there(void **state)
{
    filch_pool *pool = test_pool_make(2);
    (void)state;
    for (int i = 0; i < 100; i++) {
        test_pool_run(pool, destroy_inner, NULL);
    }
    test_pool_close(pool);
}

/* Where am I? */
typedef struct place {
    filch_pool *pool;
    atomic_uint seen;
} place;

static void look_around(filch_cx *cx, void *arg)
{
    place *p = arg;
    TEST_CHECK(cx != NULL);
    TEST_CHECK(filch_here() == cx);
    TEST_CHECK(filch_cx_pool(cx) == p->pool);
    TEST_CHECK(filch_cx_worker(cx) < filch_pool_workers(p->pool));
    TEST_CHECK(filch_label(cx) == NULL);
    atomic_fetch_add(&p->seen, 1);
}

static void look_from_forks(filch_cx *cx, void *arg)
{
    look_around(cx, arg);
    filch_join2(cx, look_around, arg, look_around, arg);
    look_around(cx, arg);
}

static void here__in_tasks_and_outside__tells_the_lane(void **state)
{
    (void)state;
    assert_null(filch_here());
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        place p = { test_pool_make(worker_counts[w]), 0 };
        for (int i = 0; i < 100; i++) {
            test_pool_run(p.pool, look_from_forks, &p);
            assert_null(filch_here());
        }
        assert_int_equal(atomic_load(&p.seen), 400);
        test_pool_close(p.pool);
    }
}

static void default_task(filch_cx *cx, void *arg)
{
    TEST_CHECK(filch_cx_pool(cx) == filch_default_pool());
    atomic_fetch_add((atomic_uint *)arg, 1);
}

static void default_pool__asked_again__the_same_and_cannot_be_destroyed(void **state)
{
    atomic_uint runs = 0;
    filch_pool *pool = filch_default_pool();
    (void)state;
    assert_non_null(pool);
    assert_ptr_equal(filch_default_pool(), pool);
    assert_int_equal(filch_pool_workers(pool), test_default_workers());
    test_pool_run(pool, default_task, &runs);
    assert_int_equal(filch_pool_destroy(pool), FILCH_E_INVALID);
    assert_ptr_equal(filch_default_pool(), pool);
    test_pool_run(pool, default_task, &runs);
    assert_int_equal(atomic_load(&runs), 2);
}

/* Tasks that hold a lock over a join whose child is stolen: nothing may be started meanwhile that
 * wants the lock too. */
typedef struct locked {
    pthread_mutex_t lock; /* tells when its own thread locks it again */
    atomic_uint done;
} locked;

typedef struct lock_family {
    locked *shared;
    atomic_uint child_began;
} lock_family;

/* Not for ever: the other workers may all be waiting for the lock. */
static void await_child(filch_cx *cx, void *arg)
{
    const lock_family *pair = arg;
    (void)cx;
    for (int i = 0; i < 200 && atomic_load(&pair->child_began) == 0; i++) {
        sched_yield();
    }
}

static void be_stolen(filch_cx *cx, void *arg)
{
    lock_family *pair = arg;
    (void)cx;
    atomic_store(&pair->child_began, 1);
    for (int i = 0; i < 20; i++) {
        sched_yield(); /* the parent looks around meanwhile */
    }
}

static void join_stolen_child(filch_cx *cx, void *arg)
{
    filch_join2(cx, await_child, arg, be_stolen, arg);
}

static void hold_lock(filch_cx *cx, void *arg)
{
    locked *shared = arg;
    lock_family pair = { .shared = shared };
    if (pthread_mutex_lock(&shared->lock) != 0) {
        TEST_FAIL("a task was started on a stack that holds the lock");
        return;
    }
    filch_isolate(cx, join_stolen_child, &pair);
    TEST_CHECK(pthread_mutex_unlock(&shared->lock) == 0);
    atomic_fetch_add(&shared->done, 1);
}

enum { LOCKED_TASKS = 64 };

static void hold_lock_many_times(filch_cx *cx, void *arg)
{
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    for (int i = 0; i < LOCKED_TASKS; i++) {
        filch_spawn(cx, &scope, hold_lock, arg);
    }
    filch_scope_end(cx, &scope);
}

static void isolate__lock_held_over_a_join__nothing_else_is_started(void **state)
{
    pthread_mutexattr_t attributes;
    locked shared = { .done = 0 };
    filch_pool *pool = test_pool_make(4);
    (void)state;
    assert_int_equal(pthread_mutexattr_init(&attributes), 0);
    assert_int_equal(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK), 0);
    assert_int_equal(pthread_mutex_init(&shared.lock, &attributes), 0);
    test_pool_run(pool, hold_lock_many_times, &shared);
    assert_int_equal(atomic_load(&shared.done), LOCKED_TASKS);
    assert_int_equal(pthread_mutex_destroy(&shared.lock), 0);
    assert_int_equal(pthread_mutexattr_destroy(&attributes), 0);
    test_pool_close(pool);
    test_assert_clean();
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(run__inside_tasks_ten_deep__finishes_at_each_size),
        cmocka_unit_test(post__children_of_children__all_run_with_a_tiny_queue),
        cmocka_unit_test(pool__ended_from_its_own_worker__on_worker_and_goes_on),
        cmocka_unit_test(run__on_another_pool_from_a_worker__waits_for_it),
        cmocka_unit_test(pool__lives_within_a_task_of_another__ends_there),
        cmocka_unit_test(here__in_tasks_and_outside__tells_the_lane),
        cmocka_unit_test(isolate__lock_held_over_a_join__nothing_else_is_started),
        cmocka_unit_test(default_pool__asked_again__the_same_and_cannot_be_destroyed),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
