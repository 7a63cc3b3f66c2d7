/* SPDX-License-Identifier: MIT */
/* Pools that begin and end, thousands of times: with nothing to do, with tasks, while workers
 * steal, while threads are still on their way up, and several at once. Delays stand between a
 * worker's last look for work and its sleep, and before a worker's first step. Needs the library
 * with its hooks. */
#include "support/pool.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "support/proc.h"

enum { WORKERS_MAX = 16 };

/* Delays at the points of the library. */
typedef struct delays {
    atomic_uint_fast64_t number;
    atomic_uint starts;
    atomic_size_t parks;
    unsigned delayed_start; /* the worker's start that waits for a while, counted from 1 */
    bool before_park;
} delays;

static bool delay(void *ctx, filchi_point point)
{
    delays *d = ctx;
    if (point == FILCHI_AT_BEFORE_PARK && d->before_park) {
        uint64_t x = test_mix(test_seed() + atomic_fetch_add(&d->number, 1));
        atomic_fetch_add_explicit(&d->parks, 1, memory_order_relaxed);
        if ((x & 3U) == 0) {
            sched_yield();
        } else {
            test_spin_ns((x >> 8) % 20000);
        }
    }
    if (point == FILCHI_AT_WORKER_START && d->delayed_start != 0) {
        if (atomic_fetch_add(&d->starts, 1) + 1 == d->delayed_start) {
            test_spin_ns(1000000);
        }
    }
    return false;
}

/* What a worker did in its life. */
typedef struct life {
    atomic_uint starts[WORKERS_MAX];
    atomic_uint stops[WORKERS_MAX];
    atomic_uint runs;
} life;

static void on_start(void *arg, unsigned worker)
{
    TEST_CHECK(atomic_fetch_add(&((life *)arg)->starts[worker], 1) == 0);
}

static void on_stop(void *arg, unsigned worker)
{
    life *l = arg;
    TEST_CHECK(atomic_load(&l->starts[worker]) == 1);
    TEST_CHECK(atomic_fetch_add(&l->stops[worker], 1) == 0);
}

static filch_pool *begin_life(life *l, unsigned workers)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    memset(l, 0, sizeof(*l));
    config.workers = workers;
    config.stack_bytes = (size_t)256 << 10;
    config.on_start = on_start;
    config.on_stop = on_stop;
    config.hook_arg = l;
    return test_pool_make_as(&config);
}

/* Every worker stopped once, and `runs` tasks ran. */
static void expect_ended(life *l, unsigned workers, unsigned runs)
{
    for (unsigned w = 0; w < WORKERS_MAX; w++) {
        assert_int_equal(atomic_load(&l->starts[w]), w < workers ? 1 : 0);
        assert_int_equal(atomic_load(&l->stops[w]), w < workers ? 1 : 0);
    }
    assert_int_equal(atomic_load(&l->runs), runs);
    test_assert_clean();
}

static void count(filch_cx *cx, void *arg)
{
    (void)cx;
    atomic_fetch_add(&((life *)arg)->runs, 1);
}

static void pool__made_and_destroyed_at_once__ends(void **state)
{
    size_t rounds = test_count(10000, 3000);
    test_rng rng = test_rng_make(1);
    delays d = { .before_park = true };
    (void)state;
    filchi_points_set(delay, &d);
    for (size_t round = 0; round < rounds; round++) {
        life l;
        unsigned workers = 1 + (unsigned)test_rng_below(&rng, 4);
        unsigned tasks = (unsigned)test_rng_below(&rng, 3) * workers;
        filch_pool *pool = begin_life(&l, workers);
        for (unsigned i = 0; i < tasks; i++) {
            assert_int_equal(filch_post(pool, count, &l, 0, NULL), FILCH_OK);
        }
        if (test_rng_below(&rng, 3) == 0) {
            assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
            assert_int_equal(atomic_load(&l.runs), tasks);
        }
        if (test_rng_below(&rng, 4) == 0) {
            test_spin_ns(test_rng_below(&rng, 60000));
        }
        assert_int_equal(filch_pool_destroy(pool), FILCH_OK);
        expect_ended(&l, workers, tasks);
    }
    filchi_points_set(NULL, NULL);
    printf("%zu lives, %zu delays before a sleep\n", rounds, atomic_load(&d.parks));
    assert_true(atomic_load(&d.parks) > rounds / 50);
}

/* The end comes just when the workers have run out of work and are on their way to sleep. */
static void destroy__while_workers_fall_asleep__none_sleeps_on(void **state)
{
    size_t rounds = test_count(30000, 3000);
    test_rng rng = test_rng_make(2);
    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        life l;
        unsigned workers = 1 + (unsigned)(round & 1U);
        filch_pool *pool = begin_life(&l, workers);
        for (unsigned i = 0; i < workers; i++) {
            assert_int_equal(filch_post(pool, count, &l, 0, NULL), FILCH_OK);
        }
        assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
        test_spin_ns(test_rng_below(&rng, 40000));
        assert_int_equal(filch_pool_destroy(pool), FILCH_OK);
        expect_ended(&l, workers, workers);
    }
}

