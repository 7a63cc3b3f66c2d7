/* SPDX-License-Identifier: MIT */
/* System calls denied by a filter, as in a sandbox: what a pool cannot do without ends its creation
 * with a status, what it can do without is not missed. Each case in a child of its own. */
#include "support/pool.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "support/child.h"
#include "support/proc.h"
#include "support/seccomp.h"

enum { WORKERS = 4, POSTS = 1000 };

static filch_pool_config with_workers(unsigned workers)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = workers;
    return config;
}

static void expect_works(filch_pool *pool)
{
    atomic_uint runs = 0;
    uintptr_t value = 0;
    for (int i = 0; i < POSTS; i++) {
        TEST_CHILD_CHECK(filch_post(pool, test_count_task, &runs, 0, NULL) == FILCH_OK);
    }
    TEST_CHILD_CHECK(filch_run_word(pool, test_fork_tree, 15, &value) == FILCH_OK && value == 610);
    TEST_CHILD_CHECK(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_OK);
    TEST_CHILD_CHECK(atomic_load(&runs) == POSTS);
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
    TEST_CHILD_CHECK(test_proc_await_threads(1));
}

static void expect_no_pool(filch_status why)
{
    int marker = 0;
    filch_pool *pool = (filch_pool *)(void *)&marker;
    filch_pool_config config = with_workers(WORKERS);
    config.flags = FILCH_POOL_STRICT; /* libc may have a stack left for one thread */
    errno = 4711;
    TEST_CHILD_CHECK(filch_pool_create(&config, &pool) == why);
    TEST_CHILD_CHECK(errno == 4711);
    TEST_CHILD_CHECK((void *)pool == (void *)&marker);
    TEST_CHILD_CHECK(why != FILCH_E_SYSTEM || filch_default_pool() == NULL);
    TEST_CHILD_CHECK(test_proc_await_threads(1));
}

/* The futex: all of it, or one operation of those that libc and parking use. */

static void without_futex(void *arg)
{
    TEST_CHILD_CHECK(test_deny(SYS_futex, *(int *)arg));
    expect_no_pool(FILCH_E_SYSTEM);
}

static void without_one_operation(void *arg)
{
    TEST_CHILD_CHECK(test_deny_futex(*(int *)arg, EPERM));
    expect_no_pool(FILCH_E_SYSTEM);
}

static void create__futex_denied__system_and_nothing_left(void **state)
{
    static const int errors[] = { EPERM, ENOSYS, EACCES, ENOMEM };
    static const int operations[] = { FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG,
                                      FUTEX_WAIT | FUTEX_PRIVATE_FLAG, FUTEX_WAIT_BITSET,
                                      FUTEX_WAKE | FUTEX_PRIVATE_FLAG };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(errors); i++) {
        int error = errors[i];
        test_assert_child_ok(without_futex, &error);
    }
    for (size_t i = 0; i < TEST_CASES(operations); i++) {
        int operation = operations[i];
        test_assert_child_ok(without_one_operation, &operation);
    }
}

/* Threads, and what starting one takes. */

typedef struct denial {
    long number;
    int error;
    long second; /* denied as well; -1: none */
    filch_status status;
} denial;

static void without_calls(void *arg)
{
    const denial *d = arg;
    TEST_CHILD_CHECK(test_deny(d->number, d->error));
    TEST_CHILD_CHECK(d->second < 0 || test_deny(d->second, d->error));
    if (d->status != FILCH_OK) {
        expect_no_pool(d->status);
        return;
    }
    filch_pool *pool = NULL;
    const filch_pool_config config = with_workers(WORKERS);
    TEST_CHILD_CHECK(filch_pool_create(&config, &pool) == FILCH_OK);
    TEST_CHILD_CHECK(filch_pool_workers(pool) == WORKERS);
    expect_works(pool);
}

static void expect_all(const denial *rows, size_t count_of_rows)
{
    for (size_t i = 0; i < count_of_rows; i++) {
        denial row = rows[i];
        test_assert_child_ok(without_calls, &row);
    }
}

