/* SPDX-License-Identifier: MIT */
/* The part of cmocka that the tests use, for cross builds: Debian has no cmocka for the processors
 * that are only emulated here. Same names and meanings; an assertion that fails ends its case. */
#ifndef FILCH_TEST_CROSS_CMOCKA_H
#define FILCH_TEST_CROSS_CMOCKA_H

#include <stddef.h>
#include <stdint.h>

struct CMUnitTest {
    const char *name;
    void (*test_func)(void **state);
};

#define cmocka_unit_test(f)                                                                        \
    {                                                                                              \
#f, f                                                                                      \
    }
#define cmocka_run_group_tests(cases, setup, teardown)                                             \
    cross_run(cases, sizeof(cases) / sizeof((cases)[0]), setup, teardown)

/* Returns the number of cases that failed. */
int cross_run(const struct CMUnitTest *cases, size_t count, int (*setup)(void **),
              int (*teardown)(void **));

_Noreturn void cross_fail(const char *what, const char *file, int line);
_Noreturn void cross_skip(void);
void cross_equal(uintmax_t a, uintmax_t b, int wanted, const char *what, const char *file,
                 int line);
void cross_same(const void *a, const void *b, size_t bytes, const char *what, const char *file,
                int line);
void cross_same_text(const char *a, const char *b, int wanted, const char *what, const char *file,
                     int line);
void print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void print_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define cross_word(x) ((uintmax_t)(x))
#define cross_address(p) ((uintmax_t)(uintptr_t)(p))

#define fail() cross_fail("fail()", __FILE__, __LINE__)
#define skip() cross_skip()
#define assert_true(c) ((c) ? (void)0 : cross_fail(#c, __FILE__, __LINE__))
#define assert_false(c) ((c) ? cross_fail("not " #c, __FILE__, __LINE__) : (void)0)
#define assert_null(p) assert_true((p) == NULL)
#define assert_non_null(p) assert_true((p) != NULL)
#define assert_int_equal(a, b)                                                                     \
    cross_equal(cross_word(a), cross_word(b), 1, #a " == " #b, __FILE__, __LINE__)
#define assert_int_not_equal(a, b)                                                                 \
    cross_equal(cross_word(a), cross_word(b), 0, #a " != " #b, __FILE__, __LINE__)
#define assert_ptr_equal(a, b)                                                                     \
    cross_equal(cross_address(a), cross_address(b), 1, #a " == " #b, __FILE__, __LINE__)
#define assert_ptr_not_equal(a, b)                                                                 \
    cross_equal(cross_address(a), cross_address(b), 0, #a " != " #b, __FILE__, __LINE__)
#define assert_memory_equal(a, b, bytes) cross_same(a, b, bytes, #a " == " #b, __FILE__, __LINE__)
#define assert_string_equal(a, b) cross_same_text(a, b, 1, #a " == " #b, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) cross_same_text(a, b, 0, #a " != " #b, __FILE__, __LINE__)
#define assert_in_range(x, low, high)                                                              \
    assert_true(cross_word(x) >= cross_word(low) && cross_word(x) <= cross_word(high))

#endif
