/* SPDX-License-Identifier: MIT */
/* Reductions, scans and packing on many inputs, against serial references, until somebody has taken
 * part. A scale of 125 is 1,000 reductions with thieves at each of 1 to 16 workers, and 1,000 inputs
 * for scan and pack, half of them with 10^6 elements and more. */
#include "support/elements.h"
#include "support/pool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const unsigned worker_counts[] = { 1, 2, 4, 16 };

enum { WORKERS_MOST = 16 };

static filch_loop choose_options(test_rng *rng)
{
    filch_loop options = FILCH_LOOP_INIT;
    options.grain = (size_t)(test_rng_below(rng, 2) * test_rng_below(rng, 3000));
    options.participants = (unsigned)(test_rng_below(rng, 2) * test_rng_below(rng, 6));
    return options;
}

/* ---- numbers ---- */

enum { EQUAL, SORTED, REVERSED, ORGAN_PIPE, WHOLE, SPAN, CANCELLING, KINDS };

static double choose_number(int kind, size_t i, size_t n, test_rng *rng)
{
    switch (kind) {
    case EQUAL:
        return 0.1;
    case SORTED:
        return (double)i / 3;
    case REVERSED:
        return (double)(n - i) / 3;
    case ORGAN_PIPE:
        return (double)(i < n / 2 ? i : n - i) / 7;
    case WHOLE:
        return (double)test_rng_below(rng, 1 << 20);
    case SPAN: /* from 1e-8 to 1e8, on both sides of zero */
        return (test_rng_below(rng, 2) == 0 ? 1 : -1) *
               pow(10, (double)test_rng_below(rng, 16000) / 1000 - 8);
    default:
        return i % 3 == 0 ? 1e16 : i % 3 == 1 ? 1 : -1e16;
    }
}

static double *make_numbers(int kind, size_t n, test_rng *rng)
{
    double *numbers = test_memory(n * sizeof(*numbers));
    for (size_t i = 0; i < n; i++) {
        numbers[i] = choose_number(kind, i, n, rng);
    }
    return numbers;
}

/* The promise of parallel.h, written down once more. */
static size_t leaf_grain(size_t n, size_t grain)
{
    const size_t wanted = n < 16384 ? 256 : 1024;
    const size_t chosen = grain != 0 ? grain : n / wanted + (n % wanted != 0);
    const size_t least = n / 4096 + (n % 4096 != 0);
    return chosen > least ? chosen : least;
}

static double tree_sum(const double *numbers, size_t n, size_t grain)
{
    double sum = 0;
    if (n <= grain) {
        for (size_t i = 0; i < n; i++) {
            sum += numbers[i];
        }
        return sum;
    }
    const size_t leaves = n / grain + (n % grain != 0);
    size_t left = 1;
    while (2 * left < leaves) {
        left *= 2;
    }
    sum = tree_sum(numbers, left * grain, grain);
    return sum + tree_sum(numbers + left * grain, n - left * grain, grain);
}

/* x -> m * x + c, composed: associative and exact, but not commutative. */
typedef struct affine {
    uint64_t m;
    uint64_t c;
} affine;

static void then(affine *f, uint64_t m, uint64_t c)
{
    *f = (affine){ m * f->m, m * f->c + c };
}

static void then_number(affine *f, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    then(f, 2 * test_mix(bits) + 1, bits);
}

/* What is summed up or composed, and where the running totals go. */
typedef struct series {
    const double *in;
    double *sums; /* may be `in` */
    affine *maps; /* NULL: sums */
    size_t n;
    bool inclusive;
    double sum;
    affine map;
    filch_loop options;
    atomic_size_t by_thieves; /* leaves that others than the caller folded */
} series;

static void note_slot(series *s, filch_range range)
{
    if (range.slot != 0) {
        atomic_fetch_add_explicit(&s->by_thieves, 1, memory_order_relaxed);
    }
}

static void fold_sum(filch_cx *cx, void *ctx, filch_range range, void *value)
{
    series *s = ctx;
    double *sum = value;
    (void)cx;
    note_slot(s, range);
    for (size_t i = range.lo; i < range.hi; i++) {
        *sum += s->in[i];
    }
}

static void add_sums(void *ctx, void *left, const void *right)
{
    (void)ctx;
    *(double *)left += *(const double *)right;
}

