/* SPDX-License-Identifier: MIT */
/* Sorting and merging against serial references on many inputs, half of them with 10^6 elements and
 * more: every pattern, width and order, at 1 to 16 workers, until somebody has stolen. The elements
 * know where they stood, so equal bytes mean stable as well. A scale of 125 is 1,000 inputs each. */
#include "support/elements.h"
#include "support/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const unsigned worker_counts[] = { 1, 2, 4, 16 };
static const size_t widths[] = { 1, 4, 8, 12, 16, 24, 40, 100 };

enum { WIDEST_LARGE = 40 };

typedef struct tally {
    size_t inputs;
    size_t large;
    uint64_t stolen;
} tally;

/* One call, from a foreign thread or in a task. */
typedef struct call {
    test_shape shape;
    bool merges;
    unsigned char *a; /* or what is to be sorted */
    size_t a_count;
    unsigned char *b;
    size_t b_count;
    unsigned char *out;
} call;

static void run_here(filch_cx *cx, void *arg)
{
    call *c = arg;
    if (c->merges) {
        TEST_CHECK(filch_merge(cx, c->a, c->a_count, c->b, c->b_count, c->out, c->shape.width,
                               test_element_compare, &c->shape) == FILCH_OK);
    } else {
        TEST_CHECK(filch_sort(cx, c->a, c->a_count, c->shape.width, test_element_compare,
                              &c->shape) == FILCH_OK);
    }
}

static void run_call(filch_pool *pool, call *c, bool in_task)
{
    if (in_task) {
        test_pool_run(pool, run_here, c);
    } else if (c->merges) {
        assert_int_equal(filch_merge_on(pool, c->a, c->a_count, c->b, c->b_count, c->out,
                                        c->shape.width, test_element_compare, &c->shape),
                         FILCH_OK);
    } else {
        assert_int_equal(filch_sort_on(pool, c->a, c->a_count, c->shape.width, test_element_compare,
                                       &c->shape),
                         FILCH_OK);
    }
}

static test_shape choose_shape(size_t number, size_t n, test_rng *rng)
{
    test_shape shape = { widths[number / 2 % TEST_CASES(widths)], TEST_ASCENDING };
    if (n >= TEST_LARGE && shape.width > WIDEST_LARGE) {
        shape.width = WIDEST_LARGE;
    }
    shape.order = (test_order)test_rng_below(rng, shape.width >= 8 ? TEST_ORDERS : TEST_FLOATS);
    return shape;
}

static void note_input(tally *t, size_t n)
{
    t->inputs++;
    t->large += n >= TEST_LARGE;
}

static void check_sort(filch_pool *pool, size_t number, test_rng *rng, tally *t)
{
    const size_t n = test_size_choose(number, rng);
    call c = { .shape = choose_shape(number, n, rng), .a_count = n };
    const size_t bytes = n * c.shape.width;
    c.a = test_elements_make(&c.shape, (test_pattern)test_rng_below(rng, TEST_PATTERNS), n, rng);
    unsigned char *expected = test_memory(bytes);
    memcpy(expected, c.a, bytes + 1);
    test_elements_sort(&c.shape, expected, n);
    run_call(pool, &c, test_rng_below(rng, 2) == 0);
    assert_int_equal(memcmp(c.a, expected, bytes + 1), 0);
    note_input(t, n);
    free(c.a);
    free(expected);
}

/* Who gets the next of the sorted elements: a mix, one after the other, all of `a` before or after
 * all of `b`, hardly any in `a`, none. */
static bool goes_to_a(int deal, size_t i, size_t n, test_rng *rng)
{
    switch (deal) {
    case 0:
        return test_rng_below(rng, 2) == 0;
    case 1:
        return i % 2 == 0;
    case 2:
        return i < n / 3;
    case 3:
        return i >= n / 3;
    case 4:
        return test_rng_below(rng, 1000) == 0;
    default:
        return false;
    }
}

static void deal_out(call *c, const unsigned char *sorted, size_t n, test_rng *rng)
{
    const int deal = (int)test_rng_below(rng, 6);
    const size_t width = c->shape.width;
    for (size_t i = 0; i < n; i++) {
        unsigned char *to =
            goes_to_a(deal, i, n, rng) ? c->a + c->a_count++ * width : c->b + c->b_count++ * width;
        memcpy(to, sorted + i * width, width);
    }
}

static void check_merge(filch_pool *pool, size_t number, test_rng *rng, tally *t)
{
    const size_t n = test_size_choose(number, rng);
    call c = { .shape = choose_shape(number, n, rng), .merges = true };
    const size_t bytes = n * c.shape.width;
    unsigned char *expected =
        test_elements_make(&c.shape, (test_pattern)test_rng_below(rng, TEST_PATTERNS), n, rng);
    c.a = test_memory(bytes);
    c.b = test_memory(bytes);
    c.out = test_memory(bytes);
    test_elements_sort(&c.shape, expected, n);
    deal_out(&c, expected, n, rng);
    test_elements_merge(&c.shape, c.a, c.a_count, c.b, c.b_count, expected);
    c.out[bytes] = TEST_ELEMENTS_GUARD;
    run_call(pool, &c, test_rng_below(rng, 2) == 0);
    assert_int_equal(memcmp(c.out, expected, bytes + 1), 0);
    note_input(t, n);
    free(c.a);
    free(c.b);
    free(c.out);
    free(expected);
}

typedef void check_fn(filch_pool *pool, size_t number, test_rng *rng, tally *t);

/* A share of the inputs at each number of workers, and more until something was stolen there. */
static void check_inputs(const char *name, check_fn *check, uint64_t stream)
{
    const size_t wanted = test_count(8, 4) / TEST_CASES(worker_counts);
    test_rng rng = test_rng_make(stream);
    tally t = { 0 };
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        filch_pool *pool = test_pool_make(worker_counts[w]);
        uint64_t stolen = 0;
        for (size_t i = 0; i < wanted || (worker_counts[w] > 1 && stolen == 0); i++) {
            check(pool, t.inputs, &rng, &t);
            stolen = test_pool_stats(pool).total.forks_stolen;
        }
        t.stolen += stolen;
        test_pool_close(pool);
    }
    printf("%s: %zu inputs, %zu of them of 10^6 elements and more, %llu forks stolen\n", name,
           t.inputs, t.large, (unsigned long long)t.stolen);
}

static void sort__many_inputs__the_serial_result_byte_for_byte(void **state)
{
    (void)state;
    check_inputs("sort", check_sort, 1);
}

static void merge__many_inputs__the_serial_result_byte_for_byte(void **state)
{
    (void)state;
    check_inputs("merge", check_merge, 2);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(sort__many_inputs__the_serial_result_byte_for_byte),
        cmocka_unit_test(merge__many_inputs__the_serial_result_byte_for_byte),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
