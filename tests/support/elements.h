/* SPDX-License-Identifier: MIT */
/* Elements to sort, merge and pack: a key, the place where the element was made, and a filling that
 * is made from both, in any width. So the bytes of the only right result are known. Inputs that sorts
 * have had trouble with, orders to sort by, and a serial stable sort and merge as the reference. */
#ifndef FILCH_TEST_ELEMENTS_H
#define FILCH_TEST_ELEMENTS_H

#include "support/test.h"

/* Which keys are equal, and what they mean. */
typedef enum test_order {
    TEST_ASCENDING,
    TEST_DESCENDING,
    TEST_COARSE, /* by key / 1024: many equal ones that are not the same */
    TEST_FLOATS, /* the key's bits are a float, no NaN; widths of 8 and more */
    TEST_ORDERS
} test_order;

typedef struct test_shape {
    size_t
        width; /* 1: the key in 8 bits; 4 and more: and the place in 24; 8 and more: 32 bits each */
    test_order order;
} test_shape;

typedef enum test_pattern {
    TEST_RANDOM,
    TEST_FEW, /* five different keys */
    TEST_EQUAL,
    TEST_SORTED,
    TEST_REVERSED,
    TEST_ORGAN_PIPE, /* up and down again */
    TEST_ALMOST_SORTED,
    TEST_SAW,
    TEST_PATTERNS
} test_pattern;

/* The size of an input: every second one is large, the others are of all magnitudes. Where everything
 * is slow, large ones are smaller than TEST_LARGE. */
enum { TEST_LARGE = 1000000 };
size_t test_size_choose(size_t number, test_rng *rng);

/* Behind the last element of test_elements_make, and of nothing else. */
enum { TEST_ELEMENTS_GUARD = 0x77 };

/* n elements and a guard byte, to be freed; without memory the process ends. */
unsigned char *test_elements_make(const test_shape *shape, test_pattern pattern, size_t n,
                                  test_rng *rng);

void test_element_put(const test_shape *shape, unsigned char *element, uint32_t key,
                      uint32_t place);
uint32_t test_element_key(const test_shape *shape, const void *element);

/* A filch_compare_fn; the shape is its context. */
int test_element_compare(const void *a, const void *b, void *shape);

/* The references: serial, stable, without tricks. */
void test_elements_sort(const test_shape *shape, unsigned char *elements, size_t n);
void test_elements_merge(const test_shape *shape, const unsigned char *a, size_t a_count,
                         const unsigned char *b, size_t b_count, unsigned char *out);

/* Memory, or the end of the process. */
void *test_memory(size_t bytes);

#endif
