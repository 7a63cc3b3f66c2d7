/* SPDX-License-Identifier: MIT */
/* A shared library that has the static Filch inside: what a plug-in does. */
#include <filch/filch.h>

__attribute__((visibility("default"))) uintptr_t copy_work(void);
__attribute__((visibility("default"))) void *copy_default_pool(void);

static uintptr_t fib(filch_cx *cx, uintptr_t n)
{
    if (n < 2) {
        return n;
    }
    const filch_pair pair = filch_join2_word(cx, fib, n - 1, fib, n - 2);
    return pair.first + pair.second;
}

uintptr_t copy_work(void)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_pool *pool = NULL;
    uintptr_t value = 0;
    config.workers = 3;
    if (filch_pool_create(&config, &pool) != FILCH_OK ||
        filch_run_word(pool, fib, 16, &value) != FILCH_OK || filch_pool_destroy(pool) != FILCH_OK) {
        return 0;
    }
    return value;
}

void *copy_default_pool(void)
{
    uintptr_t value = 0;
    filch_pool *pool = filch_default_pool();
    return filch_run_word(pool, fib, 16, &value) == FILCH_OK && value == 987 ? pool : NULL;
}
