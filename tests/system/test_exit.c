/* SPDX-License-Identifier: MIT */
/* exit(): the process ends at once with the right code, whatever the workers do: busy, asleep, with
 * tasks queued, called from main or from a task, with a pool of one's own or the default pool. */
#include "support/pool.h"

#include <stdlib.h>
#include <sys/wait.h>

#include "support/child.h"

typedef enum leaver { LEAVE_FROM_MAIN, LEAVE_FROM_ROOT, LEAVE_FROM_TASK, LEAVERS } leaver;

typedef struct exit_case {
    leaver from;
    unsigned busy;   /* workers that never come back */
    unsigned queued; /* tasks that wait behind them */
    bool default_pool;
    int code;
} exit_case;

/* In the child; static, so that a leak check at its exit can reach it. */
static filch_pool *the_pool;
static atomic_uint begun;

static void never_ends(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
    atomic_fetch_add(&begun, 1);
    for (;;) {
        test_spin_ns(1000000);
    }
}

static void queued_task(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
    test_spin_ns(10000);
}

static void leave(filch_cx *cx, void *arg)
{
    (void)cx;
    exit(((const exit_case *)arg)->code);
}

static void pause_for_good(void)
{
    atomic_uint never = 0;
    test_await(&never, 1);
}

static void child_that_exits(void *arg)
{
    exit_case *c = arg;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = 4;
    atomic_store(&begun, 0);
    if (c->default_pool) {
        the_pool = filch_default_pool();
    } else {
        TEST_CHILD_CHECK(filch_pool_create(&config, &the_pool) == FILCH_OK);
    }
    TEST_CHILD_CHECK(the_pool != NULL);
    for (unsigned i = 0; i < c->busy; i++) {
        TEST_CHILD_CHECK(filch_post(the_pool, never_ends, NULL, 0, NULL) == FILCH_OK);
        test_await(&begun, i + 1);
    }
    for (unsigned i = 0; i < c->queued; i++) {
        TEST_CHILD_CHECK(filch_post(the_pool, queued_task, NULL, 0, NULL) == FILCH_OK);
    }
    if (c->from == LEAVE_FROM_MAIN) {
        exit(c->code);
    }
    if (c->from == LEAVE_FROM_ROOT) {
        (void)filch_run(the_pool, leave, c);
    } else {
        TEST_CHILD_CHECK(filch_post(the_pool, leave, c, 0, NULL) == FILCH_OK);
    }
    pause_for_good();
}

static void expect_exit(exit_case c)
{
    c.code = 7 + (int)c.from;
    int status = test_child_run(child_that_exits, &c, NULL, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != c.code) {
        print_error("from %d, %u busy, %u queued, default %d: wait status 0x%x\n", (int)c.from,
                    c.busy, c.queued, c.default_pool, (unsigned)status);
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), c.code);
}

static void exit__at_any_moment__ends_with_its_code(void **state)
{
    size_t rounds = test_count(20, 2);
    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        for (int from = LEAVE_FROM_MAIN; from < LEAVERS; from++) {
            for (unsigned busy = 0; busy <= 2; busy++) {
                expect_exit((exit_case){ (leaver)from, busy, 0, false, 0 });
                expect_exit((exit_case){ (leaver)from, busy, 100, false, 0 });
            }
        }
    }
}

static void exit__with_the_default_pool__ends_with_its_code(void **state)
{
    size_t rounds = test_count(20, 2);
    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        for (int from = LEAVE_FROM_MAIN; from < LEAVERS; from++) {
            expect_exit((exit_case){ (leaver)from, 0, 100, true, 0 });
        }
        expect_exit((exit_case){ LEAVE_FROM_MAIN, 1, 100, true, 0 });
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(exit__at_any_moment__ends_with_its_code),
        cmocka_unit_test(exit__with_the_default_pool__ends_with_its_code),
    };
    test_begin(100);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
