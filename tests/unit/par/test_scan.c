/* SPDX-License-Identifier: MIT */
/* Running totals and packing against serial references. */
#include "support/alloc.h"
#include "support/pool.h"

#include <stdlib.h>
#include <string.h>

/* Goes on until somebody has taken part, however busy the machine. */
static bool lacks_thieves(const filch_pool *pool)
{
    return test_pool_stats(pool).total.loops_joined == 0;
}

typedef struct totals {
    const double *in;
    double *out;
    bool inclusive;
    atomic_uint emits;
} totals;

static void fold_totals(filch_cx *cx, void *ctx, filch_range range, void *value)
{
    const totals *t = ctx;
    double *sum = value;
    (void)cx;
    for (size_t i = range.lo; i < range.hi; i++) {
        *sum += t->in[i];
    }
}

static void add_totals(void *ctx, void *left, const void *right)
{
    (void)ctx;
    *(double *)left += *(const double *)right;
}

static void emit_totals(filch_cx *cx, void *ctx, filch_range range, void *value)
{
    totals *t = ctx;
    double *sum = value;
    (void)cx;
    atomic_fetch_add(&t->emits, 1);
    for (size_t i = range.lo; i < range.hi; i++) {
        const double x = t->in[i]; /* before it is overwritten, if it is */
        t->out[i] = t->inclusive ? *sum + x : *sum;
        *sum += x;
    }
}

static filch_reducer total_reducer(void)
{
    filch_reducer reducer = FILCH_REDUCER_INIT;
    reducer.value_bytes = sizeof(double);
    reducer.fold = fold_totals;
    reducer.combine = add_totals;
    return reducer;
}

/* Whole numbers below 2^20: sums of 2^30 of them are exact. */
static double *random_numbers(test_rng *rng, size_t n)
{
    double *numbers = calloc(n + 1, sizeof(*numbers));
    if (numbers == NULL) {
        abort();
    }
    for (size_t i = 0; i < n; i++) {
        numbers[i] = (double)test_rng_below(rng, 1 << 20);
    }
    return numbers;
}

static size_t random_size(test_rng *rng, size_t i, size_t large)
{
    return (size_t)test_rng_below(rng, i % 4 == 0 ? large : i % 4 == 1 ? 64 : 20000);
}

static void scan__random_inputs__equal_the_serial_totals(void **state)
{
    test_rng rng = test_rng_make(1);
    filch_reducer reducer = total_reducer();
    filch_pool *pool = test_pool_make(4);
    const size_t rounds = test_count(200, 24);
    (void)state;
    for (size_t round = 0; round < rounds || lacks_thieves(pool); round++) {
        const size_t n = random_size(&rng, round, 300000);
        double *in = random_numbers(&rng, n);
        double *expected = calloc(n + 1, sizeof(*expected));
        double sum = 0;
        double total = -1;
        const bool inclusive = (round & 1) != 0;
        filch_loop options = FILCH_LOOP_INIT;
        options.grain = (size_t)test_rng_below(&rng, 3) * test_rng_below(&rng, 5000);
        assert_non_null(expected);
        for (size_t i = 0; i < n; i++) {
            expected[i] = inclusive ? sum + in[i] : sum;
            sum += in[i];
        }
        totals t = { in, in, inclusive, 0 };
        assert_int_equal(filch_scan_on(pool, n, &reducer, emit_totals, &t,
                                       round % 3 == 0 ? NULL : &total, &options),
                         FILCH_OK);
        assert_true(n == 0 || memcmp(in, expected, n * sizeof(*in)) == 0);
        assert_true(round % 3 == 0 || total == sum);
        free(in);
        free(expected);
    }
    test_pool_close(pool);
}

static void scan__doubles_that_round__same_bits_with_any_workers(void **state)
{
    enum { N = 50001 };
    test_rng rng = test_rng_make(2);
    double *in = random_numbers(&rng, N);
    double *first = calloc(N, sizeof(*first));
    double *out = calloc(N, sizeof(*out));
    filch_reducer reducer = total_reducer();
    (void)state;
    assert_non_null(first);
    assert_non_null(out);
    for (size_t i = 0; i < N; i++) {
        in[i] /= 3;
    }
    for (unsigned workers = 1; workers <= 8; workers++) {
        filch_pool *pool = test_pool_make(workers);
        for (size_t round = 0; round < test_count(20, 3); round++) {
            totals t = { in, out, true, 0 };
            assert_int_equal(filch_scan_on(pool, N, &reducer, emit_totals, &t, NULL, NULL),
                             FILCH_OK);
            if (workers == 1) {
                memcpy(first, out, N * sizeof(*out));
            }
            assert_memory_equal(first, out, N * sizeof(*out));
        }
        test_pool_close(pool);
    }
    free(in);
    free(first);
    free(out);
}

