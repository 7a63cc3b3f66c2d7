/* SPDX-License-Identifier: MIT */
/* The delays of filch_delays: they happen, on the threads of a pool too, the results stay right, and
 * the environment switches them off. */
#include "support/delay.h"

#include <filch/filch.h>
#include <stdlib.h>

#include "support/test.h"

static uintptr_t fib(filch_cx *cx, uintptr_t n)
{
    if (n < 2) {
        return n;
    }
    const filch_pair pair = filch_join2_word(cx, fib, n - 1, fib, n - 2);
    return pair.first + pair.second;
}

static uintptr_t fib_of_a_pool(void)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_pool *pool;
    uintptr_t value = 0;
    config.workers = 2;
    assert_int_equal(filch_pool_create(&config, &pool), FILCH_OK);
    assert_int_equal(filch_run_word(pool, fib, 16, &value), FILCH_OK);
    assert_int_equal(filch_pool_destroy(pool), FILCH_OK);
    return value;
}

static void delay__pool_works__results_right_and_delays_counted(void **unused)
{
    (void)unused;
    for (int round = 0; round < 20; round++) {
        assert_int_equal(fib_of_a_pool(), 987);
    }
    assert_true(filch_test_delays() > 100);
}

static void delay__switched_off__none(void **unused)
{
    (void)unused;
    assert_int_equal(fib_of_a_pool(), 987);
    assert_int_equal(filch_test_delays(), 0);
}

int main(void)
{
    const struct CMUnitTest on[] = {
        cmocka_unit_test(delay__pool_works__results_right_and_delays_counted),
    };
    const struct CMUnitTest off[] = {
        cmocka_unit_test(delay__switched_off__none),
    };
    test_begin(100);
    return getenv("FILCH_TEST_DELAYS") == NULL ? cmocka_run_group_tests(on, NULL, NULL)
                                               : cmocka_run_group_tests(off, NULL, NULL);
}
