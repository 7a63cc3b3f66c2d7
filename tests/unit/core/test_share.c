/* SPDX-License-Identifier: MIT */
/* Pools that share the CPUs: each has its part, which changes as others come and go; together they have
 * no more workers than there are CPUs. What the machine has is what the test says. */
#include "support/pool.h"

#include <stdlib.h>

#include "core/share.h"
#include "support/child.h"

enum { MACHINE = 8, POOLS = 3 };

static atomic_uint says;
static atomic_uint looks;

unsigned __wrap_filchi_sizing_default(bool environment, bool logical, const char *limit_names,
                                      unsigned *out_part);

unsigned __wrap_filchi_sizing_default(bool environment, bool logical, const char *limit_names,
                                      unsigned *out_part)
{
    (void)environment;
    (void)logical;
    (void)limit_names;
    *out_part = 0;
    atomic_fetch_add(&looks, 1);
    return atomic_load(&says);
}

static filch_pool *make(unsigned flags, unsigned workers)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.flags = flags;
    config.workers = workers;
    config.max_workers = MACHINE;
    return test_pool_make_as(&config);
}

static void work_until(filch_pool *pool, unsigned workers)
{
    atomic_uint ran = 0;
    while (filch_pool_workers(pool) != workers) {
        assert_int_equal(filch_post(pool, test_count_task, &ran, 0, NULL), FILCH_OK);
    }
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
}

static void work_for_looks(filch_pool *pool, unsigned more)
{
    const unsigned end = atomic_load(&looks) + more;
    atomic_uint ran = 0;
    while (atomic_load(&looks) < end) {
        assert_int_equal(filch_post(pool, test_count_task, &ran, 0, NULL), FILCH_OK);
    }
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
}

static void share__pools_come_and_go__parts_of_the_machine(void **state)
{
    filch_pool *pools[POOLS];
    unsigned together = 0;
    (void)state;
    atomic_store(&says, MACHINE);
    pools[0] = make(FILCH_POOL_SHARE, 0);
    assert_int_equal(filch_pool_workers(pools[0]), MACHINE);
    pools[1] = make(FILCH_POOL_SHARE, 0);
    assert_int_equal(filch_pool_workers(pools[1]), MACHINE / 2);
    work_until(pools[0], MACHINE / 2);
    pools[2] = make(FILCH_POOL_SHARE, 0);
    for (int i = 0; i < POOLS; i++) {
        work_until(pools[i], MACHINE / 3);
        together += filch_pool_workers(pools[i]);
    }
    assert_true(together <= MACHINE);
    test_pool_close(pools[1]);
    test_pool_close(pools[2]);
    work_until(pools[0], MACHINE);
    test_pool_close(pools[0]);
    assert_int_equal(filchi_share_of(MACHINE), MACHINE);
}

static void share__more_pools_than_cpus__one_worker_each(void **state)
{
    filch_pool *pools[POOLS];
    (void)state;
    atomic_store(&says, 2);
    for (int i = 0; i < POOLS; i++) {
        pools[i] = make(FILCH_POOL_SHARE, 0);
    }
    for (int i = 0; i < POOLS; i++) {
        work_until(pools[i], 1);
        test_pool_close(pools[i]);
    }
}

static void share__others__keep_their_size(void **state)
{
    (void)state;
    atomic_store(&says, MACHINE);
    filch_pool *plain = make(0, 0);
    filch_pool *exact = make(FILCH_POOL_SHARE, 5);
    filch_pool *fixed = make(FILCH_POOL_SHARE | FILCH_POOL_FIXED, 0);
    filch_pool *sharing = make(FILCH_POOL_SHARE, 0);
    assert_int_equal(filch_pool_workers(sharing), MACHINE / 2);
    work_for_looks(plain, 3);
    assert_int_equal(filch_pool_workers(plain), MACHINE);
    assert_int_equal(filch_pool_workers(exact), 5);
    assert_int_equal(filch_pool_workers(fixed), MACHINE);
    test_pool_close(plain);
    test_pool_close(exact);
    test_pool_close(fixed);
    test_pool_close(sharing);
    assert_int_equal(setenv("FILCH_WORKERS", "3", 1), 0);
    filch_pool *first = make(FILCH_POOL_SHARE, 0);
    filch_pool *second = make(FILCH_POOL_SHARE, 0);
    assert_int_equal(filch_pool_workers(second), filch_pool_workers(first));
    assert_int_equal(unsetenv("FILCH_WORKERS"), 0);
    test_pool_close(first);
    test_pool_close(second);
}

static void pools_in_a_child(void *arg)
{
    filch_pool *pool = NULL;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.flags = FILCH_POOL_SHARE;
    config.max_workers = MACHINE;
    TEST_CHILD_CHECK(filch_pool_create(&config, &pool) == FILCH_OK);
    TEST_CHILD_CHECK(filch_pool_workers(pool) == MACHINE);
    TEST_CHILD_CHECK(filch_pool_destroy(arg) ==
                     FILCH_OK); /* the parent's: it does not count here */
    TEST_CHILD_CHECK(filchi_share_of(MACHINE) == MACHINE);
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
}

static void share__in_a_child__its_own_pools_only(void **state)
{
    (void)state;
    atomic_store(&says, MACHINE);
    filch_pool *pools[] = { make(FILCH_POOL_SHARE, 0), make(FILCH_POOL_SHARE, 0) };
    test_assert_child_ok(pools_in_a_child, pools[0]);
    test_pool_close(pools[0]);
    test_pool_close(pools[1]);
}

/* Last: it stays for the rest of the process. A hundred users, one pool; it divides with another. */
static void share__the_default_pool__one_for_all_and_in_it(void **state)
{
    (void)state;
    atomic_store(&says, 2); /* no machine has fewer logical CPUs that can be followed to */
    filch_pool *shared = filch_default_pool();
    assert_non_null(shared);
    for (int i = 0; i < 100; i++) {
        assert_ptr_equal(filch_default_pool(), shared);
    }
    assert_int_equal(filch_pool_workers(shared), 2);
    filch_pool *other = make(FILCH_POOL_SHARE, 0);
    assert_int_equal(filch_pool_workers(other), 1);
    work_until(shared, 1);
    test_pool_close(other);
    work_until(shared, 2);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(share__pools_come_and_go__parts_of_the_machine),
        cmocka_unit_test(share__more_pools_than_cpus__one_worker_each),
        cmocka_unit_test(share__others__keep_their_size),
        cmocka_unit_test(share__in_a_child__its_own_pools_only),
        cmocka_unit_test(share__the_default_pool__one_for_all_and_in_it),
    };
    test_begin(60);
    (void)unsetenv("FILCH_WORKERS");
    return cmocka_run_group_tests(cases, NULL, NULL);
}
