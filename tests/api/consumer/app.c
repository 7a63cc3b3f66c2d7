/* SPDX-License-Identifier: MIT */
/* The program of somebody else: it sees the installed headers only, runs something on a pool, and
 * checks that the library is the one its package says it is (EXPECTED_VERSION). */
#include <filch/filch.h>

#include <stdio.h>
#include <string.h>

static uintptr_t fib(filch_cx *cx, uintptr_t n)
{
    if (n < 2) {
        return n;
    }
    const filch_pair pair = filch_join2_word(cx, fib, n - 1, fib, n - 2);
    return pair.first + pair.second;
}

int main(void)
{
    if (strcmp(filch_version(), EXPECTED_VERSION) != 0 ||
        strcmp(FILCH_VERSION_STRING, EXPECTED_VERSION) != 0) {
        fprintf(stderr, "package %s, header %s, library %s\n", EXPECTED_VERSION,
                FILCH_VERSION_STRING, filch_version());
        return 1;
    }
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_pool *pool;
    config.workers = 2;
    filch_status status = filch_pool_create(&config, &pool);
    if (status != FILCH_OK) {
        fprintf(stderr, "no pool: %s\n", filch_strerror(status));
        return 1;
    }
    uintptr_t value = 0;
    status = filch_run_word(pool, fib, 20, &value);
    const filch_status gone = filch_pool_destroy(pool);
    printf("fib(20) = %lu\n", (unsigned long)value);
    return status == FILCH_OK && gone == FILCH_OK && value == 6765 ? 0 : 1;
}
