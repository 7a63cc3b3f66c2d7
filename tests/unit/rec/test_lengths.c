/* SPDX-License-Identifier: MIT */
/* The histogram of task lengths: its buckets, what it says of lengths that are known against an
 * exact sort of them, and what counts as the length of a task. */
#include "support/pool.h"

#include <math.h>
#include <stdlib.h>

#include "core/pool.h"
#include "core/timing.h"
#include "rec/lengths.h"

enum { LAST = FILCH_LENGTH_BUCKETS - 1, WORKERS = 3 };

static uint64_t longest_of(unsigned bucket)
{
    return bucket == LAST ? UINT64_MAX : filch_length_from(bucket + 1) - 1;
}

static void buckets__all__follow_without_gap_and_are_narrow(void **state)
{
    (void)state;
    assert_int_equal(filch_length_from(0), 0);
    for (unsigned i = 0; i <= LAST; i++) {
        const uint64_t from = filch_length_from(i);
        const uint64_t width = longest_of(i) - from; /* less one */
        assert_int_equal(filchi_length_bucket(from), i);
        assert_int_equal(filchi_length_bucket(longest_of(i)), i);
        assert_true(i < 16 ? width == 0 : width < from / 8);
    }
    assert_int_equal(filchi_length_bucket(UINT64_MAX), LAST);
    assert_true(filch_length_from(FILCH_LENGTH_BUCKETS) == UINT64_MAX);
    assert_true(filch_length_from(UINT32_MAX) == UINT64_MAX);
}

static filch_pool *timing_pool(unsigned workers)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = workers;
    config.flags = FILCH_POOL_STRICT | FILCH_POOL_TIME_TASKS;
    return test_pool_make_as(&config);
}

