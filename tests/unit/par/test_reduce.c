/* SPDX-License-Identifier: MIT */
/* Reductions: one tree whatever the workers, order kept, memory that cannot be had. */
#include "support/alloc.h"
#include "support/pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const unsigned worker_counts[] = { 1, 2, 3, 4, 8, 16 };

/* Sums of doubles: the result shows in which order they were added. */
static void fold_doubles(filch_cx *cx, void *ctx, filch_range range, void *value)
{
    const double *numbers = ctx;
    double *sum = value;
    (void)cx;
    for (size_t i = range.lo; i < range.hi; i++) {
        *sum += numbers[i];
    }
}

static void add_doubles(void *ctx, void *left, const void *right)
{
    (void)ctx;
    *(double *)left += *(const double *)right;
}

static filch_reducer double_sum(void)
{
    filch_reducer sum = FILCH_REDUCER_INIT;
    sum.value_bytes = sizeof(double);
    sum.fold = fold_doubles;
    sum.combine = add_doubles;
    return sum;
}

static double *random_doubles(size_t n)
{
    test_rng rng = test_rng_make(n);
    double *numbers = calloc(n + 1, sizeof(*numbers));
    if (numbers == NULL) {
        abort();
    }
    for (size_t i = 0; i < n; i++) {
        numbers[i] = (double)(int64_t)test_rng_next(&rng) * 1e-9;
    }
    return numbers;
}

/* The promise, written down once more: leaves, halves at a power of two. */
static size_t leaf_grain(size_t n, size_t grain)
{
    size_t wanted = (n < 16384) ? 256 : 1024;
    size_t chosen = (grain != 0) ? grain : n / wanted + (n % wanted != 0);
    size_t least = n / 4096 + (n % 4096 != 0);
    return (chosen > least) ? chosen : least;
}

static double tree_sum(const double *numbers, size_t n, size_t grain)
{
    if (n <= grain) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            sum += numbers[i];
        }
        return sum;
    }
    size_t leaves = n / grain + (n % grain != 0);
    size_t left = 1;
    while (2 * left < leaves) {
        left *= 2;
    }
    double sum = tree_sum(numbers, left * grain, grain);
    return sum + tree_sum(numbers + left * grain, n - left * grain, grain);
}

typedef struct sum_call {
    const double *numbers;
    size_t n;
    filch_loop options;
    double sum;
} sum_call;

static void sum_in_task(filch_cx *cx, void *arg)
{
    sum_call *c = arg;
    filch_reducer reducer = double_sum();
    TEST_CHECK(filch_reduce(cx, c->n, &reducer, (void *)(uintptr_t)c->numbers, &c->sum,
                            &c->options) == FILCH_OK);
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

static void reduce__doubles__bits_of_the_promised_tree_at_any_size(void **state)
{
    static const size_t sizes[] = { 1,    2,    3,     5,     255,   256,   257,
                                    1000, 4096, 16383, 16384, 16385, 100003 };
    static const size_t grains[] = { 0, 1, 2, 7, 100, 1000000 };
    double *numbers = random_doubles(100003);
    filch_pool *pool = test_pool_make(3);
    (void)state;
    for (size_t i = 0; i < TEST_CASES(sizes); i++) {
        for (size_t g = 0; g < TEST_CASES(grains); g++) {
            sum_call c = { numbers, sizes[i], FILCH_LOOP_INIT, 0 };
            c.options.grain = grains[g];
            test_pool_run(pool, sum_in_task, &c);
            double expected = tree_sum(numbers, sizes[i], leaf_grain(sizes[i], grains[g]));
            assert_true(same_bits(c.sum, expected));
        }
    }
    test_pool_close(pool);
    free(numbers);
}

/* Goes on until somebody has taken part, however busy the machine. */
static bool lacks_thieves(const filch_pool *pool)
{
    return filch_pool_workers(pool) > 1 && test_pool_stats(pool).total.loops_joined == 0;
}

static void reduce__doubles__same_bits_with_any_workers(void **state)
{
    enum { N = 200001 };
    double *numbers = random_doubles(N);
    const double expected = tree_sum(numbers, N, leaf_grain(N, 0));
    const size_t rounds = test_count(170, 10);
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        filch_pool *pool = test_pool_make(worker_counts[w]);
        filch_reducer reducer = double_sum();
        for (size_t i = 0; i < rounds || lacks_thieves(pool); i++) {
            sum_call c = { numbers, N, FILCH_LOOP_INIT, 0 };
            if (i % 2 == 0) {
                test_pool_run(pool, sum_in_task, &c);
            } else {
                assert_int_equal(filch_reduce_on(pool, N, &reducer, numbers, &c.sum, NULL),
                                 FILCH_OK);
            }
            assert_true(same_bits(c.sum, expected));
        }
        test_pool_close(pool);
    }
    free(numbers);
}

