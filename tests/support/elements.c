/* SPDX-License-Identifier: MIT */
/* Elements to sort: see elements.h. */
#include "support/elements.h"

#include <stdlib.h>
#include <string.h>

void *test_memory(size_t bytes)
{
    void *block = malloc(bytes + 1);
    if (block == NULL) {
        abort();
    }
    return block;
}

static size_t word_bytes(const test_shape *shape)
{
    return shape->width >= 8 ? 8 : shape->width >= 4 ? 4 : 1;
}

void test_element_put(const test_shape *shape, unsigned char *element, uint32_t key, uint32_t place)
{
    uint64_t word = key & 0xff;
    if (shape->width >= 8) {
        word = (uint64_t)key << 32 | place;
    } else if (shape->width >= 4) {
        word = (uint64_t)(key & 0xff) << 24 | (place & 0xffffff);
    }
    memset(element, (int)(test_mix(word) & 0xff), shape->width);
    memcpy(element, &word, word_bytes(shape));
}

uint32_t test_element_key(const test_shape *shape, const void *element)
{
    uint64_t word = 0;
    memcpy(&word, element, word_bytes(shape));
    return (uint32_t)(shape->width >= 8 ? word >> 32 : shape->width >= 4 ? word >> 24 : word);
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

int test_element_compare(const void *a, const void *b, void *ctx)
{
    const test_shape *shape = ctx;
    const uint32_t x = test_element_key(shape, a);
    const uint32_t y = test_element_key(shape, b);
    switch (shape->order) {
    case TEST_DESCENDING:
        return (x < y) - (x > y);
    case TEST_COARSE:
        return (x / 1024 > y / 1024) - (x / 1024 < y / 1024);
    case TEST_FLOATS:
        return (float_of(x) > float_of(y)) - (float_of(x) < float_of(y));
    default:
        return (x > y) - (x < y);
    }
}

static uint32_t pattern_key(test_pattern pattern, size_t i, size_t n, test_rng *rng)
{
    switch (pattern) {
    case TEST_FEW:
        return (uint32_t)test_rng_below(rng, 5);
    case TEST_EQUAL:
        return 7;
    case TEST_SORTED:
        return (uint32_t)i;
    case TEST_REVERSED:
        return (uint32_t)(n - i);
    case TEST_ORGAN_PIPE:
        return (uint32_t)(i < n / 2 ? i : n - i);
    case TEST_ALMOST_SORTED:
        return (uint32_t)(test_rng_below(rng, 100) == 0 ? n - i : i);
    case TEST_SAW:
        return (uint32_t)(i % 1000);
    default:
        return (uint32_t)test_rng_next(rng);
    }
}

/* Any bits that are a number, both zeros, denormals and infinities among them; or, for the other
 * patterns, small numbers on both sides of zero. */
static uint32_t float_key(test_pattern pattern, size_t i, size_t n, test_rng *rng)
{
    uint32_t bits;
    if (pattern == TEST_RANDOM) {
        do {
            bits = test_rng_below(rng, 64) == 0 ? (uint32_t)test_rng_below(rng, 2) << 31
                                                : (uint32_t)test_rng_next(rng);
        } while (float_of(bits) != float_of(bits));
        return bits;
    }
    const float x = ((float)pattern_key(pattern, i, n, rng) - 2000.0F) / 3.0F;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

unsigned char *test_elements_make(const test_shape *shape, test_pattern pattern, size_t n,
                                  test_rng *rng)
{
    unsigned char *elements = test_memory(n * shape->width);
    for (size_t i = 0; i < n; i++) {
        const uint32_t key = shape->order == TEST_FLOATS ? float_key(pattern, i, n, rng)
                                                         : pattern_key(pattern, i, n, rng);
        test_element_put(shape, elements + i * shape->width, key, (uint32_t)i);
    }
    elements[n * shape->width] = TEST_ELEMENTS_GUARD;
    return elements;
}

void test_elements_merge(const test_shape *shape, const unsigned char *a, size_t a_count,
                         const unsigned char *b, size_t b_count, unsigned char *out)
{
    const size_t width = shape->width;
    test_shape order = *shape;
    while (a_count != 0 || b_count != 0) {
        if (a_count == 0 || (b_count != 0 && test_element_compare(b, a, &order) < 0)) {
            memcpy(out, b, width);
            b += width;
            b_count--;
        } else {
            memcpy(out, a, width);
            a += width;
            a_count--;
        }
        out += width;
    }
}

/* Runs of 1, 2, 4 ... elements, merged from one array into the other. */
void test_elements_sort(const test_shape *shape, unsigned char *elements, size_t n)
{
    unsigned char *scratch = test_memory(n * shape->width);
    unsigned char *from = elements;
    unsigned char *to = scratch;
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t lo = 0; lo < n; lo += 2 * run) {
            const size_t a_count = n - lo < run ? n - lo : run;
            const size_t rest = n - lo - a_count;
            unsigned char *at = from + lo * shape->width;
            test_elements_merge(shape, at, a_count, at + a_count * shape->width,
                                rest < run ? rest : run, to + lo * shape->width);
        }
        unsigned char *const spare = from;
        from = to;
        to = spare;
    }
    if (from != elements) {
        memcpy(elements, from, n * shape->width);
    }
    free(scratch);
}

static size_t large_count(void)
{
    enum { SANITIZED = 100000, SHORT = 20000 };
    if (test_is_short()) {
        return SHORT;
    }
    return TEST_UNDER_ASAN || TEST_UNDER_TSAN ? SANITIZED : TEST_LARGE;
}

size_t test_size_choose(size_t number, test_rng *rng)
{
    if (number % 2 == 0) {
        return large_count() + (size_t)test_rng_below(rng, large_count() / 2);
    }
    return (size_t)test_rng_below(rng, (uint64_t)2 << test_rng_below(rng, 16));
}
