/* SPDX-License-Identifier: MIT */
/* What workers spend their time on adds up to workers x wall: over whole lives of pools, of all
 * kinds and sizes, and to the nanosecond when they have ended. */
#include "support/pool.h"

#include <sched.h>

#include "base/fault.h"

enum { SPAN_NS = 10000000, WORKERS_MAX = 8 };

static const unsigned sizes[] = { 1, 2, WORKERS_MAX };

static uint64_t sum_of(const filch_stats *stats)
{
    return stats->total.busy_ns + stats->total.searching_ns + stats->total.parked_ns +
           stats->total.resting_ns;
}

/* Within 3 %. A reader that was interrupted in the middle may try again. */
static void expect_adds_up(const filch_pool *pool)
{
    bool good = false;
    for (int i = 0; i < 10 && !good; i++) {
        const filch_stats stats = test_pool_stats(pool);
        const double all = (double)stats.wall_ns * stats.max_workers;
        const double sum = (double)sum_of(&stats);
        good = sum > 0.97 * all && sum < 1.03 * all;
        assert_true(stats.utilisation >= 0 && stats.utilisation <= 1);
    }
    assert_true(good);
}

typedef void life_fn(filch_pool *pool);

static void sit_idle(filch_pool *pool)
{
    (void)pool;
    (void)sched_yield();
}

static void spin(filch_cx *cx, void *arg)
{
    (void)cx;
    test_spin_ns((uint64_t)(uintptr_t)arg);
}

static void keep_busy(filch_pool *pool)
{
    for (unsigned i = 0; i < 4 * filch_pool_workers(pool); i++) {
        assert_int_equal(filch_post(pool, spin, (void *)(uintptr_t)100000, 0, NULL), FILCH_OK);
    }
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
}

static void fork_and_join(filch_pool *pool)
{
    uintptr_t value = 0;
    assert_int_equal(filch_run_word(pool, test_fork_tree, 20, &value), FILCH_OK);
    assert_int_equal(value, 6765);
}

static void spin_range(filch_cx *cx, void *ctx, filch_range range)
{
    (void)cx;
    (void)ctx;
    test_spin_ns(100 * (range.hi - range.lo));
}

static void loop_here(filch_cx *cx, void *arg)
{
    (void)arg;
    TEST_CHECK(filch_for(cx, 1000, spin_range, NULL, NULL) == FILCH_OK);
}

static void run_loops(filch_pool *pool)
{
    assert_int_equal(filch_for_on(pool, 1000, spin_range, NULL, NULL), FILCH_OK);
    test_pool_run(pool, loop_here, NULL);
}

static void post_with_gaps(filch_pool *pool)
{
    assert_int_equal(filch_post(pool, spin, (void *)(uintptr_t)20000, 0, NULL), FILCH_OK);
    test_spin_ns(200000);
}

static uintptr_t nothing(filch_cx *cx, uintptr_t arg)
{
    (void)cx;
    return arg;
}

/* Every other fork outlasts what its parent does, so that the parent sleeps if a thief has it. */
static uintptr_t uneven(filch_cx *cx, uintptr_t depth)
{
    if (depth == 0) {
        test_spin_ns(100000);
        return 1;
    }
    const filch_pair pair = filch_join2_word(cx, nothing, 0, uneven, depth - 1);
    return pair.first + pair.second;
}

static void join_and_sleep(filch_pool *pool)
{
    assert_int_equal(filch_run_word(pool, uneven, 3, NULL), FILCH_OK);
}

static void resize_at_work(filch_pool *pool)
{
    const unsigned most = filch_pool_max_workers(pool);
    for (unsigned i = 1; i <= 2 * most; i++) {
        assert_int_equal(filch_post(pool, spin, (void *)(uintptr_t)20000, 0, NULL), FILCH_OK);
        assert_int_equal(filch_pool_resize(pool, 1 + i % most), FILCH_OK);
    }
}