static void emit_sum(filch_cx *cx, void *ctx, filch_range range, void *value)
{
    const series *s = ctx;
    double *sum = value;
    (void)cx;
    for (size_t i = range.lo; i < range.hi; i++) {
        const double x = s->in[i]; /* before it is overwritten, if it is */
        s->sums[i] = s->inclusive ? *sum + x : *sum;
        *sum += x;
    }
}

static void identity_map(void *ctx, void *value)
{
    (void)ctx;
    *(affine *)value = (affine){ 1, 0 };
}

static void fold_map(filch_cx *cx, void *ctx, filch_range range, void *value)
{
    series *s = ctx;
    (void)cx;
    note_slot(s, range);
    for (size_t i = range.lo; i < range.hi; i++) {
        then_number(value, s->in[i]);
    }
}

static void compose_maps(void *ctx, void *left, const void *right)
{
    const affine *next = right;
    (void)ctx;
    then(left, next->m, next->c);
}

static void emit_map(filch_cx *cx, void *ctx, filch_range range, void *value)
{
    const series *s = ctx;
    affine *map = value;
    (void)cx;
    for (size_t i = range.lo; i < range.hi; i++) {
        const affine before = *map;
        then_number(map, s->in[i]);
        s->maps[i] = s->inclusive ? *map : before;
    }
}

static filch_reducer sums(void)
{
    filch_reducer reducer = FILCH_REDUCER_INIT;
    reducer.value_bytes = sizeof(double);
    reducer.fold = fold_sum;
    reducer.combine = add_sums;
    return reducer;
}

static filch_reducer maps(void)
{
    filch_reducer reducer = FILCH_REDUCER_INIT;
    reducer.value_bytes = sizeof(affine);
    reducer.identity = identity_map;
    reducer.fold = fold_map;
    reducer.combine = compose_maps;
    return reducer;
}

/* ---- reductions ---- */

static void reduce_here(filch_cx *cx, void *arg)
{
    series *s = arg;
    const filch_reducer reducer = sums();
    TEST_CHECK(filch_reduce(cx, s->n, &reducer, s, &s->sum, &s->options) == FILCH_OK);
}

static void reduce__doubles_at_1_to_16_workers__same_bits(void **state)
{
    enum { N = 100003 };
    test_rng rng = test_rng_make(1);
    double *numbers = make_numbers(SPAN, N, &rng);
    const double expected = tree_sum(numbers, N, leaf_grain(N, 0));
    const filch_reducer reducer = sums();
    const size_t wanted = test_count(8, 2);
    size_t runs = 0;
    size_t with_thieves = 0;
    (void)state;
    for (unsigned workers = 1; workers <= WORKERS_MOST; workers++) {
        filch_pool *pool = test_pool_make(workers);
        for (size_t done = 0; done < wanted; runs++) {
            series s = { .in = numbers, .n = N, .options = FILCH_LOOP_INIT };
            if (runs % 2 == 0) {
                test_pool_run(pool, reduce_here, &s);
            } else {
                assert_int_equal(filch_reduce_on(pool, N, &reducer, &s, &s.sum, NULL), FILCH_OK);
            }
            assert_memory_equal(&s.sum, &expected, sizeof(expected));
            const bool stolen = atomic_load(&s.by_thieves) != 0;
            assert_true(workers > 1 || !stolen);
            with_thieves += stolen;
            done += workers == 1 || stolen; /* others do not count */
        }
        test_pool_close(pool);
    }
    printf("reduce: %zu runs with thieves of %zu, the same bits in all\n", with_thieves, runs);
    free(numbers);
}

/* ---- scans ---- */

static void scan_here(filch_cx *cx, void *arg)
{
    series *s = arg;
    const filch_reducer reducer = s->maps != NULL ? maps() : sums();
    TEST_CHECK(filch_scan(cx, s->n, &reducer, s->maps != NULL ? emit_map : emit_sum, s,
                          s->maps != NULL ? (void *)&s->map : (void *)&s->sum,
                          &s->options) == FILCH_OK);
}

static void run_scan(filch_pool *pool, series *s, bool in_task)
{
    const filch_reducer reducer = s->maps != NULL ? maps() : sums();
    if (in_task) {
        test_pool_run(pool, scan_here, s);
        return;
    }
    assert_int_equal(filch_scan_on(pool, s->n, &reducer, s->maps != NULL ? emit_map : emit_sum, s,
                                   s->maps != NULL ? (void *)&s->map : (void *)&s->sum,
                                   &s->options),
                     FILCH_OK);
}

