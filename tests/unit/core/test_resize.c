/* SPDX-License-Identifier: MIT */
/* Pools that change their size: no task is lost, none runs twice, and who is off duty takes nothing
 * new. */
#include "support/pool.h"

#include "support/child.h"

enum { MOST = 6 };

static filch_pool *make(unsigned workers, unsigned max_workers)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = workers;
    config.max_workers = max_workers;
    return test_pool_make_as(&config);
}

static void resize_in_child(void *pool)
{
    TEST_CHILD_CHECK(filch_pool_resize(pool, 1) == FILCH_E_FORKED);
}

static void resize__bad_sizes_and_times__refused(void **state)
{
    filch_pool *pool = make(2, 3);
    (void)state;
    assert_int_equal(filch_pool_max_workers(pool), 3);
    assert_int_equal(filch_slots(pool), 4);
    assert_int_equal(filch_pool_max_workers(NULL), 0);
    assert_int_equal(filch_pool_resize(NULL, 1), FILCH_E_INVALID);
    assert_int_equal(filch_pool_resize(pool, 0), FILCH_E_INVALID);
    assert_int_equal(filch_pool_resize(pool, 4), FILCH_E_INVALID);
    assert_int_equal(filch_pool_workers(pool), 2);
    test_assert_child_ok(resize_in_child, pool);
    assert_int_equal(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, NULL), FILCH_OK);
    assert_int_equal(filch_pool_resize(pool, 1), FILCH_E_CLOSED);
    test_pool_close(pool);
}

static void create__max_workers_below_workers__that_many_as_workers(void **state)
{
    filch_pool *pool = make(3, 2);
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_pool *none = NULL;
    (void)state;
    assert_int_equal(filch_pool_max_workers(pool), 3);
    test_pool_close(pool);
    config.max_workers = FILCH_MAX_WORKERS + 1;
    assert_int_equal(filch_pool_create(&config, &none), FILCH_E_INVALID);
}

static void call_roll(filch_pool *pool, unsigned expected)
{
    test_roll_call r = { 0, expected };
    for (unsigned i = 0; i < expected; i++) {
        assert_int_equal(filch_post(pool, test_answer_roll, &r, 0, NULL), FILCH_OK);
    }
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
}

static atomic_uint hooks_run;

static void count_hook(void *arg, unsigned worker)
{
    (void)worker;
    atomic_fetch_add((atomic_uint *)arg, 1);
}

static void resize__grown__all_of_them_work(void **state)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    config.workers = 1;
    config.max_workers = MOST;
    config.on_start = count_hook;
    config.hook_arg = &hooks_run;
    filch_pool *pool = test_pool_make_as(&config);
    for (unsigned size = 1; size <= MOST; size++) {
        assert_int_equal(filch_pool_resize(pool, size), FILCH_OK);
        assert_int_equal(filch_pool_workers(pool), size);
        call_roll(pool, size);
        assert_int_equal(atomic_load(&hooks_run), size);
    }
    /* down and up again: they have their threads */
    for (unsigned round = 0; round < test_count(200, 20); round++) {
        assert_int_equal(filch_pool_resize(pool, 1), FILCH_OK);
        assert_int_equal(filch_pool_resize(pool, MOST), FILCH_OK);
        call_roll(pool, MOST);
    }
    assert_int_equal(atomic_load(&hooks_run), MOST);
    assert_true(test_pool_stats(pool).resizes >= MOST - 1 + 2 * (uint64_t)test_count(200, 20));
    test_pool_close(pool);
}

/* Who has begun to look for work when the pool shrinks may still take one item. */
typedef struct by_worker {
    atomic_uint tasks[MOST];
} by_worker;

static void note_worker(filch_cx *cx, void *data)
{
    by_worker *b = *(by_worker **)data;
    atomic_fetch_add(&b->tasks[filch_cx_worker(cx)], 1);
}

static void resize__shrunk__the_others_take_nothing_new(void **state)
{
    enum { TASKS = 2000 };
    filch_pool *pool = make(MOST, MOST);
    (void)state;
    for (unsigned size = MOST - 1; size >= 1; size--) {
        by_worker b = { { 0 } };
        by_worker *arg = &b;
        unsigned sum = 0;
        assert_int_equal(filch_pool_resize(pool, size), FILCH_OK);
        for (unsigned i = 0; i < TASKS; i++) {
            assert_int_equal(filch_post(pool, note_worker, &arg, sizeof(arg), NULL), FILCH_OK);
        }
        assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
        for (unsigned i = 0; i < MOST; i++) {
            sum += atomic_load(&b.tasks[i]);
            assert_true(i < size || atomic_load(&b.tasks[i]) <= 1);
        }
        assert_int_equal(sum, TASKS);
    }
    test_pool_close(pool);
}

/* A worker fills its own deque, sends itself off duty, and ends; the others run what it left. */
typedef struct leaver {
    atomic_uint ran;
    atomic_bool was_second;
} leaver;

