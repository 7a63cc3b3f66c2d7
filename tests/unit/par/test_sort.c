/* SPDX-License-Identifier: MIT */
/* Sorting and merging: adversarial inputs, every size of element, equal elements in order. */
#include "support/alloc.h"
#include "support/pool.h"

#include <stdlib.h>
#include <string.h>

/* An element holds its key and its place before the sort, in as many bytes as its width has room
 * for: 1 byte: key; 4: key and place in 8 and 24 bits; 8 and more: 32 bits each, and a filling that
 * is made from both. */
typedef struct shape {
    size_t width;
} shape;

static uint64_t make_word(const shape *s, uint32_t key, uint32_t place)
{
    if (s->width >= 8) {
        return (uint64_t)key << 32 | place;
    }
    return s->width >= 4 ? (uint64_t)(key & 0xff) << 24 | (place & 0xffffff) : key & 0xff;
}

static void put(const shape *s, unsigned char *element, uint32_t key, uint32_t place)
{
    const uint64_t word = make_word(s, key, place);
    const size_t bytes = s->width >= 8 ? 8 : s->width >= 4 ? 4 : 1;
    memset(element, (int)(test_mix(word) & 0xff), s->width);
    memcpy(element, &word, bytes);
}

static uint64_t get(const shape *s, const unsigned char *element)
{
    uint64_t word = 0;
    memcpy(&word, element, s->width >= 8 ? 8 : s->width >= 4 ? 4 : 1);
    return word;
}

static uint32_t key_of(const shape *s, const void *element)
{
    const uint64_t word = get(s, element);
    return (uint32_t)(s->width >= 8 ? word >> 32 : s->width >= 4 ? word >> 24 : word);
}

static bool is_whole(const shape *s, const unsigned char *element)
{
    const unsigned char filling = (unsigned char)(test_mix(get(s, element)) & 0xff);
    for (size_t i = s->width >= 8 ? 8 : s->width >= 4 ? 4 : 1; i < s->width; i++) {
        if (element[i] != filling) {
            return false;
        }
    }
    return true;
}

static int compare_keys(const void *a, const void *b, void *ctx)
{
    const uint32_t x = key_of(ctx, a);
    const uint32_t y = key_of(ctx, b);
    return (x > y) - (x < y);
}

enum { RANDOM, FEW, EQUAL, SORTED, REVERSED, ORGAN_PIPE, ALMOST_SORTED, SAW, PATTERNS };

static uint32_t pattern_key(int pattern, size_t i, size_t n, test_rng *rng)
{
    switch (pattern) {
    case RANDOM:
        return (uint32_t)test_rng_next(rng);
    case FEW:
        return (uint32_t)test_rng_below(rng, 5);
    case EQUAL:
        return 7;
    case SORTED:
        return (uint32_t)i;
    case REVERSED:
        return (uint32_t)(n - i);
    case ORGAN_PIPE:
        return (uint32_t)(i < n / 2 ? i : n - i);
    case ALMOST_SORTED:
        return (uint32_t)(test_rng_below(rng, 100) == 0 ? n - i : i);
    default:
        return (uint32_t)(i % 1000);
    }
}

static unsigned char *make_input(const shape *s, int pattern, size_t n, test_rng *rng)
{
    unsigned char *elements = malloc(n * s->width + 1);
    if (elements == NULL) {
        abort();
    }
    for (size_t i = 0; i < n; i++) {
        put(s, elements + i * s->width, pattern_key(pattern, i, n, rng), (uint32_t)i);
    }
    return elements;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorted by key and then by place: as numbers, there is only one order. */
static void assert_sorted(const shape *s, const unsigned char *elements, const uint64_t *sorted,
                          size_t n)
{
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        wrong +=
            get(s, elements + i * s->width) != sorted[i] || !is_whole(s, elements + i * s->width);
    }
    assert_int_equal(wrong, 0);
}

static uint64_t *sorted_words(const shape *s, const unsigned char *elements, size_t n)
{
    uint64_t *words = calloc(n + 1, sizeof(*words));
    if (words == NULL) {
        abort();
    }
    for (size_t i = 0; i < n; i++) {
        words[i] = get(s, elements + i * s->width);
    }
    qsort(words, n, sizeof(*words), by_number);
    return words;
}