/* Forks in a task that goes on while the pool is told to end. */
static uintptr_t tree(filch_cx *cx, uintptr_t depth)
{
    if (depth == 0) {
        return 1;
    }
    filch_pair pair = filch_join2_word(cx, tree, depth - 1, tree, depth - 1);
    return pair.first + pair.second;
}

static void grow_tree(filch_cx *cx, void *arg)
{
    TEST_CHECK(tree(cx, 8) == 256);
    count(cx, arg);
}

static void destroy__while_workers_steal__each_stops_once(void **state)
{
    enum { WORKERS = 8 };
    size_t rounds = test_count(10000, 1500);
    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        life l;
        filch_pool *pool = begin_life(&l, WORKERS);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(filch_post(pool, grow_tree, &l, 0, NULL), FILCH_OK);
        }
        assert_int_equal(filch_pool_destroy(pool), FILCH_OK);
        expect_ended(&l, WORKERS, 3);
    }
}

/* Work at once, while the threads come up one by one; the k-th of them late. */
static void submit__before_all_threads_are_up__no_task_lost(void **state)
{
    enum { WORKERS = 16 };
    size_t rounds = test_count(10000, 600);
    static filch_task tasks[WORKERS];
    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        life l;
        delays d = { .delayed_start =
                         (round % 16 == 0) ? 1 + (unsigned)(round / 16 % WORKERS) : 0 };
        filchi_points_set(delay, &d);
        filch_pool *pool = begin_life(&l, WORKERS);
        for (unsigned i = 0; i < WORKERS; i++) {
            tasks[i] = (filch_task)FILCH_TASK_INIT(count, &l);
            assert_int_equal(filch_submit(pool, &tasks[i], NULL), FILCH_OK);
        }
        assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
        assert_int_equal(atomic_load(&l.runs), WORKERS);
        assert_int_equal(filch_pool_destroy(pool), FILCH_OK);
        filchi_points_set(NULL, NULL);
        expect_ended(&l, WORKERS, WORKERS);
    }
}

/* Pools of several threads, side by side: what one does leaves the others alone. */
typedef struct owner_thread {
    unsigned index;
    atomic_uint *lives;
} owner_thread;

static void *live_side_by_side(void *arg)
{
    const owner_thread *o = arg;
    test_rng rng = test_rng_make(500 + o->index);
    size_t rounds = test_count(300, 30);
    for (size_t round = 0; round < rounds; round++) {
        filch_pool *pool = NULL;
        filch_pool_config config = FILCH_POOL_CONFIG_INIT;
        life l;
        memset(&l, 0, sizeof(l));
        config.workers = 1 + (unsigned)test_rng_below(&rng, 3);
        TEST_CHECK(filch_pool_create(&config, &pool) == FILCH_OK);
        for (int i = 0; i < 100; i++) {
            TEST_CHECK(filch_post(pool, count, &l, 0, NULL) == FILCH_OK);
        }
        TEST_CHECK(filch_run(pool, grow_tree, &l) == FILCH_OK);
        TEST_CHECK(filch_pool_destroy(pool) == FILCH_OK);
        TEST_CHECK(atomic_load(&l.runs) == 101);
        atomic_fetch_add(o->lives, 1);
    }
    return NULL;
}

static void pool__lives_of_several_threads__undisturbed(void **state)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    owner_thread owners[THREADS];
    atomic_uint lives = 0;
    life l;
    filch_pool *bystander = begin_life(&l, 2);
    unsigned posted = 0;
    (void)state;
    for (unsigned i = 0; i < THREADS; i++) {
        owners[i].index = i;
        owners[i].lives = &lives;
        test_thread_start(&threads[i], live_side_by_side, &owners[i]);
    }
    while (atomic_load(&lives) < THREADS) { /* each lives once at least */
        assert_int_equal(filch_post(bystander, count, &l, 0, NULL), FILCH_OK);
        posted++;
    }
    for (unsigned i = 0; i < THREADS; i++) {
        test_thread_join(threads[i]);
    }
    assert_int_equal(filch_pool_destroy(bystander), FILCH_OK);
    expect_ended(&l, 2, posted);
}

static void destroy__thousands_of_times__no_thread_left(void **state)
{
    size_t threads_before = test_proc_threads(NULL, 0);
    size_t rounds = test_count(200, 30);
    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        life l;
        filch_pool *pool = begin_life(&l, WORKERS_MAX);
        assert_int_equal(filch_pool_destroy(pool), FILCH_OK);
        expect_ended(&l, WORKERS_MAX, 0);
    }
    assert_true(test_proc_await_threads(threads_before));
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(pool__made_and_destroyed_at_once__ends),
        cmocka_unit_test(destroy__while_workers_fall_asleep__none_sleeps_on),
        cmocka_unit_test(destroy__while_workers_steal__each_stops_once),
        cmocka_unit_test(submit__before_all_threads_are_up__no_task_lost),
        cmocka_unit_test(pool__lives_of_several_threads__undisturbed),
        cmocka_unit_test(destroy__thousands_of_times__no_thread_left),
    };
    test_begin(400);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
