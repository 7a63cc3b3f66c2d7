/* SPDX-License-Identifier: MIT */
/* A futex that is denied only after a pool was made: a park under the filter still takes its token
 * and keeps its deadline, and does not spin. In children, since a filter is for good. */
#include "support/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "plat/plat.h"
#include "support/child.h"
#include "support/seccomp.h"

static const int64_t wait_ns = 100000000;

static void park_to_a_deadline(void *arg)
{
    filchi_parker parker;
    TEST_CHILD_CHECK(filchi_parker_init(&parker));
    TEST_CHILD_CHECK(test_deny(SYS_futex, *(int *)arg));
    const uint64_t cpu = test_cpu_ns();
    const int64_t until = filchi_clock_ns() + wait_ns;
    errno = 4711;
    TEST_CHILD_CHECK(!filchi_park(&parker, until));
    TEST_CHILD_CHECK(errno == 4711);
    TEST_CHILD_CHECK(filchi_clock_ns() >= until);
    TEST_CHILD_CHECK(test_cpu_ns() - cpu < (uint64_t)wait_ns / 2);
    filchi_unpark(&parker);
    TEST_CHILD_CHECK(filchi_park(&parker, INT64_MAX));
    TEST_CHILD_CHECK(!filchi_park(&parker, 0));
}

typedef struct handed {
    filchi_parker parker;
    atomic_uint asks;
    uint64_t word; /* plain: ordered by the token alone */
} handed;

static void *hand_over(void *arg)
{
    handed *h = arg;
    for (unsigned i = 1; i <= 20; i++) {
        test_await(&h->asks, i);
        h->word = i;
        filchi_unpark(&h->parker);
    }
    return NULL;
}

static void park_for_tokens(void *arg)
{
    handed h = { .asks = 0 };
    pthread_t giver;
    TEST_CHILD_CHECK(filchi_parker_init(&h.parker));
    test_thread_start(&giver, hand_over, &h); /* has no filter */
    TEST_CHILD_CHECK(test_deny(SYS_futex, *(int *)arg));
    for (unsigned i = 1; i <= 20; i++) {
        atomic_store(&h.asks, i);
        TEST_CHILD_CHECK(filchi_park(&h.parker, INT64_MAX));
        TEST_CHILD_CHECK(h.word == i);
    }
}

static void park__futex_denied__token_deadline_and_no_spin(void **state)
{
    static const int errors[] = { EPERM, ENOSYS };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(errors); i++) {
        int error = errors[i];
        test_assert_child_ok(park_to_a_deadline, &error);
        test_assert_child_ok(park_for_tokens, &error);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(park__futex_denied__token_deadline_and_no_spin),
    };
    if (TEST_UNDER_ASAN || TEST_UNDER_TSAN || strcmp(filchi_park_backend(), "futex") != 0) {
        fprintf(stderr, "skipped: needs the parking on a futex, and no sanitizer that uses one\n");
        return 77;
    }
    test_begin(60);
    if (!test_deny_works()) {
        fprintf(stderr, "skipped: no seccomp filters here\n");
        return 77;
    }
    return cmocka_run_group_tests(cases, NULL, NULL);
}
