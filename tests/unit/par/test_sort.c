/* SPDX-License-Identifier: MIT */
/* Sorting and merging: adversarial inputs, every size of element, equal elements in order. Large
 * inputs, and thieves: stress_sort. */
#include "support/alloc.h"
#include "support/elements.h"
#include "support/pool.h"

#include <stdlib.h>
#include <string.h>

/* Any input, in the order that has it sorted: nothing but the serial result will do. */
static void check_sort(filch_pool *pool, const test_shape *shape, test_pattern pattern, size_t n,
                       test_rng *rng)
{
    test_shape order = *shape;
    const size_t bytes = n * shape->width + 1;
    unsigned char *elements = test_elements_make(shape, pattern, n, rng);
    unsigned char *expected = test_memory(bytes);
    memcpy(expected, elements, bytes);
    test_elements_sort(shape, expected, n);
    assert_int_equal(filch_sort_on(pool, elements, n, shape->width, test_element_compare, &order),
                     FILCH_OK);
    assert_int_equal(memcmp(elements, expected, bytes), 0);
    free(elements);
    free(expected);
}

static const size_t widths[] = { 1, 4, 8, 12, 16, 24, 100 };

static void sort__each_pattern_width_and_order__the_serial_result(void **state)
{
    static const size_t sizes[] = { 0, 1, 2, 3, 8, 9, 100, 2048, 2049, 5000, 30000 };
    test_rng rng = test_rng_make(1);
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers += 3) {
        filch_pool *pool = test_pool_make(workers);
        for (int kind = 0; kind < TEST_PATTERNS * (int)TEST_CASES(widths); kind++) {
            const size_t largest = test_count(TEST_CASES(sizes), TEST_CASES(sizes) - 1);
            for (size_t i = 0; i < largest && i < TEST_CASES(sizes); i++) {
                test_shape shape = { widths[kind / TEST_PATTERNS], TEST_ASCENDING };
                shape.order =
                    (test_order)test_rng_below(&rng, shape.width >= 8 ? TEST_ORDERS : TEST_FLOATS);
                check_sort(pool, &shape, (test_pattern)(kind % TEST_PATTERNS), sizes[i], &rng);
            }
        }
        test_pool_close(pool);
    }
}

typedef struct looped {
    test_shape s;
    unsigned char *elements;
    size_t each;
} looped;

static void sort_in_body(filch_cx *cx, void *ctx, filch_range range)
{
    looped *l = ctx;
    for (size_t i = range.lo; i < range.hi; i++) {
        unsigned char *at = l->elements + i * l->each * l->s.width;
        TEST_CHECK(filch_sort(cx, at, l->each, l->s.width, test_element_compare, &l->s) ==
                   FILCH_OK);
    }
}

static void sort__inside_a_loop_of_any_thread__sorted(void **state)
{
    enum { PARTS = 8, EACH = 10000 };
    test_rng rng = test_rng_make(3);
    filch_pool *pool = test_pool_make(3);
    looped l = { { 8, TEST_ASCENDING }, NULL, EACH };
    (void)state;
    l.elements = test_elements_make(&l.s, TEST_RANDOM, (size_t)PARTS * EACH, &rng);
    filch_loop options = FILCH_LOOP_INIT;
    options.grain = 1;
    assert_int_equal(filch_for_on(pool, PARTS, sort_in_body, &l, &options), FILCH_OK);
    for (size_t i = 1; i < (size_t)PARTS * EACH; i++) {
        assert_true(i % EACH == 0 || test_element_key(&l.s, l.elements + (i - 1) * 8) <=
                                         test_element_key(&l.s, l.elements + i * 8));
    }
    free(l.elements);
    test_pool_close(pool);
}

/* Two sorted runs; the places of `b` go on where those of `a` end. */
static void check_merge(filch_pool *pool, size_t width, size_t a_count, size_t b_count,
                        test_rng *rng)
{
    test_shape s = { width, TEST_ASCENDING };
    const size_t n = a_count + b_count;
    unsigned char *both = test_memory(n * width);
    unsigned char *out = test_memory(n * width);
    unsigned char *expected = test_memory(n * width);
    uint32_t key = 0;
    for (size_t i = 0; i < n; i++) {
        key = i == a_count ? 0 : key + (uint32_t)(test_rng_below(rng, 3) == 0);
        test_element_put(&s, both + i * width, width < 8 && key > 255 ? 255 : key, (uint32_t)i);
    }
    test_elements_merge(&s, both, a_count, both + a_count * width, b_count, expected);
    out[n * width] = TEST_ELEMENTS_GUARD;
    assert_int_equal(filch_merge_on(pool, both, a_count, both + a_count * width, b_count, out,
                                    width, test_element_compare, &s),
                     FILCH_OK);
    assert_int_equal(memcmp(out, expected, n * width), 0);
    assert_int_equal(out[n * width], TEST_ELEMENTS_GUARD);
    free(both);
    free(out);
    free(expected);
}