static void fill_and_leave(filch_cx *cx, void *arg)
{
    leaver *l = arg;
    filch_pool *pool = filch_cx_pool(cx);
    for (int i = 0; i < 100; i++) {
        TEST_CHECK(filch_post(pool, test_count_task, &l->ran, 0, NULL) == FILCH_OK);
    }
    TEST_CHECK(filch_pool_resize(pool, 1) == FILCH_OK);
    atomic_store(&l->was_second, filch_cx_worker(cx) == 1);
}

static void resize__by_a_worker_with_a_full_deque__the_others_run_it(void **state)
{
    filch_pool *pool = make(2, 2);
    leaver l = { 0, false };
    unsigned rounds = 0;
    (void)state;
    while (!atomic_load(&l.was_second) || rounds < test_count(100, 10)) {
        rounds++;
        assert_int_equal(filch_pool_resize(pool, 2), FILCH_OK);
        assert_int_equal(filch_post(pool, fill_and_leave, &l, 0, NULL), FILCH_OK);
        assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
        assert_int_equal(atomic_load(&l.ran), 100 * rounds);
    }
    test_pool_close(pool);
}

/* Random sizes while everything else goes on. */
typedef struct resizer {
    filch_pool *pool;
    atomic_bool end;
    unsigned changes;
    uint64_t stream;
} resizer;

static void *resize_at_random(void *arg)
{
    resizer *r = arg;
    test_rng rng = test_rng_make(r->stream);
    while (!atomic_load(&r->end)) {
        const unsigned size = 1 + (unsigned)test_rng_below(&rng, MOST);
        TEST_CHECK(filch_pool_resize(r->pool, size) == FILCH_OK);
        r->changes++;
        test_spin_ns(test_rng_below(&rng, 50000));
    }
    return NULL;
}

static void post_two(filch_cx *cx, void *data)
{
    atomic_uint *ran = *(atomic_uint **)data;
    for (int i = 0; i < 2; i++) {
        TEST_CHECK(filch_post(filch_cx_pool(cx), test_count_task, ran, 0, NULL) == FILCH_OK);
    }
    atomic_fetch_add(ran, 1);
}

static uintptr_t tree_of_12(filch_cx *cx, uintptr_t word)
{
    (void)word;
    return test_fork_tree(cx, 12);
}

static void one_round(filch_pool *pool, unsigned round)
{
    enum { TASKS = 300, INDICES = 20000 };
    atomic_uint ran = 0;
    atomic_uint covered = 0;
    atomic_uint *arg = &ran;
    uintptr_t fib = 0;
    filch_loop options = FILCH_LOOP_INIT;
    options.grain = 1 + round % 7;
    for (int i = 0; i < TASKS; i++) {
        assert_int_equal(filch_post(pool, post_two, &arg, sizeof(arg), NULL), FILCH_OK);
    }
    assert_int_equal(filch_for_on(pool, INDICES, test_count_range, &covered, &options), FILCH_OK);
    assert_int_equal(covered, INDICES);
    assert_int_equal(filch_run_word(pool, tree_of_12, 0, &fib), FILCH_OK);
    assert_int_equal(fib, 144);
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(ran, 3 * TASKS);
}

static void resize__at_random_under_load__nothing_is_lost(void **state)
{
    resizer r = { .pool = make(2, MOST), .stream = 1 };
    pthread_t thread;
    unsigned round = 0;
    (void)state;
    test_thread_start(&thread, resize_at_random, &r);
    do {
        one_round(r.pool, round++);
    } while (round < test_count(200, 10) || test_pool_stats(r.pool).resizes < 100);
    atomic_store(&r.end, true);
    test_thread_join(thread);
    assert_true(r.changes >= 100);
    test_pool_close(r.pool);
}

static void *shut_down(void *pool)
{
    TEST_CHECK(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, NULL) == FILCH_OK);
    return NULL;
}

static void resize__while_the_pool_shuts_down__done_or_closed(void **state)
{
    (void)state;
    for (unsigned round = 0; round < test_count(300, 30); round++) {
        filch_pool *pool = make(1 + round % 3, MOST);
        pthread_t thread;
        filch_status status = FILCH_OK;
        unsigned size = 1;
        test_thread_start(&thread, shut_down, pool);
        while (status == FILCH_OK) {
            size = size % MOST + 1;
            status = filch_pool_resize(pool, size);
        }
        assert_int_equal(status, FILCH_E_CLOSED);
        test_thread_join(thread);
        test_pool_close(pool);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(resize__bad_sizes_and_times__refused),
        cmocka_unit_test(create__max_workers_below_workers__that_many_as_workers),
        cmocka_unit_test(resize__grown__all_of_them_work),
        cmocka_unit_test(resize__shrunk__the_others_take_nothing_new),
        cmocka_unit_test(resize__by_a_worker_with_a_full_deque__the_others_run_it),
        cmocka_unit_test(resize__at_random_under_load__nothing_is_lost),
        cmocka_unit_test(resize__while_the_pool_shuts_down__done_or_closed),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