/* Nobody asks for the sum of all: nothing is folded. */
static void scan__one_leaf_and_no_total__starts_from_the_neutral_value(void **state)
{
    double numbers[3] = { 1, 2, 3 };
    double out[3] = { 0, 0, 0 };
    filch_reducer reducer = total_reducer();
    filch_loop one_leaf = FILCH_LOOP_INIT;
    totals t = { numbers, out, true, 0 };
    filch_pool *pool = test_pool_make(1);
    (void)state;
    one_leaf.grain = 3;
    assert_int_equal(filch_scan_on(pool, 3, &reducer, emit_totals, &t, NULL, &one_leaf), FILCH_OK);
    assert_true(out[0] == 1.0 && out[1] == 3.0 && out[2] == 6.0);
    test_pool_close(pool);
}

static void scan__bad_arguments_or_no_memory__status_and_nothing_emitted(void **state)
{
    test_allocator memory;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_reducer good = total_reducer();
    filch_reducer bad = good;
    double numbers[100] = { 0 };
    double total = 5;
    totals t = { numbers, numbers, true, 0 };
    (void)state;
    test_allocator_init(&memory);
    config.workers = 2;
    config.allocator = &memory.hooks;
    filch_pool *pool = test_pool_make_as(&config);
    bad.fold = NULL;
    assert_int_equal(filch_scan_on(NULL, 100, &good, emit_totals, &t, &total, NULL),
                     FILCH_E_INVALID);
    assert_int_equal(filch_scan_on(pool, 100, &bad, emit_totals, &t, &total, NULL),
                     FILCH_E_INVALID);
    assert_int_equal(filch_scan_on(pool, 100, &good, NULL, &t, &total, NULL), FILCH_E_INVALID);
    assert_int_equal(filch_scan(NULL, 100, &good, emit_totals, &t, &total, NULL), FILCH_E_INVALID);
    test_allocator_fail(&memory, 1, true);
    assert_int_equal(filch_scan_on(pool, 100, &good, emit_totals, &t, &total, NULL), FILCH_E_NOMEM);
    test_allocator_fail(&memory, 0, false);
    bad = good;
    bad.value_bytes = SIZE_MAX / 64;
    assert_int_equal(filch_scan_on(pool, 100, &bad, emit_totals, &t, &total, NULL), FILCH_E_NOMEM);
    filch_loop bad_options = FILCH_LOOP_INIT;
    bad_options.reserved[0] = 1;
    assert_int_equal(filch_scan_on(pool, 100, &good, emit_totals, &t, &total, &bad_options),
                     FILCH_E_INVALID);
    bad.value_bytes = SIZE_MAX;
    assert_int_equal(filch_scan_on(pool, 100, &bad, emit_totals, &t, &total, NULL), FILCH_E_NOMEM);
    assert_int_equal(atomic_load(&t.emits), 0);
    assert_true(total == 5);
    assert_int_equal(filch_scan_on(pool, 0, &good, emit_totals, &t, NULL, NULL), FILCH_OK);
    assert_int_equal(filch_scan_on(pool, 0, &good, emit_totals, &t, &total, NULL), FILCH_OK);
    assert_true(total == 0);
    total = 5;
    assert_int_equal(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, NULL), FILCH_OK);
    assert_int_equal(filch_scan_on(pool, 100, &good, emit_totals, &t, &total, NULL),
                     FILCH_E_CLOSED);
    assert_true(total == 5);
    test_pool_close(pool);
    test_allocator_assert_balanced(&memory);
}

/* Packing: elements of `width` bytes, kept by a mix of their first byte; each is asked once. */
typedef struct keeping {
    const unsigned char *base;
    size_t width;
    unsigned out_of_256;
    atomic_uchar *asked;
} keeping;

static int keep_some(const void *element, void *ctx)
{
    const keeping *k = ctx;
    const size_t index = (size_t)((const unsigned char *)element - k->base) / k->width;
    TEST_CHECK(atomic_fetch_add(&k->asked[index], 1) == 0);
    return *(const unsigned char *)element < k->out_of_256 ? 42 : 0;
}

