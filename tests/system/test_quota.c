/* SPDX-License-Identifier: MIT */
/* Real cgroups, made as root in the hierarchy that has the cpu controller: what a process inside is
 * told, how large a pool gets, and that throttling is counted. Each case in a child that enters the
 * group; groups are taken away again. Exit code 77 with a reason where no group can be made. */
#include "support/pool.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/support/group.h"
#include "support/child.h"

enum { PATH_BYTES = 256 };

static group outer;
static group inner;

/* In a child: go into the inner group. */
static void enter(void)
{
    TEST_CHILD_CHECK(group_enter(&inner));
}

static filch_cpus found(void)
{
    filch_cpus cpus = FILCH_CPUS_INIT;
    filch_cpus_options options = FILCH_CPUS_OPTIONS_INIT;
    options.flags = FILCH_CPUS_NO_ENVIRONMENT;
    TEST_CHILD_CHECK(filch_cpus_read(&options, &cpus) == FILCH_OK);
    return cpus;
}

typedef struct quota_case {
    unsigned outer_us; /* 0: none */
    unsigned inner_us;
    unsigned rounded_up; /* CPUs; what fewer cores allow is less */
    const group *named;
    unsigned free_workers; /* of a pool outside */
} quota_case;

static void read_inside(void *arg)
{
    const quota_case *c = arg;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_pool *pool = NULL;
    config.flags = FILCH_POOL_NO_ENVIRONMENT;
    enter();
    const filch_cpus cpus = found();
    const unsigned size = c->rounded_up < c->free_workers ? c->rounded_up : c->free_workers;
    fprintf(stderr, "%u: %s (%s)\n", cpus.cpu_bound, cpus.why, cpus.quota_file);
    TEST_CHILD_CHECK(cpus.cpu_bound == size);
    TEST_CHILD_CHECK(cpus.cgroup == (outer.unified ? 2 : 1));
    TEST_CHILD_CHECK(strncmp(cpus.quota_file, c->named->folder, strlen(c->named->folder)) == 0);
    TEST_CHILD_CHECK(strncmp(cpus.quota_file + strlen(c->named->folder), "/cpu.", 5) == 0);
    TEST_CHILD_CHECK(filch_pool_create(&config, &pool) == FILCH_OK);
    TEST_CHILD_CHECK(filch_pool_workers(pool) == size);
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
}

static void quota__in_a_real_group__the_size_of_a_pool(void **state)
{
    const quota_case cases[] = {
        { 0, 50000, 1, &inner, 0 },       { 0, 100000, 1, &inner, 0 },
        { 0, 150000, 2, &inner, 0 },      { 0, 200000, 2, &inner, 0 },
        { 50000, 0, 1, &outer, 0 },       { 100000, 0, 1, &outer, 0 },
        { 150000, 0, 2, &outer, 0 },      { 200000, 100000, 1, &inner, 0 },
        { 150000, 150000, 2, &inner, 0 }, { 100000, 50000, 1, &inner, 0 },
    };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(cases); i++) {
        char text[1024];
        quota_case c = cases[i];
        c.free_workers = test_default_workers();
        assert_true(group_set_quota(&inner, 0) && group_set_quota(&outer, c.outer_us) &&
                    group_set_quota(&inner, c.inner_us));
        const int status = test_child_run(read_inside, &c, text, sizeof(text));
        print_message("%s", text);
        assert_int_equal(status, 0);
    }
}

static filch_stats read_stats(const filch_pool *pool, unsigned flags)
{
    filch_stats stats = FILCH_STATS_INIT;
    stats.flags = flags;
    TEST_CHILD_CHECK(filch_stats_read(pool, &stats) == FILCH_OK);
    return stats;
}

static void expect_no_throttling(const filch_pool *pool, unsigned flags)
{
    const filch_stats stats = read_stats(pool, flags);
    TEST_CHILD_CHECK(stats.has_throttling == 0 && stats.periods == 0);
    TEST_CHILD_CHECK(stats.throttled == 0 && stats.throttled_us == 0);
}

static void no_quota_inside(void *arg)
{
    filch_pool *pool = NULL;
    enter();
    const filch_cpus cpus = found();
    TEST_CHILD_CHECK(cpus.quota_us == 0 && cpus.quota_file[0] == '\0');
    TEST_CHILD_CHECK(cpus.cpu_bound == *(unsigned *)arg);
    TEST_CHILD_CHECK(cpus.cgroup == (outer.unified ? 2 : 1) && cpus.weight != 0);
    TEST_CHILD_CHECK(filch_pool_create(NULL, &pool) == FILCH_OK);
    expect_no_throttling(pool, FILCH_STATS_THROTTLING);
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
}

static void quota__none_in_a_real_group__all_cores(void **state)
{
    unsigned workers = test_default_workers();
    (void)state;
    assert_true(group_set_quota(&inner, 0) && group_set_quota(&outer, 0));
    test_assert_child_ok(no_quota_inside, &workers);
}

/* Compute until the group has been stopped; a pool's statistics tell it only if they are asked. */
static void get_throttled(void *arg)
{
    filch_pool *pool = NULL;
    (void)arg;
    enter();
    TEST_CHILD_CHECK(filch_pool_create(NULL, &pool) == FILCH_OK);
    const filch_cpus before = found();
    filch_cpus after = before;
    while (after.throttled == before.throttled || after.throttled_us == before.throttled_us) {
        const uint64_t end = test_cpu_ns() + 1000000;
        while (test_cpu_ns() < end) {}
        after = found();
    }
    TEST_CHILD_CHECK(after.periods > before.periods);
    TEST_CHILD_CHECK(strstr(after.why, "throttling cannot be avoided") != NULL);
    const filch_stats stats = read_stats(pool, FILCH_STATS_THROTTLING);
    TEST_CHILD_CHECK(stats.has_throttling == 1 && stats.periods >= after.periods);
    TEST_CHILD_CHECK(stats.throttled >= after.throttled && stats.throttled <= stats.periods);
    TEST_CHILD_CHECK(stats.throttled_us >= after.throttled_us);
    expect_no_throttling(pool, 0);
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
}

