/* SPDX-License-Identifier: MIT */
/* Nobody sleeps through work: single posts and roots after idle gaps of random length, each of
 * which must run with no other post to help it; and work that a worker makes while it goes on by
 * itself, so that only a sleeping one can take it. A lost wake-up hangs here and is ended by the
 * watchdog. Runs with both ways of parking, and once with delays before the sleep. */
#include "support/pool.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"

static const unsigned worker_counts[] = { 1, 2, 4 };

#if defined(FILCHI_HOOKS)

static atomic_uint_fast64_t delay_number;

static bool delay_before_park(void *ctx, filchi_point point)
{
    (void)ctx;
    if (point == FILCHI_AT_BEFORE_PARK) {
        uint64_t x = test_mix(test_seed() ^ atomic_fetch_add(&delay_number, 1));
        if ((x & 3U) == 0) {
            sched_yield();
        } else {
            test_spin_ns((x >> 8) % 30000);
        }
    }
    return false;
}

static void set_delays(bool on)
{
    filchi_points_set(on ? delay_before_park : NULL, NULL);
}

#else

static void set_delays(bool on)
{
    (void)on;
}

#endif

/* The pause between two pieces of work. Now and then it is random: long ones let everybody sleep.
 * Mostly it seeks the moment at which a worker falls asleep: it gets shorter when somebody has
 * slept since the last time, longer when not, so that work keeps coming right at the edge. */
typedef struct gap {
    filch_pool *pool;
    test_rng rng;
    uint64_t parks;
    uint64_t edge_ns;
    size_t slept;
} gap;

enum { EDGE_FIRST_NS = 2000, EDGE_STEP_NS = 40, EDGE_JITTER_NS = 200, EDGE_LAST_NS = 2000000 };

static gap gap_make(filch_pool *pool, uint64_t stream)
{
    gap g = { pool, test_rng_make(stream), 0, EDGE_FIRST_NS, 0 };
    return g;
}

static void seek_edge(gap *g)
{
    filch_stats stats = FILCH_STATS_INIT;
    uint64_t step = EDGE_STEP_NS + g->edge_ns / 32;
    TEST_CHECK(filch_stats_read(g->pool, &stats) == FILCH_OK);
    if (stats.total.parks != g->parks) {
        g->slept++;
        g->edge_ns = (g->edge_ns > step) ? g->edge_ns - step : 0;
    } else if (g->edge_ns < EDGE_LAST_NS) {
        g->edge_ns += step;
    }
    g->parks = stats.total.parks;
    test_spin_ns(g->edge_ns + test_rng_below(&g->rng, EDGE_JITTER_NS));
}

static void pause_for_gap(gap *g)
{
    uint64_t kind = test_rng_below(&g->rng, 32);
    if (kind == 0) {
        test_spin_ns(test_rng_below(&g->rng, 300000));
    } else if (kind < 4) {
        test_spin_ns(test_rng_below(&g->rng, 40000));
    } else {
        seek_edge(g);
    }
}

static void raise_flag(filch_cx *cx, void *arg)
{
    (void)cx;
    atomic_store_explicit((atomic_uint *)arg, 1, memory_order_release);
}

/* Goes on until one gap in 50 was long enough for a worker to sleep: if none ever does, the
 * watchdog ends it. */
static void post_with_gaps(filch_pool *pool, size_t posts, uint64_t stream)
{
    gap g = gap_make(pool, stream);
    for (size_t i = 0; i < posts || g.slept <= posts / 50; i++) {
        atomic_uint flag = 0;
        filch_task task = FILCH_TASK_INIT(raise_flag, &flag);
        if ((i & 1U) == 0) {
            assert_int_equal(filch_post(pool, raise_flag, &flag, 0, NULL), FILCH_OK);
        } else {
            assert_int_equal(filch_submit(pool, &task, NULL), FILCH_OK);
        }
        test_await(&flag, 1);
        pause_for_gap(&g);
    }
}