static filch_lengths lengths_of(const filch_pool *pool)
{
    filch_lengths lengths = FILCH_LENGTHS_INIT;
    assert_int_equal(filch_stats_read_lengths(pool, &lengths), FILCH_OK);
    return lengths;
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Any number of digits, so that each order of magnitude has its share. */
static uint64_t any_length(test_rng *rng, size_t i)
{
    static const uint64_t edges[] = { 0, 1, 7, 8, 15, 16, 17, UINT64_MAX, UINT64_MAX - 1 };
    if (i < TEST_CASES(edges)) {
        return edges[i];
    }
    const uint64_t power = UINT64_C(1) << test_rng_below(rng, 64);
    switch (test_rng_below(rng, 4)) {
    case 0:
        return power;
    case 1:
        return power - 1;
    default:
        return test_rng_next(rng) & (power | (power - 1));
    }
}

/* The k-th shortest of n, from a q in the middle between the ranks. */
static void expect_rank(const filch_lengths *lengths, const uint64_t *sorted, size_t n, size_t k)
{
    const uint64_t got = filch_lengths_quantile(lengths, ((double)k - 0.5) / (double)n);
    const uint64_t exact = sorted[k - 1];
    assert_true(got == longest_of(filchi_length_bucket(exact)));
    assert_true(got >= exact && got - exact <= exact / 8);
}

static void expect_counts(const filch_lengths *lengths, const uint64_t *sorted, size_t n)
{
    size_t at = 0;
    for (unsigned i = 0; i <= LAST; i++) {
        uint64_t count = 0;
        while (at < n && sorted[at] <= longest_of(i)) {
            at++;
            count++;
        }
        assert_int_equal(lengths->counts[i], count);
    }
    assert_int_equal(at, n);
    assert_int_equal(lengths->tasks, n);
}

static void lengths__known_ones__match_an_exact_sort(void **state)
{
    const size_t n = 100000;
    uint64_t *const sorted = malloc(n * sizeof(*sorted));
    filch_pool *pool = timing_pool(WORKERS);
    test_rng rng = test_rng_make(2);
    uint64_t sum = 0;
    (void)state;
    assert_non_null(sorted);
    for (size_t i = 0; i < n; i++) { /* the workers have nothing to do, and record nothing */
        sorted[i] = any_length(&rng, i);
        sum += sorted[i];
        filchi_lengths_record(pool->workers[i % WORKERS]->lengths, sorted[i]);
    }
    const filch_lengths lengths = lengths_of(pool);
    qsort(sorted, n, sizeof(*sorted), compare);
    expect_counts(&lengths, sorted, n);
    assert_int_equal(lengths.sum_ns, sum);
    for (size_t k = 1; k <= n; k += k < 100 || k > n - 100 ? 1 : 37) {
        expect_rank(&lengths, sorted, n, k);
    }
    assert_int_equal(filch_lengths_quantile(&lengths, 0), 0);
    assert_int_equal(filch_lengths_quantile(&lengths, -1), 0);
    assert_int_equal(filch_lengths_quantile(&lengths, (double)NAN), 0);
    assert_true(filch_lengths_quantile(&lengths, 1) == UINT64_MAX);
    assert_true(filch_lengths_quantile(&lengths, HUGE_VAL) == UINT64_MAX);
    free(sorted);
    test_pool_close(pool);
}

static void quantile__few_tasks__the_right_one(void **state)
{
    filch_lengths lengths = FILCH_LENGTHS_INIT;
    (void)state;
    assert_int_equal(filch_lengths_quantile(&lengths, 0.5), 0);
    assert_int_equal(filch_lengths_quantile(NULL, 0.5), 0);
    lengths.tasks = 4;
    lengths.counts[3] = 1;
    lengths.counts[5] = 2;
    lengths.counts[9] = 1;
    assert_int_equal(filch_lengths_quantile(&lengths, 0), 3);
    assert_int_equal(filch_lengths_quantile(&lengths, 0.25), 3);
    assert_int_equal(filch_lengths_quantile(&lengths, 0.251), 5);
    assert_int_equal(filch_lengths_quantile(&lengths, 0.75), 5);
    assert_int_equal(filch_lengths_quantile(&lengths, 0.76), 9);
    assert_int_equal(filch_lengths_quantile(&lengths, 1), 9);
}

/* Waits and tasks inside are no part of a length; nothing is counted twice or lost. */
static void timing__tasks_inside_a_task__each_has_its_own_part(void **state)
{
    static filchi_lengths lengths;
    static filchi_worker worker;
    (void)state;
    void *memory = aligned_alloc(FILCH_REGION_BYTES, FILCH_REGION_BYTES);
    assert_non_null(memory);
    worker.lane.worker = &worker;
    filch_cx *cx = filchi_region_make(memory, &worker.lane, NULL, 1)->records;
    worker.lengths = &lengths;
    filchi_timesheet_begin(&worker.time, FILCHI_BUSY, filchi_now());
    const filchi_timing outer = filchi_timing_begin(cx);
    for (int i = 0; i < 3; i++) {
        filchi_timesheet_turn(&worker.time, FILCHI_SEARCHING);
        test_spin_ns(1000000);
        filchi_timesheet_turn(&worker.time, FILCHI_PARKED);
        test_spin_ns(1000000);
        filchi_timesheet_turn(&worker.time, FILCHI_BUSY);
        const filchi_timing inner = filchi_timing_begin(cx);
        const filchi_timing innermost = filchi_timing_begin(cx);
        test_spin_ns(1000);
        filchi_timing_end(cx, innermost);
        filchi_timing_end(cx, inner);
    }
    filchi_timing_end(cx, outer);
    const uint64_t now = filchi_now();
    const uint64_t sum = filchi_load_relaxed_u64(&lengths.sum_ns);
    uint64_t tasks = 0;
    for (unsigned i = 0; i <= LAST; i++) {
        tasks += filchi_load_relaxed_u64(&lengths.counts[i]);
    }
    assert_int_equal(tasks, 7);
    assert_int_equal(sum, lengths.inner_ns); /* of the whole outermost task */
    assert_true(sum >= 3000);
    assert_true(sum <= filchi_stopwatch_read(&worker.time.watches[FILCHI_BUSY], now));
    free(memory);
}

/* Whole pools. */

static void spin(filch_cx *cx, void *arg)
{
    (void)cx;
    test_spin_ns((uint64_t)(uintptr_t)arg);
}

static void lengths__a_long_task__is_seen(void **state)
{
    enum { SPIN_NS = 3000000 };
    filch_pool *pool = timing_pool(1);
    (void)state;
    test_pool_run(pool, spin, (void *)(uintptr_t)SPIN_NS);
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    const filch_lengths lengths = lengths_of(pool);
    assert_int_equal(lengths.tasks, 1);
    assert_true(lengths.sum_ns >= SPIN_NS); /* the spin lies between two readings of the clock */
    assert_true(filch_lengths_quantile(&lengths, 0.5) >= lengths.sum_ns);
    test_pool_close(pool);
}

static void mixed(filch_cx *cx, void *arg)
{
    atomic_uint *const seen = arg;
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    for (int i = 0; i < 4; i++) {
        filch_spawn(cx, &scope, test_count_task, seen);
    }
    TEST_CHECK(test_fork_tree(cx, 10) == 55);
    filch_scope_end(cx, &scope);
    TEST_CHECK(filch_for(cx, 200, test_count_range, seen, NULL) == FILCH_OK);
    TEST_CHECK(filch_post(filch_cx_pool(cx), test_count_task, arg, 0, NULL) == FILCH_OK);
}

static uintptr_t set_flag(filch_cx *cx, uintptr_t flag)
{
    (void)cx;
    atomic_store((atomic_uint *)flag, 1);
    return 0;
}

static void meet_other_piece(filch_cx *cx, void *ctx, filch_range range)
{
    (void)range;
    test_answer_roll(cx, ctx);
}

/* Another worker takes a fork, and one a piece of a loop: nothing goes on before. */
static void shared(filch_cx *cx, void *arg)
{
    atomic_uint taken = 0;
    test_roll_call pieces = { 0, 2 };
    filch_loop one_each = FILCH_LOOP_INIT;
    filch_fork_handle fork;
    (void)arg;
    filch_fork(cx, &fork, set_flag, (uintptr_t)&taken);
    while (atomic_load(&taken) == 0) {
        TEST_CHECK(test_fork_tree(cx, 1) == 1); /* looks up */
    }
    TEST_CHECK(filch_join(cx, &fork) == 0);
    one_each.grain = 1;
    TEST_CHECK(filch_for(cx, 2, meet_other_piece, &pieces, &one_each) == FILCH_OK);
}

static void expect_counted(filch_pool *pool)
{
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    const filch_lengths lengths = lengths_of(pool);
    const filch_stats stats = test_pool_stats(pool);
    assert_int_equal(lengths.tasks,
                     stats.total.tasks_run + stats.total.forks_stolen + stats.total.loops_joined);
    assert_true(lengths.sum_ns <= stats.total.busy_ns);
}

/* Whenever the pool is quiet the books are right. */
static void lengths__mixed_work__counts_all_that_ran(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        filch_pool *pool = timing_pool(workers);
        filch_stats stats = FILCH_STATS_INIT;
        atomic_uint seen = 0;
        const size_t least = test_count(20, 10);
        if (workers > 1) {
            test_pool_run(pool, shared, NULL);
            stats = test_pool_stats(pool);
            assert_true(stats.total.forks_stolen > 0 && stats.total.loops_joined > 0);
        }
        for (size_t i = 0; i < least; i++) {
            for (int k = 0; k < 50; k++) {
                assert_int_equal(filch_post(pool, mixed, &seen, 0, NULL), FILCH_OK);
            }
            test_pool_run(pool, mixed, &seen);
            expect_counted(pool);
            stats = test_pool_stats(pool);
        }
        assert_int_equal(stats.total.tasks_run, stats.accepted);
        test_pool_close(pool);
    }
}