static void check_sort(filch_pool *pool, size_t width, int pattern, size_t n, test_rng *rng)
{
    shape s = { width };
    unsigned char *elements = make_input(&s, pattern, n, rng);
    uint64_t *expected = sorted_words(&s, elements, n);
    elements[n * width] = 0x77;
    assert_int_equal(filch_sort_on(pool, elements, n, width, compare_keys, &s), FILCH_OK);
    assert_sorted(&s, elements, expected, n);
    assert_int_equal(elements[n * width], 0x77);
    free(elements);
    free(expected);
}

static const size_t widths[] = { 1, 4, 8, 12, 16, 24, 100 };

static void sort__each_pattern_and_width__stable_and_whole(void **state)
{
    static const size_t sizes[] = { 0, 1, 2, 3, 8, 9, 100, 2048, 2049, 5000, 30000 };
    test_rng rng = test_rng_make(1);
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers += 3) {
        filch_pool *pool = test_pool_make(workers);
        for (size_t w = 0; w < TEST_CASES(widths); w++) {
            for (int pattern = 0; pattern < PATTERNS; pattern++) {
                const size_t largest = test_count(TEST_CASES(sizes), TEST_CASES(sizes) - 1);
                for (size_t i = 0; i < largest && i < TEST_CASES(sizes); i++) {
                    check_sort(pool, widths[w], pattern, sizes[i], &rng);
                }
            }
        }
        test_pool_close(pool);
    }
}

static void sort__large_inputs__stable_and_stolen_from(void **state)
{
    test_rng rng = test_rng_make(2);
    filch_pool *pool = test_pool_make(4);
    const size_t rounds = test_count(6, 1);
    (void)state;
    /* goes on until something was stolen, however busy the machine */
    for (size_t round = 0; round < rounds || test_pool_stats(pool).total.forks_stolen == 0;
         round++) {
        check_sort(pool, 8, (int)(round % PATTERNS), (size_t)1000000 + round, &rng);
    }
    test_pool_close(pool);
}

typedef struct looped {
    shape s;
    unsigned char *elements;
    size_t each;
} looped;

static void sort_in_body(filch_cx *cx, void *ctx, filch_range range)
{
    looped *l = ctx;
    for (size_t i = range.lo; i < range.hi; i++) {
        unsigned char *at = l->elements + i * l->each * l->s.width;
        TEST_CHECK(filch_sort(cx, at, l->each, l->s.width, compare_keys, &l->s) == FILCH_OK);
    }
}

static void sort__inside_a_loop_of_any_thread__sorted(void **state)
{
    enum { PARTS = 8, EACH = 10000 };
    test_rng rng = test_rng_make(3);
    filch_pool *pool = test_pool_make(3);
    looped l = { { 8 }, NULL, EACH };
    (void)state;
    l.elements = make_input(&l.s, RANDOM, (size_t)PARTS * EACH, &rng);
    filch_loop options = FILCH_LOOP_INIT;
    options.grain = 1;
    assert_int_equal(filch_for_on(pool, PARTS, sort_in_body, &l, &options), FILCH_OK);
    for (size_t i = 1; i < (size_t)PARTS * EACH; i++) {
        assert_true(i % EACH == 0 ||
                    key_of(&l.s, l.elements + (i - 1) * 8) <= key_of(&l.s, l.elements + i * 8));
    }
    free(l.elements);
    test_pool_close(pool);
}

/* Two sorted runs; the places of `b` go on where those of `a` end. */
static void check_merge(filch_pool *pool, size_t width, size_t a_count, size_t b_count,
                        test_rng *rng)
{
    shape s = { width };
    const size_t n = a_count + b_count;
    unsigned char *both = malloc(n * width + 1);
    unsigned char *out = malloc(n * width + 1);
    uint32_t key = 0;
    assert_non_null(both);
    assert_non_null(out);
    for (size_t i = 0; i < n; i++) {
        key = i == a_count ? 0 : key + (uint32_t)(test_rng_below(rng, 3) == 0);
        put(&s, both + i * width, width < 8 && key > 255 ? 255 : key, (uint32_t)i);
    }
    uint64_t *expected = sorted_words(&s, both, n);
    out[n * width] = 0x77;
    assert_int_equal(filch_merge_on(pool, both, a_count, both + a_count * width, b_count, out,
                                    width, compare_keys, &s),
                     FILCH_OK);
    assert_sorted(&s, out, expected, n);
    assert_int_equal(out[n * width], 0x77);
    free(both);
    free(out);
    free(expected);
}