static void run_with_gaps(filch_pool *pool, size_t runs, uint64_t stream)
{
    gap g = gap_make(pool, stream);
    for (size_t i = 0; i < runs; i++) {
        atomic_uint flag = 0;
        assert_int_equal(filch_run(pool, raise_flag, &flag), FILCH_OK);
        assert_int_equal(atomic_load(&flag), 1);
        if (i % 16 == 0) {
            assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
        }
        pause_for_gap(&g);
    }
}

static void post__after_an_idle_gap__runs_by_itself(void **state)
{
    size_t posts = test_count(10000, 5000);
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        set_delays(w != 0);
        filch_pool *pool = test_pool_make(worker_counts[w]);
        post_with_gaps(pool, posts, w);
        filch_stats stats = test_pool_stats(pool);
        printf("%u workers: %zu posts, %llu parks, %llu wakes\n", worker_counts[w], posts,
               (unsigned long long)stats.total.parks, (unsigned long long)stats.total.wakes);
        assert_true(stats.total.parks > posts / 50);
        test_pool_close(pool);
    }
    set_delays(false);
}

static void run__after_an_idle_gap__returns(void **state)
{
    size_t runs = test_count(10000, 5000);
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        set_delays(w != 0);
        filch_pool *pool = test_pool_make(worker_counts[w]);
        run_with_gaps(pool, runs, 10 + w);
        test_pool_close(pool);
    }
    set_delays(false);
}

/* A worker makes work and goes on without it: it spins until somebody else has done it. */
typedef struct lonely {
    size_t rounds;
    atomic_uint flag;
    gap gap;
} lonely;

static uintptr_t raise_word(filch_cx *cx, uintptr_t word)
{
    raise_flag(cx, (void *)word);
    return 1;
}

static void fork_and_wait(filch_cx *cx, void *arg)
{
    lonely *l = arg;
    for (size_t i = 0; i < l->rounds; i++) {
        filch_fork_handle handle;
        filch_scope scope;
        atomic_store(&l->flag, 0);
        if ((i & 1U) == 0) {
            filch_fork(cx, &handle, raise_word, (uintptr_t)&l->flag);
            test_await(&l->flag, 1);
            TEST_CHECK(filch_join(cx, &handle) == 1);
        } else {
            filch_scope_begin(cx, &scope);
            filch_spawn(cx, &scope, raise_flag, &l->flag);
            test_await(&l->flag, 1);
            filch_scope_end(cx, &scope);
        }
        pause_for_gap(&l->gap);
    }
}

static void post_and_wait(filch_cx *cx, void *arg)
{
    lonely *l = arg;
    for (size_t i = 0; i < l->rounds; i++) {
        atomic_store(&l->flag, 0);
        TEST_CHECK(filch_post(filch_cx_pool(cx), raise_flag, &l->flag, 0, NULL) == FILCH_OK);
        test_await(&l->flag, 1);
        pause_for_gap(&l->gap);
    }
}

static void work_of_a_busy_worker(filch_fn *fn, size_t rounds, uint64_t stream)
{
    for (size_t w = 1; w < TEST_CASES(worker_counts); w++) {
        set_delays(w != 1);
        filch_pool *pool = test_pool_make(worker_counts[w]);
        lonely l = { rounds, 0, gap_make(pool, stream + w) };
        test_pool_run(pool, fn, &l);
        test_pool_close(pool);
    }
    set_delays(false);
}

static void fork__by_a_worker_that_goes_on__a_sleeper_takes_it(void **state)
{
    (void)state;
    work_of_a_busy_worker(fork_and_wait, test_count(10000, 5000), 20);
}

static void post__by_a_worker_that_goes_on__a_sleeper_takes_it(void **state)
{
    (void)state;
    work_of_a_busy_worker(post_and_wait, test_count(10000, 5000), 30);
}