static void merge__any_two_runs__the_serial_result(void **state)
{
    static const size_t counts[] = { 0, 1, 2, 1000, 9000, 40000 };
    test_rng rng = test_rng_make(4);
    filch_pool *pool = test_pool_make(4);
    (void)state;
    for (size_t w = 0; w < TEST_CASES(widths); w++) {
        for (size_t i = 0; i < TEST_CASES(counts); i++) {
            for (size_t k = 0; k < TEST_CASES(counts); k++) {
                check_merge(pool, widths[w], counts[i], counts[k], &rng);
            }
        }
    }
    test_pool_close(pool);
}

static void sort_merge__bad_arguments_or_no_memory__status_and_untouched(void **state)
{
    test_allocator memory;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    test_shape s = { 1, TEST_ASCENDING };
    unsigned char three[3] = { 3, 2, 1 };
    unsigned char out[6] = { 9, 9, 9, 9, 9, 9 };
    (void)state;
    test_allocator_init(&memory);
    atomic_store(&memory.refuse_above, (size_t)1 << 30);
    config.workers = 2;
    config.allocator = &memory.hooks;
    filch_pool *pool = test_pool_make_as(&config);
    assert_int_equal(filch_sort_on(NULL, three, 3, 1, test_element_compare, &s), FILCH_E_INVALID);
    assert_int_equal(filch_sort_on(pool, NULL, 3, 1, test_element_compare, &s), FILCH_E_INVALID);
    assert_int_equal(filch_sort_on(pool, three, 3, 0, test_element_compare, &s), FILCH_E_INVALID);
    assert_int_equal(filch_sort_on(pool, three, SIZE_MAX, 2, test_element_compare, &s),
                     FILCH_E_INVALID);
    assert_int_equal(filch_sort_on(pool, three, 3, 1, NULL, &s), FILCH_E_INVALID);
    assert_int_equal(filch_sort(NULL, three, 3, 1, test_element_compare, &s), FILCH_E_INVALID);
    assert_int_equal(filch_merge_on(pool, NULL, 3, three, 3, out, 1, test_element_compare, &s),
                     FILCH_E_INVALID);
    assert_int_equal(filch_merge_on(pool, three, 3, NULL, 3, out, 1, test_element_compare, &s),
                     FILCH_E_INVALID);
    assert_int_equal(filch_merge_on(pool, three, 3, three, 3, NULL, 1, test_element_compare, &s),
                     FILCH_E_INVALID);
    assert_int_equal(filch_merge_on(pool, three, SIZE_MAX / 2 + 1, three, SIZE_MAX / 2 + 1, out, 1,
                                    test_element_compare, &s),
                     FILCH_E_INVALID);
    assert_int_equal(filch_merge(NULL, three, 3, three, 3, out, 1, test_element_compare, &s),
                     FILCH_E_INVALID);
    assert_int_equal(filch_merge_on(pool, three, 3, three, 3, out, 1, NULL, &s), FILCH_E_INVALID);
    assert_int_equal(filch_sort_on(pool, three, SIZE_MAX / 2, 1, test_element_compare, &s),
                     FILCH_E_NOMEM);
    test_allocator_fail(&memory, 1, true);
    assert_int_equal(filch_sort_on(pool, three, 3, 1, test_element_compare, &s), FILCH_E_NOMEM);
    test_allocator_fail(&memory, 0, false);
    assert_int_equal(three[0], 3);
    assert_int_equal(out[0], 9);
    assert_int_equal(filch_sort_on(pool, NULL, 0, 1, test_element_compare, &s), FILCH_OK);
    assert_int_equal(filch_merge_on(pool, NULL, 0, NULL, 0, NULL, 1, test_element_compare, &s),
                     FILCH_OK);
    assert_int_equal(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, NULL), FILCH_OK);
    assert_int_equal(filch_sort_on(pool, three, 3, 1, test_element_compare, &s), FILCH_E_CLOSED);
    test_pool_close(pool);
    test_allocator_assert_balanced(&memory);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(sort__each_pattern_width_and_order__the_serial_result),
        cmocka_unit_test(sort__inside_a_loop_of_any_thread__sorted),
        cmocka_unit_test(merge__any_two_runs__the_serial_result),
        cmocka_unit_test(sort_merge__bad_arguments_or_no_memory__status_and_untouched),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