static void check_maps(filch_pool *pool, series *s, bool in_task)
{
    affine expected = { 1, 0 };
    size_t wrong = 0;
    s->maps = test_memory(s->n * sizeof(*s->maps));
    run_scan(pool, s, in_task);
    for (size_t i = 0; i < s->n; i++) {
        const affine before = expected;
        then_number(&expected, s->in[i]);
        const affine *right = s->inclusive ? &expected : &before;
        wrong += s->maps[i].m != right->m || s->maps[i].c != right->c;
    }
    assert_int_equal(wrong, 0);
    assert_memory_equal(&s->map, &expected, sizeof(expected));
    free(s->maps);
}

/* Totals that round, so the serial reference goes by leaves as well: the bits are promised. Of whole
 * numbers the plain totals are the same. */
static double *serial_sums(const series *s, double *out_total)
{
    const size_t grain = leaf_grain(s->n, s->options.grain);
    double *expected = test_memory(s->n * sizeof(*expected));
    double before = 0;
    for (size_t lo = 0; lo < s->n; lo += grain) {
        const size_t hi = s->n - lo < grain ? s->n : lo + grain;
        double running = before;
        double leaf = 0;
        for (size_t i = lo; i < hi; i++) {
            expected[i] = s->inclusive ? running + s->in[i] : running;
            running += s->in[i];
            leaf += s->in[i];
        }
        before += leaf;
    }
    *out_total = before;
    return expected;
}

static void check_plain_totals(const series *s, const double *expected)
{
    double sum = 0;
    size_t wrong = 0;
    for (size_t i = 0; i < s->n; i++) {
        wrong += expected[i] != (s->inclusive ? sum + s->in[i] : sum);
        sum += s->in[i];
    }
    assert_int_equal(wrong, 0);
}

static void check_sums(filch_pool *pool, series *s, double *numbers, int kind, bool in_task)
{
    double total;
    double *expected = serial_sums(s, &total);
    if (kind == WHOLE) {
        check_plain_totals(s, expected);
    }
    s->sums = numbers; /* over the elements */
    run_scan(pool, s, in_task);
    assert_int_equal(memcmp(s->sums, expected, s->n * sizeof(*expected)), 0);
    assert_memory_equal(&s->sum, &total, sizeof(total));
    free(expected);
}

static void check_scan(filch_pool *pool, size_t n, test_rng *rng)
{
    const int kind = (int)test_rng_below(rng, KINDS);
    double *numbers = make_numbers(kind, n, rng);
    const bool in_task = test_rng_below(rng, 2) == 0;
    series s = { .in = numbers, .n = n, .options = choose_options(rng) };
    s.inclusive = test_rng_below(rng, 2) == 0;
    if (test_rng_below(rng, 2) == 0) {
        check_maps(pool, &s, in_task);
    } else {
        check_sums(pool, &s, numbers, kind, in_task);
    }
    free(numbers);
}

/* ---- packing: elements with keys below a limit, or with odd ones ---- */

typedef struct keeping {
    test_shape shape;
    const unsigned char *in;
    unsigned char *out;
    size_t n;
    size_t count;
    uint32_t limit;
    bool odd;
    filch_loop options;
} keeping;

static int keep_some(const void *element, void *ctx)
{
    const keeping *k = ctx;
    const uint32_t key = test_element_key(&k->shape, element);
    return k->odd ? (int)(key & 1) : key < k->limit ? -1 : 0;
}

static void pack_here(filch_cx *cx, void *arg)
{
    keeping *k = arg;
    TEST_CHECK(filch_pack(cx, k->in, k->n, k->shape.width, keep_some, k, k->out, &k->count,
                          &k->options) == FILCH_OK);
}

