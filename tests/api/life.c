/* SPDX-License-Identifier: MIT */
/* A small program over the whole library, for builds that ctest's other programs do not cover:
 * every optimisation level, link-time optimisation, static, 32 bits, another libc. It creates and
 * destroys many pools, so a busy wait on a plain word would hang under an optimiser, and it uses a
 * stack that a small default would not have. An alarm ends it if it hangs. */
#include <filch/filch.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 1000, TASKS = 20, BIG_ARRAY_BYTES = 512 << 10, ALARM_S = 60 };

static const size_t asked_stack_bytes = (size_t)3 << 20;
static size_t seen_stack_bytes;

static uintptr_t fib(filch_cx *cx, uintptr_t n)
{
    if (n < 2) {
        return n;
    }
    const filch_pair pair = filch_join2_word(cx, fib, n - 1, fib, n - 2);
    return pair.first + pair.second;
}

static void count(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)__atomic_fetch_add((unsigned *)arg, 1, __ATOMIC_RELAXED);
}

static void add_range(filch_cx *cx, void *ctx, filch_range range)
{
    (void)cx;
    (void)__atomic_fetch_add((unsigned *)ctx, (unsigned)(range.hi - range.lo), __ATOMIC_RELAXED);
}

static uintptr_t use_big_array(filch_cx *cx, uintptr_t value)
{
    volatile unsigned char array[BIG_ARRAY_BYTES];
    (void)cx;
    for (size_t i = 0; i < sizeof(array); i += 4096) {
        array[i] = (unsigned char)value;
    }
    return array[0];
}

static void look_at_stack(filch_cx *cx, void *arg)
{
    pthread_attr_t attr;
    void *low = NULL;
    (void)cx;
    (void)arg;
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        (void)pthread_attr_getstack(&attr, &low, &seen_stack_bytes);
        (void)pthread_attr_destroy(&attr);
    }
}

static int wrong(const char *what)
{
    fprintf(stderr, "life: %s\n", what);
    return 1;
}

/* One pool: posts, and a root, a loop and a scope's worth of checks. 0: all is well. */
static int live_once(unsigned workers)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = workers;
    config.stack_bytes = asked_stack_bytes;
    filch_pool *pool = NULL;
    if (filch_pool_create(&config, &pool) != FILCH_OK) {
        return wrong("create failed");
    }
    unsigned done = 0;
    for (int i = 0; i < TASKS; i++) {
        if (filch_post(pool, count, &done, 0, NULL) != FILCH_OK) {
            return wrong("post failed");
        }
    }
    uintptr_t value = 0;
    if (filch_run_word(pool, fib, 10, &value) != FILCH_OK || value != 55) {
        return wrong("fib(10) is not 55");
    }
    unsigned sum = 0;
    if (filch_for_on(pool, 1000, add_range, &sum, NULL) != FILCH_OK || sum != 1000) {
        return wrong("a loop missed indices");
    }
    if (filch_pool_destroy(pool) != FILCH_OK || done != TASKS) {
        return wrong("destroy lost tasks");
    }
    return 0;
}

static int check_stacks(void)
{
    filch_pool *pool = NULL;
    uintptr_t value = 0;
    if (filch_pool_create(NULL, &pool) != FILCH_OK ||
        filch_run_word(pool, use_big_array, 7, &value) != FILCH_OK || value != 7 ||
        filch_pool_destroy(pool) != FILCH_OK) {
        return wrong("a task has no room for 512 KiB on a default stack");
    }
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.stack_bytes = asked_stack_bytes;
    if (filch_pool_create(&config, &pool) != FILCH_OK ||
        filch_run(pool, look_at_stack, NULL) != FILCH_OK || filch_pool_destroy(pool) != FILCH_OK) {
        return wrong("a pool with a stack of its own failed");
    }
    /* a libc may round up, or hand out a larger stack it has kept */
    return seen_stack_bytes >= asked_stack_bytes - 65536 ? 0 : wrong("the stack is too small");
}

int main(void)
{
    (void)alarm(ALARM_S);
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (live_once(1 + round % 3) != 0) {
            return 1;
        }
    }
    return check_stacks();
}
