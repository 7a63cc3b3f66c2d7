/* SPDX-License-Identifier: MIT */
/* A pool whose size was left to the library goes with what the machine says: here with what the
 * test says, which takes the place of the library's look. Two looks in a row must agree, and no
 * task is lost. */
#include "support/pool.h"

#include <stdlib.h>

#include "core/pool.h"

enum { MOST = 4 };

static atomic_uint says;
static atomic_uint part; /* of the last worker */
static atomic_uint looks;
static atomic_uint flicker; /* every other look says this, if it is not 0 */

unsigned __wrap_filchi_sizing_default(bool environment, bool logical, const char *limit_names,
                                      unsigned *out_part);

unsigned __wrap_filchi_sizing_default(bool environment, bool logical, const char *limit_names,
                                      unsigned *out_part)
{
    (void)environment;
    (void)logical;
    (void)limit_names;
    *out_part = atomic_load(&part);
    const unsigned n = atomic_fetch_add(&looks, 1);
    const unsigned other = atomic_load(&flicker);
    return other != 0 && n % 2 == 1 ? other : atomic_load(&says);
}

static atomic_uint told;

static void on_resize(void *arg, unsigned workers)
{
    (void)arg;
    atomic_store(&told, workers);
}

static filch_pool *make(unsigned workers)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.max_workers = MOST;
    config.on_resize = on_resize;
    atomic_store(&says, workers);
    atomic_store(&flicker, 0);
    filch_pool *pool = test_pool_make_as(&config);
    assert_int_equal(filch_pool_workers(pool), workers);
    return pool;
}

/* Keep it busy until it has looked so many times more. */
static void work_for_looks(filch_pool *pool, unsigned more)
{
    const unsigned end = atomic_load(&looks) + more;
    atomic_uint ran = 0;
    unsigned posted = 0;
    while (atomic_load(&looks) < end) {
        assert_int_equal(filch_post(pool, test_count_task, &ran, 0, NULL), FILCH_OK);
        posted++;
    }
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(ran, posted);
}

static void follow__change_seen_twice__made(void **state)
{
    static const unsigned sizes[] = { 1, 3, 4, 2, 9 };
    filch_pool *pool = make(2);
    (void)state;
    for (size_t i = 0; i < TEST_CASES(sizes); i++) {
        const unsigned made = sizes[i] < MOST ? sizes[i] : MOST;
        atomic_store(&says, sizes[i]);
        work_for_looks(pool, 3); /* the first one may have begun before */
        assert_int_equal(filch_pool_workers(pool), made);
        assert_int_equal(atomic_load(&told), made);
    }
    test_pool_close(pool);
}

static void follow__flickers__stays(void **state)
{
    filch_pool *pool = make(2);
    (void)state;
    atomic_store(&flicker, 3);
    work_for_looks(pool, 6);
    assert_int_equal(filch_pool_workers(pool), 2);
    assert_int_equal(test_pool_stats(pool).resizes, 0);
    test_pool_close(pool);
}

static void follow__asleep__does_not_look(void **state)
{
    filch_pool *pool = make(2);
    (void)state;
    work_for_looks(pool, 1);
    filch_stats stats;
    do { /* until both have gone to sleep since they were last woken */
        stats = test_pool_stats(pool);
    } while (stats.total.parks < stats.total.wakes + 2);
    const unsigned before = atomic_load(&looks);
    const int64_t end = filch_time_now() + 3 * FILCHI_FOLLOW_NS;
    while (filch_time_now() < end) {
        test_spin_ns(1000000);
    }
    assert_int_equal(atomic_load(&looks), before);
    test_pool_close(pool);
}

/* The loop alone keeps it busy. */
static void slow_piece(filch_cx *cx, void *ctx, filch_range range)
{
    test_count_range(cx, ctx, range);
    test_spin_ns(100000);
}

static void follow__in_a_long_loop__the_others_leave_it(void **state)
{
    filch_pool *pool = make(MOST);
    filch_loop options = FILCH_LOOP_INIT;
    (void)state;
    options.grain = 1;
    atomic_store(&says, 1);
    while (filch_pool_workers(pool) != 1) {
        atomic_uint covered = 0;
        assert_int_equal(filch_for_on(pool, 5000, slow_piece, &covered, &options), FILCH_OK);
        assert_int_equal(covered, 5000);
    }
    test_pool_close(pool);
}