/* Numbers from 1e-8 to 1e8, as many as take part in earnest work; more workers than CPUs. */
static void reduce__a_million_doubles_at_1_to_64_workers__same_bits(void **state)
{
    enum { GRAIN = 1000 };
    static const unsigned counts[] = { 1, 2, 3, 8, 64 };
    const size_t n = test_is_short() ? 50000 : 1000000;
    double *numbers = random_doubles(n);
    const size_t rounds = test_count(100, 3);
    (void)state;
    for (size_t i = 0; i < n; i++) {
        numbers[i] = copysign(pow(10, fmod(fabs(numbers[i]), 16) - 8), numbers[i]);
    }
    const double expected = tree_sum(numbers, n, GRAIN);
    for (size_t w = 0; w < TEST_CASES(counts); w++) {
        filch_pool *pool = test_pool_make(counts[w]);
        for (size_t i = 0; i < rounds || lacks_thieves(pool); i++) {
            sum_call c = { numbers, n, FILCH_LOOP_INIT, 0 };
            c.options.grain = GRAIN;
            test_pool_run(pool, sum_in_task, &c);
            assert_true(same_bits(c.sum, expected));
        }
        test_pool_close(pool);
    }
    free(numbers);
}

/* x -> m * x + c, composed: associative and exact, but not commutative. Fat, to be of any size. */
enum { PADDING = 3000 };

typedef struct affine {
    uint64_t m;
    uint64_t c;
    unsigned char padding[PADDING];
} affine;

typedef struct affine_job {
    atomic_uint folds;
    unsigned participants;
} affine_job;

static void affine_identity(void *ctx, void *value)
{
    affine *f = value;
    (void)ctx;
    TEST_CHECK(((uintptr_t)value & 63) == 0);
    memset(f, 0x5a, sizeof(*f));
    f->m = 1;
    f->c = 0;
}

static void affine_then(affine *f, uint64_t m, uint64_t c)
{
    f->m = m * f->m;
    f->c = m * f->c + c;
}

static void affine_fold(filch_cx *cx, void *ctx, filch_range range, void *value)
{
    affine_job *job = ctx;
    (void)cx;
    TEST_CHECK(job->participants == 0 || range.slot < job->participants);
    atomic_fetch_add(&job->folds, 1);
    for (size_t i = range.lo; i < range.hi; i++) {
        affine_then(value, 2 * test_mix(i) + 1, i);
    }
}

static void affine_combine(void *ctx, void *left, const void *right)
{
    const affine *then = right;
    (void)ctx;
    TEST_CHECK(then->padding[PADDING - 1] == 0x5a);
    affine_then(left, then->m, then->c);
}

static filch_reducer affine_reducer(void)
{
    filch_reducer reducer = FILCH_REDUCER_INIT;
    reducer.value_bytes = sizeof(affine);
    reducer.identity = affine_identity;
    reducer.fold = affine_fold;
    reducer.combine = affine_combine;
    return reducer;
}

static void reduce__operation_does_not_commute__order_kept(void **state)
{
    filch_reducer reducer = affine_reducer();
    test_rng rng = test_rng_make(1);
    const size_t rounds = test_count(400, 40);
    filch_pool *pool = test_pool_make(4);
    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        const size_t n = (size_t)test_rng_below(&rng, 20000);
        filch_loop options = FILCH_LOOP_INIT;
        affine_job job = { 0, (unsigned)test_rng_below(&rng, 6) };
        affine expected;
        static _Alignas(64) affine result;
        options.grain = (size_t)test_rng_below(&rng, 50);
        options.participants = job.participants;
        affine_identity(NULL, &result);
        for (size_t i = 0; i < n; i++) {
            affine_then(&result, 2 * test_mix(i) + 1, i);
        }
        expected = result;
        memset(&result, 0, sizeof(result));
        assert_int_equal(filch_reduce_on(pool, n, &reducer, &job, &result, &options), FILCH_OK);
        assert_memory_equal(&result, &expected, sizeof(result));
    }
    test_pool_close(pool);
}

static void reduce__no_elements__the_neutral_value(void **state)
{
    filch_reducer reducer = affine_reducer();
    affine_job job = { 0, 0 };
    static _Alignas(64) affine result;
    filch_pool *pool = test_pool_make(2);
    (void)state;
    assert_int_equal(filch_reduce_on(pool, 0, &reducer, &job, &result, NULL), FILCH_OK);
    assert_int_equal(result.m, 1);
    assert_int_equal(result.c, 0);
    assert_int_equal(atomic_load(&job.folds), 0);
    test_pool_close(pool);
}