static void merge__any_two_runs__stable_and_whole(void **state)
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
    shape s = { 1 };
    unsigned char three[3] = { 3, 2, 1 };
    unsigned char out[6] = { 9, 9, 9, 9, 9, 9 };
    (void)state;
    test_allocator_init(&memory);
    atomic_store(&memory.refuse_above, (size_t)1 << 30);
    config.workers = 2;
    config.allocator = &memory.hooks;
    filch_pool *pool = test_pool_make_as(&config);
    assert_int_equal(filch_sort_on(NULL, three, 3, 1, compare_keys, &s), FILCH_E_INVALID);
    assert_int_equal(filch_sort_on(pool, NULL, 3, 1, compare_keys, &s), FILCH_E_INVALID);
    assert_int_equal(filch_sort_on(pool, three, 3, 0, compare_keys, &s), FILCH_E_INVALID);
    assert_int_equal(filch_sort_on(pool, three, SIZE_MAX, 2, compare_keys, &s), FILCH_E_INVALID);
    assert_int_equal(filch_sort_on(pool, three, 3, 1, NULL, &s), FILCH_E_INVALID);
    assert_int_equal(filch_sort(NULL, three, 3, 1, compare_keys, &s), FILCH_E_INVALID);
    assert_int_equal(filch_merge_on(pool, NULL, 3, three, 3, out, 1, compare_keys, &s),
                     FILCH_E_INVALID);
    assert_int_equal(filch_merge_on(pool, three, 3, NULL, 3, out, 1, compare_keys, &s),
                     FILCH_E_INVALID);
    assert_int_equal(filch_merge_on(pool, three, 3, three, 3, NULL, 1, compare_keys, &s),
                     FILCH_E_INVALID);
    assert_int_equal(filch_merge_on(pool, three, SIZE_MAX / 2 + 1, three, SIZE_MAX / 2 + 1, out, 1,
                                    compare_keys, &s),
                     FILCH_E_INVALID);
    assert_int_equal(filch_merge(NULL, three, 3, three, 3, out, 1, compare_keys, &s),
                     FILCH_E_INVALID);
    assert_int_equal(filch_merge_on(pool, three, 3, three, 3, out, 1, NULL, &s), FILCH_E_INVALID);
    assert_int_equal(filch_sort_on(pool, three, SIZE_MAX / 2, 1, compare_keys, &s), FILCH_E_NOMEM);
    test_allocator_fail(&memory, 1, true);
    assert_int_equal(filch_sort_on(pool, three, 3, 1, compare_keys, &s), FILCH_E_NOMEM);
    test_allocator_fail(&memory, 0, false);
    assert_int_equal(three[0], 3);
    assert_int_equal(out[0], 9);
    assert_int_equal(filch_sort_on(pool, NULL, 0, 1, compare_keys, &s), FILCH_OK);
    assert_int_equal(filch_merge_on(pool, NULL, 0, NULL, 0, NULL, 1, compare_keys, &s), FILCH_OK);
    assert_int_equal(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, NULL), FILCH_OK);
    assert_int_equal(filch_sort_on(pool, three, 3, 1, compare_keys, &s), FILCH_E_CLOSED);
    test_pool_close(pool);
    test_allocator_assert_balanced(&memory);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(sort__each_pattern_and_width__stable_and_whole),
        cmocka_unit_test(sort__large_inputs__stable_and_stolen_from),
        cmocka_unit_test(sort__inside_a_loop_of_any_thread__sorted),
        cmocka_unit_test(merge__any_two_runs__stable_and_whole),
        cmocka_unit_test(sort_merge__bad_arguments_or_no_memory__status_and_untouched),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