static void create__size_given_or_fixed__does_not_follow(void **state)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    atomic_store(&says, 2);
    filch_pool *pool = test_pool_make_as(&config);
    assert_non_null(pool->follow.look);
    test_pool_close(pool);
    config.flags = FILCH_POOL_FIXED;
    pool = test_pool_make_as(&config);
    assert_null(pool->follow.look);
    test_pool_close(pool);
    pool = test_pool_make(2);
    assert_null(pool->follow.look);
    test_pool_close(pool);
}

static uint32_t pace_of(const filch_pool *pool)
{
    return filchi_load_relaxed_u32(&pool->follow.pace);
}

static void follow__quota_is_fractional__paces_the_last_worker(void **state)
{
    (void)state;
    atomic_store(&part, 440);
    filch_pool *pool = make(2);
    assert_int_equal(pace_of(pool), filchi_pace_of(2, 440));
    atomic_store(&part, 0);
    work_for_looks(pool, 3);
    assert_int_equal(pace_of(pool), 0);
    atomic_store(&part, 100);
    atomic_store(&says, 3);
    work_for_looks(pool, 3);
    assert_int_equal(pace_of(pool), filchi_pace_of(3, 100));
    test_pool_close(pool);
    atomic_store(&part, 0);
}

static void create__size_fixed_or_no_pace__does_not_pace(void **state)
{
    static const unsigned flags[] = { FILCH_POOL_FIXED, FILCH_POOL_NO_PACE, FILCH_POOL_COMPACT };
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    atomic_store(&says, 2);
    atomic_store(&part, 440);
    for (size_t i = 0; i < TEST_CASES(flags); i++) {
        config.flags = flags[i];
        filch_pool *pool = test_pool_make_as(&config);
        assert_int_equal(pace_of(pool), 0);
        work_for_looks(pool, flags[i] == FILCH_POOL_NO_PACE ? 3 : 0);
        assert_int_equal(pace_of(pool), 0);
        test_pool_close(pool);
    }
    atomic_store(&part, 0);
}

static void create__environment_says_how_many__does_not_follow(void **state)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    assert_int_equal(setenv("FILCH_WORKERS", "2", 1), 0);
    filch_pool *pool = test_pool_make_as(&config);
    assert_null(pool->follow.look);
    test_pool_close(pool);
    config.flags = FILCH_POOL_NO_ENVIRONMENT;
    pool = test_pool_make_as(&config);
    assert_non_null(pool->follow.look);
    test_pool_close(pool);
    assert_int_equal(unsetenv("FILCH_WORKERS"), 0);
}

/* A limit of the environment stays one, whatever the machine says later. */
static void follow__a_limit_is_named__not_beyond_it(void **state)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    assert_int_equal(setenv("FILCH_TEST_LIMIT", "1500m", 1), 0);
    config.limit_names = "FILCH_TEST_LIMIT";
    config.max_workers = MOST;
    atomic_store(&says, 1);
    filch_pool *pool = test_pool_make_as(&config);
    assert_int_equal(unsetenv("FILCH_TEST_LIMIT"), 0);
    atomic_store(&says, MOST);
    work_for_looks(pool, 3);
    assert_int_equal(filch_pool_workers(pool), 2);
    test_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(follow__change_seen_twice__made),
        cmocka_unit_test(follow__flickers__stays),
        cmocka_unit_test(follow__asleep__does_not_look),
        cmocka_unit_test(follow__in_a_long_loop__the_others_leave_it),
        cmocka_unit_test(create__size_given_or_fixed__does_not_follow),
        cmocka_unit_test(follow__quota_is_fractional__paces_the_last_worker),
        cmocka_unit_test(create__size_fixed_or_no_pace__does_not_pace),
        cmocka_unit_test(create__environment_says_how_many__does_not_follow),
        cmocka_unit_test(follow__a_limit_is_named__not_beyond_it),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