static void live(life_fn *life, unsigned workers)
{
    const uint64_t before = test_now_ns();
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = workers;
    config.max_workers = life == resize_at_work ? workers + 2 : 0;
    filch_pool *pool = test_pool_make_as(&config);
    const uint64_t made = test_now_ns();
    uint64_t wall = 0;
    do {
        life(pool);
        wall = test_pool_stats(pool).wall_ns;
    } while (wall < SPAN_NS);
    expect_adds_up(pool);
    const uint64_t closing = test_now_ns();
    assert_int_equal(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, NULL), FILCH_OK);
    const uint64_t closed = test_now_ns();
    expect_adds_up(pool);
    const filch_stats stats = test_pool_stats(pool);
    assert_true(stats.wall_ns >= closing - made && stats.wall_ns <= closed - before);
    assert_true((stats.total.resting_ns == 0) == (life != resize_at_work));
    test_pool_close(pool);
}

static void time__whole_lives__add_up(void **state)
{
    static life_fn *const lives[] = { sit_idle,       keep_busy,      fork_and_join, run_loops,
                                      post_with_gaps, join_and_sleep, resize_at_work };
    (void)state;
    for (size_t round = 0; round < test_count(4, 2); round++) {
        for (size_t i = 0; i < TEST_CASES(lives); i++) {
            for (size_t k = 0; k < TEST_CASES(sizes); k++) {
                live(lives[i], sizes[k]);
            }
        }
    }
}

typedef struct reading {
    filch_stats all;
    filch_worker_stats one[WORKERS_MAX];
} reading;

static reading read_pool(const filch_pool *pool)
{
    reading r = { .all = test_pool_stats(pool) };
    for (unsigned i = 0; i < r.all.workers; i++) {
        assert_int_equal(filch_stats_read_worker(pool, i, &r.one[i]), FILCH_OK);
    }
    return r;
}

/* To the nanosecond, and for ever; a pool that nobody has read before. */
static void time__after_shutdown__exact_and_frozen(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_CASES(sizes); i++) {
        filch_pool *pool = test_pool_make(sizes[i]);
        fork_and_join(pool);
        run_loops(pool);
        assert_int_equal(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, NULL), FILCH_OK);
        const reading first = read_pool(pool);
        assert_int_equal(sum_of(&first.all), first.all.wall_ns * sizes[i]);
        filch_worker_stats sum = { 0 };
        for (unsigned k = 0; k < sizes[i]; k++) {
            const filch_worker_stats *one = &first.one[k];
            assert_int_equal(one->busy_ns + one->searching_ns + one->parked_ns, first.all.wall_ns);
            sum.busy_ns += one->busy_ns;
        }
        assert_int_equal(sum.busy_ns, first.all.total.busy_ns);
        assert_true(sum.busy_ns > 0);
        const double utilisation =
            (double)sum.busy_ns / ((double)first.all.wall_ns * first.all.workers);
        assert_true(first.all.utilisation > 0.999 * utilisation &&
                    first.all.utilisation < 1.001 * utilisation);
        test_spin_ns(1000000);
        const reading second = read_pool(pool);
        assert_int_equal(second.all.wall_ns, first.all.wall_ns);
        assert_int_equal(second.all.total.busy_ns, first.all.total.busy_ns);
        assert_int_equal(second.all.total.parked_ns, first.all.total.parked_ns);
        test_pool_close(pool);
    }
}

/* Of more workers than asked for threads the missing ones have no time. */
static bool second_thread_fails(void *ctx, filchi_point point)
{
    atomic_uint *const starts = ctx;
    return point == FILCHI_AT_THREAD_START && atomic_fetch_add(starts, 1) >= 2;
}

static void time__smaller_than_asked_for__counts_those_there_are(void **state)
{
    atomic_uint starts = 0;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    config.workers = 4;
    filchi_points_set(second_thread_fails, &starts);
    filch_pool *pool = test_pool_make_as(&config);
    assert_int_equal(filch_pool_workers(pool), 2);
    keep_busy(pool);
    assert_int_equal(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, NULL), FILCH_OK);
    const filch_stats stats = test_pool_stats(pool);
    assert_int_equal(sum_of(&stats), 2 * stats.wall_ns);
    test_pool_close(pool);
    filchi_points_set(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(time__whole_lives__add_up),
        cmocka_unit_test(time__after_shutdown__exact_and_frozen),
        cmocka_unit_test(time__smaller_than_asked_for__counts_those_there_are),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
