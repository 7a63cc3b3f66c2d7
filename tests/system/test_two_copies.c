/* SPDX-License-Identifier: MIT */
/* Two shared libraries with the static Filch inside of each, loaded into one program, also with their
 * symbols for all to see: each uses its own copy, both work, and what they make is destroyed cleanly. */
#include "support/test.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/child.h"
#include "support/proc.h"

static void *load(const char *variable, int flags)
{
    void *library = dlopen(getenv(variable), RTLD_NOW | flags);
    TEST_CHILD_CHECK(library != NULL);
    return library;
}

static uintptr_t work(void *library)
{
    uintptr_t (*fn)(void) = NULL;
    *(void **)&fn = dlsym(library, "copy_work");
    TEST_CHILD_CHECK(fn != NULL);
    return fn();
}

static void *default_pool(void *library)
{
    void *(*fn)(void) = NULL;
    *(void **)&fn = dlsym(library, "copy_default_pool");
    TEST_CHILD_CHECK(fn != NULL);
    return fn();
}

static void use_both(void *arg)
{
    const int flags = *(int *)arg;
    void *first = load("FILCH_COPY_1", flags);
    void *second = load("FILCH_COPY_2", flags);
    TEST_CHILD_CHECK(work(first) == 987 && work(second) == 987 && work(first) == 987);
    TEST_CHILD_CHECK(test_proc_await_threads(1));
    void *pools[] = { default_pool(first), default_pool(second) };
    TEST_CHILD_CHECK(pools[0] != NULL && pools[1] != NULL);
    TEST_CHILD_CHECK(pools[0] != pools[1]); /* the copies do not take each other's calls */
}

static void copies__two_in_a_program__each_for_itself(void **state)
{
    static const int flags[] = { RTLD_LOCAL, RTLD_GLOBAL };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(flags); i++) {
        int value = flags[i];
        test_assert_child_ok(use_both, &value);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(copies__two_in_a_program__each_for_itself),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