static void pack__random_inputs__equal_the_serial_copy(void **state)
{
    static const size_t widths[] = { 1, 3, 8, 24 };
    static const unsigned shares[] = { 0, 1, 128, 255, 256 };
    test_rng rng = test_rng_make(3);
    filch_pool *pool = test_pool_make(4);
    const size_t rounds = test_count(200, 24);
    (void)state;
    for (size_t round = 0; round < rounds || lacks_thieves(pool); round++) {
        const size_t n = random_size(&rng, round, 200000);
        const size_t width = widths[round % TEST_CASES(widths)];
        unsigned char *in = malloc(n * width + 1);
        unsigned char *out = malloc(n * width + 1);
        unsigned char *expected = malloc(n * width + 1);
        keeping k = { in, width, shares[round % TEST_CASES(shares)], calloc(n + 1, 1) };
        size_t kept = 0;
        size_t count = SIZE_MAX;
        filch_loop options = FILCH_LOOP_INIT;
        options.grain = (size_t)test_rng_below(&rng, 2) * test_rng_below(&rng, 1000);
        assert_true(in != NULL && out != NULL && expected != NULL && k.asked != NULL);
        for (size_t i = 0; i < n * width; i++) {
            in[i] = (unsigned char)test_rng_next(&rng);
        }
        for (size_t i = 0; i < n; i++) {
            if (in[i * width] < k.out_of_256) {
                memcpy(expected + kept++ * width, in + i * width, width);
            }
        }
        out[kept * width] = 0x77;
        assert_int_equal(filch_pack_on(pool, in, n, width, keep_some, &k, out, &count, &options),
                         FILCH_OK);
        assert_int_equal(count, kept);
        assert_memory_equal(out, expected, kept * width);
        assert_int_equal(out[kept * width], 0x77);
        free(in);
        free(out);
        free(expected);
        free(k.asked);
    }
    test_pool_close(pool);
}

static void pack__bad_arguments_or_no_memory__status_and_nothing_copied(void **state)
{
    test_allocator memory;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    unsigned char in[500] = { 0 };
    unsigned char out[500];
    atomic_uchar asked[500] = { 0 };
    keeping k = { in, 1, 256, asked };
    size_t count = 3;
    (void)state;
    memset(out, 9, sizeof(out));
    test_allocator_init(&memory);
    config.workers = 2;
    config.allocator = &memory.hooks;
    filch_pool *pool = test_pool_make_as(&config);
    assert_int_equal(filch_pack_on(NULL, in, 500, 1, keep_some, &k, out, &count, NULL),
                     FILCH_E_INVALID);
    assert_int_equal(filch_pack_on(pool, NULL, 500, 1, keep_some, &k, out, &count, NULL),
                     FILCH_E_INVALID);
    assert_int_equal(filch_pack_on(pool, in, 500, 0, keep_some, &k, out, &count, NULL),
                     FILCH_E_INVALID);
    assert_int_equal(filch_pack_on(pool, in, SIZE_MAX, 2, keep_some, &k, out, &count, NULL),
                     FILCH_E_INVALID);
    assert_int_equal(filch_pack_on(pool, in, 500, 1, NULL, &k, out, &count, NULL), FILCH_E_INVALID);
    assert_int_equal(filch_pack_on(pool, in, 500, 1, keep_some, &k, NULL, &count, NULL),
                     FILCH_E_INVALID);
    assert_int_equal(filch_pack_on(pool, in, 500, 1, keep_some, &k, out, NULL, NULL),
                     FILCH_E_INVALID);
    assert_int_equal(filch_pack(NULL, in, 500, 1, keep_some, &k, out, &count, NULL),
                     FILCH_E_INVALID);
    filch_loop bad_options = FILCH_LOOP_INIT;
    bad_options.flags = 1;
    assert_int_equal(filch_pack_on(pool, in, 500, 1, keep_some, &k, out, &count, &bad_options),
                     FILCH_E_INVALID);
    for (unsigned long nth = 1; nth <= 2; nth++) {
        test_allocator_fail(&memory, nth, true);
        assert_int_equal(filch_pack_on(pool, in, 500, 1, keep_some, &k, out, &count, NULL),
                         FILCH_E_NOMEM);
        test_allocator_fail(&memory, 0, false);
    }
    assert_int_equal(count, 3);
    assert_int_equal(out[0], 9);
    assert_int_equal(atomic_load(&asked[0]), 0);
    assert_int_equal(filch_pack_on(pool, NULL, 0, 1, keep_some, &k, NULL, &count, NULL), FILCH_OK);
    assert_int_equal(count, 0);
    bad_options.flags = 0;
    bad_options.grain = SIZE_MAX;
    assert_int_equal(filch_pack_on(pool, in, 500, 1, keep_some, &k, out, &count, &bad_options),
                     FILCH_OK);
    assert_int_equal(count, 500);
    assert_int_equal(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, NULL), FILCH_OK);
    assert_int_equal(filch_pack_on(pool, in, 500, 1, keep_some, &k, out, &count, NULL),
                     FILCH_E_CLOSED);
    test_pool_close(pool);
    test_allocator_assert_balanced(&memory);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(scan__random_inputs__equal_the_serial_totals),
        cmocka_unit_test(scan__doubles_that_round__same_bits_with_any_workers),
        cmocka_unit_test(scan__one_leaf_and_no_total__starts_from_the_neutral_value),
        cmocka_unit_test(scan__bad_arguments_or_no_memory__status_and_nothing_emitted),
        cmocka_unit_test(pack__random_inputs__equal_the_serial_copy),
        cmocka_unit_test(pack__bad_arguments_or_no_memory__status_and_nothing_copied),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
