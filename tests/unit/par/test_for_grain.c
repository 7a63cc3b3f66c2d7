/* SPDX-License-Identifier: MIT */
/* Loops without a grain: what the caller runs alone, and how the rest is cut. The clock is the
 * test's: each look of the calling thread is `step_ns` later than the last one. */
#include "support/pool.h"

#include <time.h>

enum { WORKERS = 2, PROBE_NS = 5000, UNIT_NS = 1000, MOST_CALLS = 4096 };

static _Thread_local int64_t now_ns;
static _Thread_local int64_t step_ns;

int __wrap_clock_gettime(clockid_t clock, struct timespec *out_time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *out_time)
{
    (void)clock;
    *out_time = (struct timespec){ .tv_sec = now_ns / 1000000000, .tv_nsec = now_ns % 1000000000 };
    now_ns += step_ns;
    return 0;
}

typedef struct call_log {
    atomic_uint calls;
    filch_range ranges[MOST_CALLS];
    pthread_t threads[MOST_CALLS];
} call_log;

static void log_call(filch_cx *cx, void *ctx, filch_range range)
{
    call_log *log = ctx;
    const unsigned i = atomic_fetch_add(&log->calls, 1);
    (void)cx;
    TEST_CHECK(i < MOST_CALLS);
    log->ranges[i] = range;
    log->threads[i] = pthread_self();
}

/* Run n indices; each look at the clock is `step` later than the last. */
static void run_loop(call_log *log, size_t n, int64_t step, unsigned workers)
{
    filch_pool *pool = test_pool_make(workers);
    atomic_store(&log->calls, 0);
    step_ns = step;
    assert_int_equal(filch_for_on(pool, n, log_call, log, NULL), FILCH_OK);
    step_ns = 0;
    test_pool_close(pool);
}

static size_t length_of(const call_log *log, unsigned i)
{
    return log->ranges[i].hi - log->ranges[i].lo;
}

/* The calls from `first` on are pieces of `grain`; one of them may be short. */
static void assert_pieces(const call_log *log, unsigned first, size_t indices, size_t grain)
{
    const size_t pieces = indices / grain + (indices % grain != 0);
    size_t covered = 0;
    unsigned others = 0;
    assert_int_equal(atomic_load(&log->calls), first + pieces);
    for (unsigned i = first; i < atomic_load(&log->calls); i++) {
        covered += length_of(log, i);
        others += length_of(log, i) != grain;
    }
    assert_int_equal(covered, indices);
    assert_int_equal(others, indices % grain != 0);
}

static void for__over_before_it_is_worth_a_wake__the_caller_alone(void **state)
{
    static call_log log;
    enum { N = 1000 };
    (void)state;
    run_loop(&log, N, 0, WORKERS);
    size_t next = 0;
    for (unsigned i = 0; i < atomic_load(&log.calls); i++) {
        assert_true(pthread_equal(log.threads[i], pthread_self()));
        assert_int_equal(log.ranges[i].slot, 0);
        assert_int_equal(log.ranges[i].lo, next);
        assert_true(length_of(&log, i) <= N / 16 / WORKERS);
        next = log.ranges[i].hi;
    }
    assert_int_equal(next, N);
}

static void for__first_index_is_dear__the_rest_shared_at_once(void **state)
{
    static call_log log;
    enum { N = 512 * WORKERS };
    (void)state;
    run_loop(&log, N, PROBE_NS, WORKERS);
    assert_int_equal(length_of(&log, 0), 1);
    assert_pieces(&log, 1, N - 1, (N - 1) / WORKERS / 64);
}

/* One look a microsecond: 1, 2, 4, 8 and 16 indices in 5 us, so 31 of them to 5 us. */
static void for__cheap_indices__pieces_of_a_microsecond(void **state)
{
    static call_log log;
    enum { N = 400 * WORKERS, ALONE = 31 };
    (void)state;
    run_loop(&log, N, UNIT_NS, WORKERS);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(log.ranges[i].lo, (1U << i) - 1);
        assert_int_equal(length_of(&log, i), 1U << i);
    }
    /* 1/64 of a share is 6 */
    assert_pieces(&log, 5, N - ALONE, ALONE * UNIT_NS / PROBE_NS);
}

static void for__a_microsecond_is_much_of_a_share__a_sixteenth_at_most(void **state)
{
    static call_log log;
    enum { N = 100 * WORKERS, ALONE = 1 + 2 + 4 + 6 + 6 };
    (void)state;
    run_loop(&log, N, UNIT_NS, WORKERS);
    assert_int_equal(length_of(&log, 4), 6); /* what is run alone keeps to it as well */
    assert_pieces(&log, 5, N - ALONE, 3);    /* not 19 / 5; a sixteenth is 5, a microsecond 3 */
    run_loop(&log, N, UNIT_NS / 4, WORKERS);
    size_t alone = 0;
    unsigned calls = 0;
    while (calls * UNIT_NS / 4 < PROBE_NS) {
        alone += length_of(&log, calls++);
    }
    assert_pieces(&log, calls, N - alone, (N - alone) / WORKERS / 16);
}

static void for__few_indices__shared_one_by_one(void **state)
{
    static call_log log;
    enum { N = 64 * WORKERS - 1 };
    (void)state;
    run_loop(&log, N, 0, WORKERS);
    assert_pieces(&log, 0, N, 1);
}

static void for__one_participant__no_look_at_the_clock(void **state)
{
    static call_log log;
    (void)state;
    filch_pool *pool = test_pool_make(1);
    atomic_store(&log.calls, 0);
    const int64_t before = now_ns;
    step_ns = 1;
    assert_int_equal(filch_for_on(pool, 6400, log_call, &log, NULL), FILCH_OK);
    assert_pieces(&log, 0, 6400, 101);
    step_ns = 0;
    assert_int_equal(now_ns, before);
    test_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(for__over_before_it_is_worth_a_wake__the_caller_alone),
        cmocka_unit_test(for__first_index_is_dear__the_rest_shared_at_once),
        cmocka_unit_test(for__cheap_indices__pieces_of_a_microsecond),
        cmocka_unit_test(for__a_microsecond_is_much_of_a_share__a_sixteenth_at_most),
        cmocka_unit_test(for__few_indices__shared_one_by_one),
        cmocka_unit_test(for__one_participant__no_look_at_the_clock),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