/* `options` decide how many leaves a piece of the loop has. */
static void fail_each_allocation(size_t n, const filch_loop *options)
{
    test_allocator memory;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_reducer reducer = affine_reducer();
    bool failed = true;
    unsigned refusals = 0;
    test_allocator_init(&memory);
    config.workers = 3;
    config.allocator = &memory.hooks;
    filch_pool *pool = test_pool_make_as(&config);
    for (unsigned long nth = 1; failed; nth++) {
        affine_job job = { 0, 0 };
        static _Alignas(64) affine result;
        result.m = 77;
        const unsigned long live = atomic_load(&memory.allocs) - atomic_load(&memory.frees);
        test_allocator_fail(&memory, nth, nth % 2 == 0);
        const filch_status status = filch_reduce_on(pool, n, &reducer, &job, &result, options);
        failed = test_allocator_has_failed(&memory);
        test_allocator_fail(&memory, 0, false);
        assert_true(status == FILCH_OK || status == FILCH_E_NOMEM);
        assert_true(status == FILCH_OK || result.m == 77);
        assert_true(status == FILCH_OK || failed);
        assert_int_equal(atomic_load(&memory.allocs) - atomic_load(&memory.frees), live);
        refusals += status == FILCH_E_NOMEM;
        assert_true(nth < 10000);
    }
    assert_true(refusals > 2);
    test_pool_close(pool);
    test_allocator_assert_balanced(&memory);
}

static void reduce__nth_allocation_fails__no_memory_and_nothing_leaks(void **state)
{
    filch_loop many_leaves = FILCH_LOOP_INIT;
    (void)state;
    many_leaves.grain = 1;
    many_leaves.participants = 1;
    fail_each_allocation(5000, NULL);
    fail_each_allocation(5000, &many_leaves);
}

static void reduce__bad_arguments__invalid(void **state)
{
    test_allocator memory;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_reducer good = double_sum();
    filch_loop bad_options = FILCH_LOOP_INIT;
    double numbers[4] = { 1, 2, 3, 4 };
    double out = 9;
    (void)state;
    test_allocator_init(&memory);
    atomic_store(&memory.refuse_above, (size_t)1 << 30);
    config.workers = 1;
    config.allocator = &memory.hooks;
    filch_pool *pool = test_pool_make_as(&config);
    bad_options.flags = 1;
    filch_reducer bad[5] = { good, good, good, good, good };
    bad[0].size = 0;
    bad[1].value_bytes = 0;
    bad[2].fold = NULL;
    bad[3].combine = NULL;
    bad[4].reserved[3] = 1;
    for (size_t i = 0; i < TEST_CASES(bad); i++) {
        assert_int_equal(filch_reduce_on(pool, 4, &bad[i], numbers, &out, NULL), FILCH_E_INVALID);
    }
    assert_int_equal(filch_reduce_on(NULL, 4, &good, numbers, &out, NULL), FILCH_E_INVALID);
    assert_int_equal(filch_reduce_on(pool, 4, NULL, numbers, &out, NULL), FILCH_E_INVALID);
    assert_int_equal(filch_reduce_on(pool, 4, &good, numbers, NULL, NULL), FILCH_E_INVALID);
    assert_int_equal(filch_reduce_on(pool, 4, &good, numbers, &out, &bad_options), FILCH_E_INVALID);
    assert_int_equal(filch_reduce(NULL, 4, &good, numbers, &out, NULL), FILCH_E_INVALID);
    good.value_bytes = SIZE_MAX;
    assert_int_equal(filch_reduce_on(pool, 4, &good, numbers, &out, NULL), FILCH_E_NOMEM);
    good.value_bytes = SIZE_MAX / 2;
    assert_int_equal(filch_reduce_on(pool, 4, &good, numbers, &out, NULL), FILCH_E_NOMEM);
    good.value_bytes = sizeof(double);
    assert_true(same_bits(out, 9));
    assert_int_equal(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, NULL), FILCH_OK);
    assert_int_equal(filch_reduce_on(pool, 4, &good, numbers, &out, NULL), FILCH_E_CLOSED);
    assert_true(same_bits(out, 9));
    test_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(reduce__doubles__bits_of_the_promised_tree_at_any_size),
        cmocka_unit_test(reduce__doubles__same_bits_with_any_workers),
        cmocka_unit_test(reduce__a_million_doubles_at_1_to_64_workers__same_bits),
        cmocka_unit_test(reduce__operation_does_not_commute__order_kept),
        cmocka_unit_test(reduce__no_elements__the_neutral_value),
        cmocka_unit_test(reduce__nth_allocation_fails__no_memory_and_nothing_leaks),
        cmocka_unit_test(reduce__bad_arguments__invalid),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