/* Under a cancelling shutdown: what does not run has no length. */
static void hold(filch_cx *cx, void *arg)
{
    atomic_uint *const gate = arg;
    (void)cx;
    atomic_fetch_add(gate, 1);
    test_await(gate, 2);
}

static void lengths__cancelled__not_counted(void **state)
{
    filch_pool *pool = timing_pool(1);
    atomic_uint gate = 0;
    atomic_uint ran = 0;
    (void)state;
    assert_int_equal(filch_post(pool, hold, &gate, 0, NULL), FILCH_OK);
    test_await(&gate, 1);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(filch_post(pool, test_count_task, &ran, 0, NULL), FILCH_OK);
    }
    assert_int_equal(filch_pool_shutdown(pool, FILCH_CANCEL, FILCH_NOW, NULL), FILCH_E_TIMEOUT);
    atomic_fetch_add(&gate, 1);
    assert_int_equal(filch_pool_shutdown(pool, FILCH_CANCEL, FILCH_FOREVER, NULL), FILCH_OK);
    const filch_lengths lengths = lengths_of(pool);
    const filch_stats stats = test_pool_stats(pool);
    assert_int_equal(lengths.tasks, 1);
    assert_int_equal(stats.total.tasks_cancelled, 5);
    assert_int_equal(atomic_load(&ran), 0);
    test_pool_close(pool);
}

static void lengths__bad_arguments__invalid_and_untouched(void **state)
{
    filch_pool *pool = timing_pool(1);
    filch_pool *plain = test_pool_make(1);
    filch_lengths lengths = FILCH_LENGTHS_INIT;
    (void)state;
    lengths.tasks = 4711;
    assert_int_equal(filch_stats_read_lengths(NULL, &lengths), FILCH_E_INVALID);
    assert_int_equal(filch_stats_read_lengths(pool, NULL), FILCH_E_INVALID);
    assert_int_equal(filch_stats_read_lengths(plain, &lengths), FILCH_E_INVALID);
    lengths.size--;
    assert_int_equal(filch_stats_read_lengths(pool, &lengths), FILCH_E_INVALID);
    assert_int_equal(lengths.tasks, 4711);
    test_pool_close(plain);
    test_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(buckets__all__follow_without_gap_and_are_narrow),
        cmocka_unit_test(lengths__known_ones__match_an_exact_sort),
        cmocka_unit_test(quantile__few_tasks__the_right_one),
        cmocka_unit_test(timing__tasks_inside_a_task__each_has_its_own_part),
        cmocka_unit_test(lengths__a_long_task__is_seen),
        cmocka_unit_test(lengths__mixed_work__counts_all_that_ran),
        cmocka_unit_test(lengths__cancelled__not_counted),
        cmocka_unit_test(lengths__bad_arguments__invalid_and_untouched),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