static void create__threads_denied__thread_and_nothing_left(void **state)
{
    static const denial rows[] = {
        { SYS_clone3, EPERM, SYS_clone, FILCH_E_THREAD },
        { SYS_clone3, EAGAIN, SYS_clone, FILCH_E_THREAD },
        { SYS_clone3, EAGAIN, -1, FILCH_E_THREAD },
        { SYS_clone3, ENOSYS, SYS_clone, FILCH_E_THREAD },
        { SYS_mprotect, EPERM, -1, FILCH_E_THREAD },
        { SYS_rt_sigprocmask, EPERM, -1, FILCH_E_THREAD },
    };
    (void)state;
    expect_all(rows, TEST_CASES(rows));
}

static void create__other_calls_denied__works(void **state)
{
    static const denial rows[] = {
        { SYS_clone3, ENOSYS, -1, FILCH_OK },           /* libc falls back to clone */
        { SYS_prctl, EPERM, -1, FILCH_OK },             /* no names */
        { SYS_sched_getaffinity, EPERM, -1, FILCH_OK }, /* the mask is read elsewhere */
        { SYS_sched_getaffinity, ENOSYS, -1, FILCH_OK },
        { SYS_sched_setaffinity, EPERM, -1, FILCH_OK }, /* wakes are not placed */
        { SYS_sched_setaffinity, ENOSYS, -1, FILCH_OK },
        { SYS_membarrier, ENOSYS, -1, FILCH_OK },   /* forks are not taken by force */
        { SYS_set_mempolicy, EPERM, -1, FILCH_OK }, /* not called, nor the next one */
        { SYS_futex_waitv, ENOSYS, -1, FILCH_OK },
        { SYS_sched_yield, EPERM, -1, FILCH_OK },
        { SYS_madvise, EPERM, -1, FILCH_OK },
        { SYS_brk, ENOMEM, SYS_getrandom, FILCH_OK },
    };
    (void)state;
    expect_all(rows, TEST_CASES(rows));
}

/* From the start, or as a filter that comes while a pool is at work: then nothing is taken by force
 * any more, and the pool goes on. */
static void without_membarrier(void *arg)
{
    filch_pool *pool = NULL;
    filch_stats stats = FILCH_STATS_INIT;
    const filch_pool_config config = with_workers(WORKERS);
    const bool late = *(bool *)arg;
    TEST_CHILD_CHECK(late || test_deny(SYS_membarrier, EPERM));
    TEST_CHILD_CHECK(filch_pool_create(&config, &pool) == FILCH_OK);
    TEST_CHILD_CHECK(!late || test_deny(SYS_membarrier, EPERM));
    TEST_CHILD_CHECK(filch_stats_read(pool, &stats) == FILCH_OK);
    TEST_CHILD_CHECK(late || strcmp(stats.fork_backend, "polled") == 0);
    expect_works(pool);
}

static void create__membarrier_denied__works_without(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        bool late = i != 0;
        test_assert_child_ok(without_membarrier, &late);
    }
}

static void without_affinity(void *arg)
{
    filch_pool *pool = NULL;
    const unsigned before = test_default_workers();
    TEST_CHILD_CHECK(test_deny(SYS_sched_getaffinity, *(int *)arg));
    TEST_CHILD_CHECK(filch_cpus_allowed() == 1);
    TEST_CHILD_CHECK(filch_pool_create(NULL, &pool) == FILCH_OK);
    TEST_CHILD_CHECK(filch_pool_workers(pool) == before); /* the status file tells as well */
    expect_works(pool);
}

static void create__affinity_denied__as_many_workers_as_before(void **state)
{
    static const int errors[] = { EPERM, ENOSYS, EINVAL };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(errors); i++) {
        int error = errors[i];
        test_assert_child_ok(without_affinity, &error);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(create__futex_denied__system_and_nothing_left),
        cmocka_unit_test(create__threads_denied__thread_and_nothing_left),
        cmocka_unit_test(create__other_calls_denied__works),
        cmocka_unit_test(create__membarrier_denied__works_without),
        cmocka_unit_test(create__affinity_denied__as_many_workers_as_before),
    };
    if (TEST_UNDER_ASAN || TEST_UNDER_TSAN) {
        fprintf(stderr, "skipped: the sanitizer itself needs the calls that are denied here\n");
        return 77;
    }
    test_begin(60);
    if (!test_deny_works()) {
        fprintf(stderr, "skipped: no seccomp filters here\n");
        return 77;
    }
    return cmocka_run_group_tests(cases, NULL, NULL);
}