static void check_pack(filch_pool *pool, size_t n, test_rng *rng)
{
    static const size_t widths[] = { 1, 3, 4, 8, 24, 40 };
    const uint32_t limits[] = { 0, 1, 500, (uint32_t)(n / 2), UINT32_MAX / 2, UINT32_MAX };
    keeping k = { .n = n, .count = SIZE_MAX, .options = choose_options(rng) };
    k.shape.width = widths[test_rng_below(rng, TEST_CASES(widths))];
    k.limit = limits[test_rng_below(rng, TEST_CASES(limits))];
    k.odd = test_rng_below(rng, 4) == 0;
    const size_t width = k.shape.width;
    unsigned char *in =
        test_elements_make(&k.shape, (test_pattern)test_rng_below(rng, TEST_PATTERNS), n, rng);
    unsigned char *expected = test_memory(n * width);
    size_t kept = 0;
    k.in = in;
    k.out = test_memory(n * width);
    for (size_t i = 0; i < n; i++) {
        if (keep_some(in + i * width, &k) != 0) {
            memcpy(expected + kept++ * width, in + i * width, width);
        }
    }
    k.out[kept * width] = TEST_ELEMENTS_GUARD;
    if (test_rng_below(rng, 2) == 0) {
        test_pool_run(pool, pack_here, &k);
    } else {
        assert_int_equal(filch_pack_on(pool, in, n, width, keep_some, &k, k.out, &k.count,
                                       &k.options),
                         FILCH_OK);
    }
    assert_int_equal(k.count, kept);
    assert_int_equal(memcmp(k.out, expected, kept * width), 0);
    assert_int_equal(k.out[kept * width], TEST_ELEMENTS_GUARD);
    free(in);
    free(expected);
    free(k.out);
}

typedef void check_fn(filch_pool *pool, size_t n, test_rng *rng);

/* A share of the inputs at each number of workers, and more until somebody has joined in there. */
static void check_inputs(const char *name, check_fn *check, uint64_t stream)
{
    const size_t wanted = test_count(8, 4) / TEST_CASES(worker_counts);
    test_rng rng = test_rng_make(stream);
    size_t inputs = 0;
    size_t large = 0;
    uint64_t joined = 0;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        filch_pool *pool = test_pool_make(worker_counts[w]);
        uint64_t here = 0;
        for (size_t i = 0; i < wanted || (worker_counts[w] > 1 && here == 0); i++) {
            const size_t n = test_size_choose(inputs, &rng);
            check(pool, n, &rng);
            inputs++;
            large += n >= TEST_LARGE;
            here = test_pool_stats(pool).total.loops_joined;
        }
        joined += here;
        test_pool_close(pool);
    }
    printf("%s: %zu inputs, %zu of them of 10^6 elements and more, joined %llu times\n", name,
           inputs, large, (unsigned long long)joined);
}

static void scan__many_inputs__the_serial_totals_bit_for_bit(void **state)
{
    (void)state;
    check_inputs("scan", check_scan, 2);
}

static void pack__many_inputs__the_serial_result_byte_for_byte(void **state)
{
    (void)state;
    check_inputs("pack", check_pack, 3);
}

/* ---- a loop of more pieces than fit into one word: in blocks of 2^31, one after the other ---- */

typedef struct slot_sum {
    _Alignas(128) uint64_t count;
    uint64_t sum;
} slot_sum;

static void add_index(filch_cx *cx, void *ctx, filch_range range)
{
    slot_sum *own = (slot_sum *)ctx + range.slot;
    (void)cx;
    own->count += range.hi - range.lo;
    own->sum += test_mix(range.lo);
}

static void for__more_pieces_than_a_block__each_index_once(void **state)
{
    enum { SLOTS = 3 };
    const size_t n = ((size_t)1 << 31) + 1000;
    slot_sum slots[SLOTS] = { 0 };
    uint64_t count = 0;
    uint64_t sum = 0;
    filch_loop options = FILCH_LOOP_INIT;
    (void)state;
    if (test_scale() < 100.0 || TEST_UNDER_ASAN || TEST_UNDER_TSAN) {
        print_message("left out: a minute, for a scale of 100 and more\n");
        skip();
    }
    options.grain = 1;
    filch_pool *pool = test_pool_make(SLOTS - 1);
    assert_int_equal(filch_for_on(pool, n, add_index, slots, &options), FILCH_OK);
    test_pool_close(pool);
    for (int slot = 0; slot < SLOTS; slot++) {
        count += slots[slot].count;
        sum += slots[slot].sum;
    }
    for (size_t i = 0; i < n; i++) {
        sum -= test_mix(i);
    }
    assert_int_equal(count, n);
    assert_int_equal(sum, 0);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(reduce__doubles_at_1_to_16_workers__same_bits),
        cmocka_unit_test(scan__many_inputs__the_serial_totals_bit_for_bit),
        cmocka_unit_test(pack__many_inputs__the_serial_result_byte_for_byte),
        cmocka_unit_test(for__more_pieces_than_a_block__each_index_once),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
