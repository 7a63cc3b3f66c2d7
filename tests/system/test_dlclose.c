/* SPDX-License-Identifier: MIT */
/* The shared library, loaded and let go by dlopen and dlclose: with its pools destroyed first, many
 * times; and with a live pool, which goes on working, since the library stays mapped. The path of
 * the library comes in FILCH_LIBRARY; this program itself is not linked with it. */
#include "support/test.h"

#include <filch/filch.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/child.h"
#include "support/proc.h"

enum { WORKERS = 3 };

/* The functions, looked up in the library. */
typedef struct library {
    void *handle;
    filch_status (*create)(const filch_pool_config *, filch_pool **);
    filch_status (*destroy)(filch_pool *);
    filch_status (*run)(filch_pool *, filch_fn *, void *);
    filch_status (*post)(filch_pool *, filch_fn *, const void *, size_t,
                         const filch_submit_options *);
    filch_status (*wait_quiet)(filch_pool *, filch_time);
    void (*join2)(filch_cx *, filch_fn *, void *, filch_fn *, void *);
} library;

static library the_library;

/* Copy a function's address out of what dlsym returns. */
static bool look_up(void *handle, const char *name, void *out_function)
{
    void *symbol = dlsym(handle, name);
    memcpy(out_function, &symbol, sizeof(symbol));
    return symbol != NULL;
}

static bool load(library *lib)
{
    lib->handle = dlopen(getenv("FILCH_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
    if (lib->handle == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
    return look_up(lib->handle, "filch_pool_create", &lib->create) &&
           look_up(lib->handle, "filch_pool_destroy", &lib->destroy) &&
           look_up(lib->handle, "filch_run", &lib->run) &&
           look_up(lib->handle, "filch_post", &lib->post) &&
           look_up(lib->handle, "filch_pool_wait_quiet", &lib->wait_quiet) &&
           look_up(lib->handle, "filch_join2", &lib->join2);
}

static void count(filch_cx *cx, void *arg)
{
    (void)cx;
    atomic_fetch_add((atomic_uint *)arg, 1);
}

static void fork_and_count(filch_cx *cx, void *arg)
{
    the_library.join2(cx, count, arg, count, arg);
}

static filch_status make_pool(const library *lib, filch_pool **out_pool)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = WORKERS;
    return lib->create(&config, out_pool);
}

/* Use the pool; true if all came back. */
static bool use(const library *lib, filch_pool *pool)
{
    atomic_uint runs = 0;
    bool good = true;
    for (int i = 0; i < 100; i++) {
        good = good && lib->post(pool, count, &runs, 0, NULL) == FILCH_OK;
        good = good && lib->run(pool, fork_and_count, &runs) == FILCH_OK;
    }
    good = good && lib->wait_quiet(pool, FILCH_FOREVER) == FILCH_OK;
    return good && atomic_load(&runs) == 300;
}

static void dlclose__after_destroy_many_times__no_thread_left(void **state)
{
    size_t rounds = test_count(300, 30);
    size_t threads_before = test_proc_threads(NULL, 0);
    (void)state;
    for (size_t i = 0; i < rounds; i++) {
        filch_pool *pool = NULL;
        assert_true(load(&the_library));
        assert_int_equal(make_pool(&the_library, &pool), FILCH_OK);
        assert_true(use(&the_library, pool));
        assert_int_equal(the_library.destroy(pool), FILCH_OK);
        assert_int_equal(dlclose(the_library.handle), 0);
    }
    assert_true(test_proc_await_threads(threads_before));
}

static filch_pool *left_behind;

static void leave_pool_behind(void *arg)
{
    (void)arg;
    TEST_CHILD_CHECK(load(&the_library));
    TEST_CHILD_CHECK(make_pool(&the_library, &left_behind) == FILCH_OK);
    TEST_CHILD_CHECK(use(&the_library, left_behind));
    TEST_CHILD_CHECK(dlclose(the_library.handle) == 0);
    /* Its code is still there: the workers run on, and the pool can be used. */
    TEST_CHILD_CHECK(use(&the_library, left_behind));
    exit(0);
}

static void leave_busy_pool_behind(void *arg)
{
    static atomic_uint runs;
    (void)arg;
    atomic_store(&runs, 0);
    TEST_CHILD_CHECK(load(&the_library));
    TEST_CHILD_CHECK(make_pool(&the_library, &left_behind) == FILCH_OK);
    for (int i = 0; i < 500; i++) {
        TEST_CHILD_CHECK(the_library.post(left_behind, count, &runs, 0, NULL) == FILCH_OK);
    }
    TEST_CHILD_CHECK(dlclose(the_library.handle) == 0);
    test_await(&runs, 500);
    TEST_CHILD_CHECK(the_library.destroy(left_behind) == FILCH_OK);
    exit(0);
}

static void dlclose__with_a_live_pool__it_goes_on(void **state)
{
    size_t rounds = test_count(50, 5);
    (void)state;
    for (size_t i = 0; i < rounds; i++) {
        test_assert_child_ok(leave_pool_behind, NULL);
        test_assert_child_ok(leave_busy_pool_behind, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        /* first, so that the children begin without the library */
        cmocka_unit_test(dlclose__with_a_live_pool__it_goes_on),
        cmocka_unit_test(dlclose__after_destroy_many_times__no_thread_left),
    };
    if (getenv("FILCH_LIBRARY") == NULL) {
        fprintf(stderr, "skipped: FILCH_LIBRARY does not name libfilch.so\n");
        return 77;
    }
    test_begin(100);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