/* A worker that waits in a join is there for the forks of others too, asleep, on its way to sleep
 * or searching. With two workers it is the only one who can take what its own stolen child forks.
 */
enum { FORKS_OF_A_CHILD = 200 };

typedef struct crossed {
    atomic_uint child_began;
    atomic_uint fork_taken;
    unsigned joiner;
    size_t wrong_place;
    gap gap;
} crossed;

static uintptr_t note_taken(filch_cx *cx, uintptr_t word)
{
    crossed *c = (crossed *)word;
    c->wrong_place += (filch_cx_worker(cx) != c->joiner);
    atomic_fetch_add(&c->fork_taken, 1);
    return 1;
}

static uintptr_t child_that_forks(filch_cx *cx, uintptr_t word)
{
    crossed *c = (crossed *)word;
    filch_fork_handle handle;
    atomic_store(&c->child_began, 1);
    if (filch_cx_worker(cx) == c->joiner) {
        TEST_FAIL("the child was to be stolen");
        return 0;
    }
    for (unsigned i = 1; i <= FORKS_OF_A_CHILD; i++) {
        pause_for_gap(&c->gap);
        filch_fork(cx, &handle, note_taken, word);
        test_await(&c->fork_taken, i);
        TEST_CHECK(filch_join(cx, &handle) == 1);
    }
    return 1;
}

static void cross(filch_cx *cx, void *arg)
{
    crossed *c = arg;
    filch_fork_handle handle;
    c->joiner = filch_cx_worker(cx);
    filch_fork(cx, &handle, child_that_forks, (uintptr_t)c);
    test_await(&c->child_began, 1);
    TEST_CHECK(filch_join(cx, &handle) == 1);
}

static void fork__while_the_only_other_worker_sleeps_in_a_join__taken(void **state)
{
    size_t rounds = test_count(300, 50);
    filch_pool *pool = test_pool_make(2);
    crossed c = { .gap = gap_make(pool, 60) };
    (void)state;
    for (size_t i = 0; i < rounds; i++) {
        atomic_store(&c.child_began, 0);
        atomic_store(&c.fork_taken, 0);
        test_pool_run(pool, cross, &c);
    }
    assert_int_equal(c.wrong_place, 0);
    test_pool_close(pool);
}

static void post_all(filch_cx *cx, void *arg)
{
    test_roll_call *r = arg;
    for (unsigned i = 1; i < r->expected; i++) {
        TEST_CHECK(filch_post(filch_cx_pool(cx), test_answer_roll, r, 0, NULL) == FILCH_OK);
    }
    test_answer_roll(cx, arg);
}

static void post__as_many_as_workers__all_workers_wake(void **state)
{
    size_t rounds = test_count(2000, 1000);
    (void)state;
    for (unsigned workers = 2; workers <= 8; workers *= 2) {
        filch_pool *pool = test_pool_make(workers);
        gap g = gap_make(pool, 40 + workers);
        for (size_t i = 0; i < rounds; i++) {
            test_roll_call r = { 0, workers };
            if ((i & 1U) == 0) {
                test_pool_run(pool, post_all, &r);
            } else {
                for (unsigned k = 0; k < workers; k++) {
                    assert_int_equal(filch_post(pool, test_answer_roll, &r, 0, NULL), FILCH_OK);
                }
            }
            assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
            assert_int_equal(atomic_load(&r.begun), workers);
            pause_for_gap(&g);
        }
        test_pool_close(pool);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(post__after_an_idle_gap__runs_by_itself),
        cmocka_unit_test(run__after_an_idle_gap__returns),
        cmocka_unit_test(fork__by_a_worker_that_goes_on__a_sleeper_takes_it),
        cmocka_unit_test(post__by_a_worker_that_goes_on__a_sleeper_takes_it),
        cmocka_unit_test(fork__while_the_only_other_worker_sleeps_in_a_join__taken),
        cmocka_unit_test(post__as_many_as_workers__all_workers_wake),
    };
    test_begin(300);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
