/* SPDX-License-Identifier: MIT */
/* The delays of filch_delays: they happen, on the threads of a pool too, the results stay right, and
 * the environment switches them off. */
#include "support/delay.h"

#include <filch/filch.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

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
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)setenv("FILCH_TEST_DELAYS", "0", 1);
        (void)execl("/proc/self/exe", "test_delay", "off", (char *)NULL);
        _exit(3);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int argc, char **argv)
{
    (void)argv;
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(delay__pool_works__results_right_and_delays_counted),
        cmocka_unit_test(delay__switched_off__none),
    };
    test_begin(100);
    if (argc > 1) {
        return fib_of_a_pool() == 987 && filch_test_delays() == 0 ? 0 : 1;
    }
    return cmocka_run_group_tests(cases, NULL, NULL);
}