static void throttling__below_one_cpu__counted_and_said(void **state)
{
    (void)state;
    assert_true(group_set_quota(&outer, 0) && group_set_quota(&inner, 20000));
    test_assert_child_ok(get_throttled, NULL);
}

/* The pool is busy all the time; its size goes with the quota. */
static void follow_quota(void *arg)
{
    static const struct {
        unsigned quota_us;
        unsigned workers;
    } changes[] = { { 100000, 1 }, { 200000, 2 }, { 50000, 1 }, { 0, 2 } };
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_pool *pool = NULL;
    atomic_uint ran = 0;
    unsigned posted = 0;
    (void)arg;
    config.flags = FILCH_POOL_NO_ENVIRONMENT;
    enter();
    TEST_CHILD_CHECK(group_set_quota(&inner, 200000));
    TEST_CHILD_CHECK(filch_pool_create(&config, &pool) == FILCH_OK);
    TEST_CHILD_CHECK(filch_pool_workers(pool) == 2);
    for (size_t i = 0; i < TEST_CASES(changes); i++) {
        TEST_CHILD_CHECK(group_set_quota(&inner, changes[i].quota_us));
        const unsigned begun = posted;
        while (filch_pool_workers(pool) != changes[i].workers || posted < begun + 1000) {
            TEST_CHILD_CHECK(filch_post(pool, test_count_task, &ran, 0, NULL) == FILCH_OK);
            posted++;
        }
    }
    TEST_CHILD_CHECK(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_OK);
    TEST_CHILD_CHECK(atomic_load(&ran) == posted);
    TEST_CHILD_CHECK(test_pool_stats(pool).resizes == TEST_CASES(changes));
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
}

static void quota__changed_under_a_busy_pool__followed(void **state)
{
    (void)state;
    if (test_default_workers() != 2) {
        print_message("not judged: this needs two cores and no more, there are %u\n",
                      test_default_workers());
        return;
    }
    assert_true(group_set_quota(&outer, 0));
    test_assert_child_ok(follow_quota, NULL);
}

/* A cpuset of one CPU. */

static group cpuset;

static void read_in_cpuset(void *arg)
{
    filch_pool *pool = NULL;
    (void)arg;
    TEST_CHILD_CHECK(group_enter(&cpuset));
    const filch_cpus cpus = found();
    TEST_CHILD_CHECK(cpus.allowed == 1 && cpus.cpu_bound == 1 && cpus.logical == 1);
    TEST_CHILD_CHECK(cpus.cpuset == 1);
    TEST_CHILD_CHECK(unsetenv("FILCH_WORKERS") == 0);
    TEST_CHILD_CHECK(filch_pool_create(NULL, &pool) == FILCH_OK);
    TEST_CHILD_CHECK(filch_pool_workers(pool) == 1);
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
}

static void cpuset__of_one_cpu__one_worker(void **state)
{
    char first[16];
    cpu_set_t mask;
    int cpu = 0;
    (void)state;
    (void)snprintf(cpuset.folder, sizeof(cpuset.folder), "/sys/fs/cgroup/%sfilch-test-cpuset-%d",
                   outer.unified ? "" : "cpuset/", (int)getpid());
    assert_int_equal(sched_getaffinity(0, sizeof(mask), &mask), 0);
    while (!CPU_ISSET((size_t)cpu, &mask)) {
        cpu++;
    }
    (void)snprintf(first, sizeof(first), "%d", cpu);
    if (mkdir(cpuset.folder, 0755) != 0) {
        print_message("not judged: no cpuset group can be made: %s\n", strerror(errno));
        return;
    }
    const bool set = group_write(cpuset.folder, "cpuset.cpus", first) &&
                     (outer.unified || group_write(cpuset.folder, "cpuset.mems", "0"));
    const int status = set ? test_child_run(read_in_cpuset, NULL, NULL, 0) : 0;
    (void)group_remove(&cpuset);
    if (!set) {
        print_message("not judged: the cpuset controller cannot be had\n");
    }
    assert_int_equal(status, 0);
}

static int drop_groups(void **state)
{
    (void)state;
    const bool gone = group_remove(&inner);
    return group_remove(&outer) && gone ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(quota__in_a_real_group__the_size_of_a_pool),
        cmocka_unit_test(quota__none_in_a_real_group__all_cores),
        cmocka_unit_test(throttling__below_one_cpu__counted_and_said),
        cmocka_unit_test(quota__changed_under_a_busy_pool__followed),
        cmocka_unit_test(cpuset__of_one_cpu__one_worker),
    };
    test_begin(100);
    (void)unsetenv("FILCH_WORKERS");
    if (getuid() != 0 || !group_make("filch-test", &outer)) {
        fprintf(stderr, "skipped: no cgroup with a cpu controller can be made here (%s)\n",
                getuid() != 0 ? "not root" : strerror(errno));
        return 77;
    }
    if (!group_make_inside(&outer, "inner", &inner)) {
        fprintf(stderr, "skipped: no cgroup inside %s: %s\n", outer.folder, strerror(errno));
        (void)group_remove(&outer);
        return 77;
    }
    return cmocka_run_group_tests(cases, NULL, drop_groups);
}
