/* SPDX-License-Identifier: MIT */
/* From facts to sizes, and the words about them: each source, limits in variables, the override, the
 * size for tasks that wait; what a pool takes of it. */
#include "support/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/sizing.h"
#include "support/child.h"

static filchi_cpu_facts machine(unsigned allowed, unsigned cores)
{
    filchi_cpu_facts facts;
    memset(&facts, 0, sizeof(facts));
    facts.allowed = allowed;
    facts.online = allowed;
    facts.source = FILCHI_MASK_CALL;
    facts.topology.cores = cores;
    return facts;
}

static void set_quota(filchi_cpu_facts *facts, uint64_t quota_us, uint64_t period_us)
{
    facts->quota.limit = FILCHI_LIMIT_SET;
    facts->quota.version = 2;
    facts->quota.bandwidth = (filchi_bandwidth){ quota_us, period_us };
    (void)snprintf(facts->quota.file, sizeof(facts->quota.file), "/sys/fs/cgroup/cpu.max");
}

static filch_cpus decide(const filchi_cpu_facts *facts, const filchi_wish *wish)
{
    static const filchi_wish nothing;
    filch_cpus cpus = FILCH_CPUS_INIT;
    filchi_sizing_decide(facts, wish != NULL ? wish : &nothing, &cpus);
    return cpus;
}

static void size__each_source__number_and_reason(void **state)
{
    static const struct {
        unsigned allowed;
        unsigned cores;
        uint64_t quota_us; /* of 100 ms; 0: none */
        unsigned cpu_bound;
        unsigned logical;
        filch_cpus_source source;
        const char *why;
    } cases[] = {
        { 4, 4, 0, 4, 4, FILCH_CPUS_BY_AFFINITY, "4 cores allowed" },
        { 1, 1, 0, 1, 1, FILCH_CPUS_BY_AFFINITY, "1 core allowed" },
        { 4, 0, 0, 4, 4, FILCH_CPUS_BY_AFFINITY, "4 logical CPUs allowed, cores not known" },
        { 16, 8, 0, 8, 16, FILCH_CPUS_BY_CORES, "8 cores with 16 logical CPUs allowed" },
        { 16, 8, 200000, 2, 2, FILCH_CPUS_BY_QUOTA,
          "quota of 2 CPUs by cpu.max; 8 cores with 16 logical CPUs allowed" },
        { 4, 4, 150000, 2, 2, FILCH_CPUS_BY_QUOTA,
          "quota of 1.5 CPUs by cpu.max, rounded up, the last worker part-time (0.45); 4 cores allowed" },
        { 2, 2, 150000, 2, 2, FILCH_CPUS_BY_QUOTA,
          "quota of 1.5 CPUs by cpu.max, rounded up, the last worker part-time (0.45); 2 cores allowed" },
        { 4, 4, 100000, 1, 1, FILCH_CPUS_BY_QUOTA, "quota of 1 CPU by cpu.max; 4 cores allowed" },
        { 4, 4, 50000, 1, 1, FILCH_CPUS_BY_QUOTA,
          "quota of 0.5 CPUs by cpu.max, rounded up; 4 cores allowed; below one CPU throttling "
          "cannot be avoided" },
        { 4, 4, 1, 1, 1, FILCH_CPUS_BY_QUOTA,
          "quota of 0.001 CPUs by cpu.max, rounded up; 4 cores allowed; below one CPU throttling "
          "cannot be avoided" },
        { 16, 8, 1000000, 8, 10, FILCH_CPUS_BY_CORES, "8 cores with 16 logical CPUs allowed" },
        { 4, 4, 400000, 4, 4, FILCH_CPUS_BY_AFFINITY, "4 cores allowed" },
        { 8192, 8192, 0, FILCH_MAX_WORKERS, FILCH_MAX_WORKERS, FILCH_CPUS_BY_AFFINITY,
          "8192 cores allowed" },
    };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(cases); i++) {
        filchi_cpu_facts facts = machine(cases[i].allowed, cases[i].cores);
        if (cases[i].quota_us != 0) {
            set_quota(&facts, cases[i].quota_us, 100000);
        }
        const filch_cpus cpus = decide(&facts, NULL);
        assert_string_equal(cpus.why, cases[i].why);
        assert_int_equal(cpus.cpu_bound, cases[i].cpu_bound);
        assert_int_equal(cpus.logical, cases[i].logical);
        assert_int_equal(cpus.source, cases[i].source);
        assert_string_equal(cpus.ignored, "");
    }
    filchi_cpu_facts unknown = machine(1, 0);
    unknown.source = FILCHI_MASK_UNKNOWN;
    const filch_cpus cpus = decide(&unknown, NULL);
    assert_int_equal(cpus.source, FILCH_CPUS_BY_DEFAULT);
    assert_int_equal(cpus.cpu_bound, 1);
    assert_string_equal(cpus.why, "nothing says how many CPUs there are");
}

static void size__weight__changes_nothing(void **state)
{
    filchi_cpu_facts facts = machine(8, 8);
    (void)state;
    facts.quota.version = 1;
    facts.quota.limit = FILCHI_LIMIT_NONE;
    facts.quota.weight = 2;
    const filch_cpus cpus = decide(&facts, NULL);
    assert_int_equal(cpus.cpu_bound, 8);
    assert_int_equal(cpus.weight, 2);
}

static void override__in_range__beats_everything(void **state)
{
    static const struct {
        const char *text;
        unsigned workers;
    } good[] = { { "1", 1 }, { "12", 12 }, { "0007", 7 }, { "4096", 4096 } };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(good); i++) {
        filchi_cpu_facts facts = machine(16, 8);
        const filchi_wish wish = { good[i].text, NULL, NULL, 0, 0, 0 };
        char why[FILCH_CPUS_TEXT_BYTES];
        set_quota(&facts, 200000, 100000);
        const filch_cpus cpus = decide(&facts, &wish);
        (void)snprintf(why, sizeof(why),
                       "FILCH_WORKERS=%u; without it 2: quota of 2 CPUs by cpu.max; 8 cores with "
                       "16 logical CPUs allowed",
                       good[i].workers);
        assert_string_equal(cpus.why, why);
        assert_int_equal(cpus.cpu_bound, good[i].workers);
        assert_int_equal(cpus.logical, good[i].workers);
        assert_int_equal(cpus.source, FILCH_CPUS_BY_ENVIRONMENT);
        assert_true(cpus.io_bound >= cpus.cpu_bound);
    }
}

static void override__nonsense__ignored_and_said(void **state)
{
    static const char *const bad[] = { "",
                                       "0",
                                       "4097",
                                       "-1",
                                       " 4",
                                       "4 ",
                                       "4\n",
                                       "0x4",
                                       "four",
                                       "4.0",
                                       "1e3",
                                       "+4",
                                       "18446744073709551617",
                                       "99999999999999999999999999" };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(bad); i++) {
        const filchi_cpu_facts facts = machine(4, 4);
        const filchi_wish wish = { bad[i], NULL, NULL, 0, 0, 0 };
        char ignored[FILCH_CPUS_TEXT_BYTES];
        const filch_cpus cpus = decide(&facts, &wish);
        (void)snprintf(ignored, sizeof(ignored), "FILCH_WORKERS=%s is no number from 1 to 4096",
                       bad[i]);
        assert_int_equal(cpus.cpu_bound, 4);
        assert_string_equal(cpus.ignored, ignored);
        assert_string_equal(cpus.why, "4 cores allowed");
    }
}

static const char *fake_value;

static const char *fake_env(const char *name)
{
    return strcmp(name, "CPU_LIMIT") == 0 ? fake_value : strcmp(name, "SLOTS") == 0 ? "3" : NULL;
}

static void limit__in_a_variable__like_a_quota(void **state)
{
    static const struct {
        const char *value;
        unsigned cpu_bound; /* of 8; 0: the value is ignored */
        const char *why;
    } cases[] = {
        { "2", 2, "CPU_LIMIT=2; 8 cores allowed" },
        { "1.5", 2, "CPU_LIMIT=1.5, rounded up; 8 cores allowed" },
        { "1500m", 2, "CPU_LIMIT=1.5, rounded up; 8 cores allowed" },
        { "250m", 1, "CPU_LIMIT=0.25, rounded up; 8 cores allowed" },
        { "2.0001", 3, "CPU_LIMIT=2.001, rounded up; 8 cores allowed" },
        { "2.000", 2, "CPU_LIMIT=2; 8 cores allowed" },
        { "64", 8, "8 cores allowed" },
        { "0", 0, "" },
        { "0.0", 0, "" },
        { "0m", 0, "" },
        { "m", 0, "" },
        { "", 0, "" },
        { "-1", 0, "" },
        { "1.5m", 0, "" },
        { "1.", 0, "" },
        { ".5", 0, "" },
        { "1,5", 0, "" },
        { "2\n", 0, "" },
        { "1.5.1", 0, "" },
        { "4097000", 0, "" },
    };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(cases); i++) {
        const filchi_cpu_facts facts = machine(8, 8);
        const filchi_wish wish = { NULL, "NOT_SET,,CPU_LIMIT", fake_env, 0, 0, 0 };
        char ignored[FILCH_CPUS_TEXT_BYTES];
        fake_value = cases[i].value;
        const filch_cpus cpus = decide(&facts, &wish);
        if (cases[i].cpu_bound != 0) {
            assert_int_equal(cpus.cpu_bound, cases[i].cpu_bound);
            assert_string_equal(cpus.why, cases[i].why);
            assert_string_equal(cpus.ignored, "");
            continue;
        }
        (void)snprintf(ignored, sizeof(ignored), "CPU_LIMIT=%s is no number of CPUs",
                       cases[i].value);
        assert_string_equal(cpus.ignored, ignored);
        assert_int_equal(cpus.cpu_bound, 8);
    }
}

static void limit__several__the_tightest(void **state)
{
    filchi_cpu_facts facts = machine(8, 8);
    filchi_wish wish = { NULL, "SLOTS,CPU_LIMIT", fake_env, 0, 0, 0 };
    (void)state;
    fake_value = "5";
    assert_string_equal(decide(&facts, &wish).why, "SLOTS=3; 8 cores allowed");
    assert_int_equal(decide(&facts, &wish).source, FILCH_CPUS_BY_LIMIT);
    set_quota(&facts, 150000, 100000);
    assert_int_equal(decide(&facts, &wish).source, FILCH_CPUS_BY_QUOTA);
    fake_value = "1";
    assert_string_equal(decide(&facts, &wish).why, "CPU_LIMIT=1; 8 cores allowed");
    wish.env = NULL;
    assert_int_equal(decide(&facts, &wish).source, FILCH_CPUS_BY_QUOTA);
}

static void io__by_times__rounded_up_and_capped(void **state)
{
    static const struct {
        unsigned cores;
        uint64_t wait_ns;
        uint64_t compute_ns;
        unsigned io_limit;
        unsigned io_bound;
    } cases[] = {
        { 4, 0, 0, 0, 8 },
        { 4, 0, 5, 0, 4 },
        { 4, 9000000, 1000000, 0, 40 },
        { 4, 1, 1000000, 0, 5 },
        { 3, 1000000, 2000000, 0, 5 },
        { 4, 99000000, 1000000, 0, 256 },
        { 4, 99000000, 1000000, 1000, 400 },
        { 4, 99000000, 1000000, 16, 16 },
        { 4, 99000000, 1000000, 1, 4 },
        { 4, 5, 0, 0, 256 },
        { 4, UINT64_MAX, 1, 4096, 4096 },
        { 4, 1, UINT64_MAX, 0, 5 },
        { 4, UINT64_MAX, UINT64_MAX, 0, 8 },
        { 4096, UINT64_MAX, UINT64_MAX / 2, 4096, 4096 },
        { 1000, 1, 1, 0, 1000 },
    };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(cases); i++) {
        const filchi_cpu_facts facts = machine(cases[i].cores, cases[i].cores);
        const filchi_wish wish = {
            NULL, NULL, NULL, cases[i].wait_ns, cases[i].compute_ns, cases[i].io_limit,
        };
        assert_int_equal(decide(&facts, &wish).io_bound, cases[i].io_bound);
    }
    const filchi_cpu_facts facts = machine(2, 2);
    const filchi_wish wish = { NULL, NULL, NULL, 9500000, 500000, 0 };
    assert_string_equal(decide(&facts, &wish).why_io,
                        "2 x (1 + 9.500 ms waiting / 0.500 ms computing)");
    assert_string_equal(decide(&facts, NULL).why_io,
                        "2 x 2: taken that tasks wait as long as they compute");
}

static void texts__longest_input__cut_and_terminated(void **state)
{
    static char long_name[200];
    filchi_cpu_facts facts = machine(8000, 4000);
    (void)state;
    memset(long_name, 'N', sizeof(long_name) - 1);
    set_quota(&facts, 150000, 100000);
    memset(facts.quota.file, 'p', sizeof(facts.quota.file) - 1);
    memcpy(facts.quota.file + sizeof(facts.quota.file) - 5, "/end", 5);
    const filchi_wish wish = { long_name, long_name, fake_env, 1, 2, 3 };
    const filch_cpus cpus = decide(&facts, &wish);
    assert_int_equal(strlen(cpus.quota_file), FILCH_CPUS_PATH_BYTES - 1);
    assert_memory_equal(cpus.quota_file, "...pp", 5);
    assert_string_equal(cpus.quota_file + FILCH_CPUS_PATH_BYTES - 5, "/end");
    assert_true(strlen(cpus.ignored) < FILCH_CPUS_TEXT_BYTES && cpus.ignored[0] != '\0');
}

static void read__bad_options__invalid_and_untouched(void **state)
{
    const filch_cpus_options good = FILCH_CPUS_OPTIONS_INIT;
    filch_cpus cpus = FILCH_CPUS_INIT;
    filch_cpus_options bad[9];
    size_t bads = 0;
    (void)state;
    for (size_t i = 0; i < TEST_CASES(good.reserved); i++, bads++) {
        bad[bads] = good;
        bad[bads].reserved[i] = 1;
    }
    bad[bads] = good;
    bad[bads++].size = 0;
    bad[bads] = good;
    bad[bads++].size--;
    bad[bads] = good;
    bad[bads++].flags = 2;
    bad[bads] = good;
    bad[bads++].flags = 0xffffffffu;
    bad[bads] = good;
    bad[bads++].io_limit = FILCH_MAX_WORKERS + 1;
    assert_int_equal(bads, TEST_CASES(bad));
    for (size_t i = 0; i < bads; i++) {
        assert_int_equal(filch_cpus_read(&bad[i], &cpus), FILCH_E_INVALID);
        assert_int_equal(cpus.cpu_bound, 0);
    }
    assert_int_equal(filch_cpus_read(NULL, NULL), FILCH_E_INVALID);
    cpus.size = 8;
    assert_int_equal(filch_cpus_read(NULL, &cpus), FILCH_E_INVALID);
    assert_int_equal(cpus.cpu_bound, 0);
}

/* A pool of that size. */

static void create_io__times_known__of_that_size(void **state)
{
    filch_cpus_options options = FILCH_CPUS_OPTIONS_INIT;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_cpus cpus = FILCH_CPUS_INIT;
    filch_pool *pool = NULL;
    (void)state;
    options.flags = FILCH_CPUS_NO_ENVIRONMENT;
    options.wait_ns = 2000000;
    options.compute_ns = 1000000;
    options.io_limit = 12;
    assert_int_equal(filch_cpus_read(&options, &cpus), FILCH_OK);
    assert_int_equal(filch_pool_create_io(&options, NULL, &pool), FILCH_OK);
    assert_int_equal(filch_pool_workers(pool), cpus.io_bound);
    assert_int_equal(filch_pool_destroy(pool), FILCH_OK);
    config.max_workers = cpus.io_bound + 1;
    assert_int_equal(filch_pool_create_io(&options, &config, &pool), FILCH_OK);
    assert_int_equal(filch_pool_workers(pool), cpus.io_bound);
    assert_int_equal(filch_pool_max_workers(pool), cpus.io_bound + 1);
    assert_int_equal(filch_pool_destroy(pool), FILCH_OK);
}

static void create_io__bad_arguments__invalid(void **state)
{
    filch_cpus_options options = FILCH_CPUS_OPTIONS_INIT;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_pool *const none = (filch_pool *)&config; /* untouched */
    filch_pool *pool = none;
    (void)state;
    assert_int_equal(filch_pool_create_io(NULL, NULL, NULL), FILCH_E_INVALID);
    config.workers = 2;
    assert_int_equal(filch_pool_create_io(NULL, &config, &pool), FILCH_E_INVALID);
    config.workers = 0;
    config.size--;
    assert_int_equal(filch_pool_create_io(NULL, &config, &pool), FILCH_E_INVALID);
    options.flags = 2;
    assert_int_equal(filch_pool_create_io(&options, NULL, &pool), FILCH_E_INVALID);
    assert_int_equal(filch_priv_pool_create_io(NULL, NULL, &pool, FILCH_INLINE_ABI + 1),
                     FILCH_E_ABI);
    assert_ptr_equal(pool, none);
}

/* Measuring: CPU time and waiting, by what the kernel promises about them. */

static void compute_2_ms(void *arg)
{
    (void)arg;
    const uint64_t end = test_cpu_ns() + 2000000;
    while (test_cpu_ns() < end) {}
}

static void wait_5_ms(void *arg)
{
    (void)arg;
    const struct timespec time = { 0, 5000000 };
    (void)nanosleep(&time, NULL); /* what is measured: not a synchronisation */
}

static void sample__two_tasks__told_apart(void **state)
{
    uint64_t wait_ns = 1;
    uint64_t compute_ns = 0;
    (void)state;
    assert_int_equal(filch_cpus_sample(compute_2_ms, NULL, &wait_ns, &compute_ns), FILCH_OK);
    assert_true(compute_ns >= 1000000);
    assert_int_equal(filch_cpus_sample(wait_5_ms, NULL, &wait_ns, &compute_ns), FILCH_OK);
    assert_true(wait_ns >= 2000000 && wait_ns > compute_ns && compute_ns != 0);
    assert_int_equal(filch_cpus_sample(NULL, NULL, &wait_ns, &compute_ns), FILCH_E_INVALID);
    assert_int_equal(filch_cpus_sample(wait_5_ms, NULL, NULL, &compute_ns), FILCH_E_INVALID);
    assert_int_equal(filch_cpus_sample(wait_5_ms, NULL, &wait_ns, NULL), FILCH_E_INVALID);
}

/* Pools: the number is the default's only. In children, for their own environment. */

static unsigned workers_of(unsigned workers, unsigned flags, const char *limit_names)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_pool *pool = NULL;
    config.workers = workers;
    config.flags = flags;
    config.limit_names = limit_names;
    TEST_CHILD_CHECK(filch_pool_create(&config, &pool) == FILCH_OK);
    const unsigned found = filch_pool_workers(pool);
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
    return found;
}

static void pools_with_a_variable(void *arg)
{
    const unsigned plain = workers_of(0, 0, NULL);
    (void)arg;
    TEST_CHILD_CHECK(plain == test_default_workers());
    TEST_CHILD_CHECK(setenv("FILCH_WORKERS", "5", 1) == 0);
    TEST_CHILD_CHECK(workers_of(0, 0, NULL) == 5);
    TEST_CHILD_CHECK(workers_of(0, FILCH_POOL_LOGICAL, NULL) == 5);
    TEST_CHILD_CHECK(workers_of(3, 0, NULL) == 3);
    TEST_CHILD_CHECK(workers_of(0, FILCH_POOL_NO_ENVIRONMENT, NULL) == plain);
    TEST_CHILD_CHECK(test_default_workers() == 5);
    TEST_CHILD_CHECK(filch_pool_workers(filch_default_pool()) == 5);
    TEST_CHILD_CHECK(setenv("FILCH_WORKERS", "many", 1) == 0);
    TEST_CHILD_CHECK(workers_of(0, 0, NULL) == plain);
    TEST_CHILD_CHECK(unsetenv("FILCH_WORKERS") == 0);
    TEST_CHILD_CHECK(setenv("MY_LIMIT", "1", 1) == 0);
    TEST_CHILD_CHECK(workers_of(0, 0, "MY_LIMIT") == 1);
    TEST_CHILD_CHECK(workers_of(2, 0, "MY_LIMIT") == 2);
    TEST_CHILD_CHECK(workers_of(0, FILCH_POOL_NO_ENVIRONMENT, "MY_LIMIT") == plain);
    TEST_CHILD_CHECK(workers_of(0, FILCH_POOL_LOGICAL, NULL) >= plain);
}

static void pool__environment__sets_the_default_only(void **state)
{
    (void)state;
    test_assert_child_ok(pools_with_a_variable, NULL);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(size__each_source__number_and_reason),
        cmocka_unit_test(size__weight__changes_nothing),
        cmocka_unit_test(override__in_range__beats_everything),
        cmocka_unit_test(override__nonsense__ignored_and_said),
        cmocka_unit_test(limit__in_a_variable__like_a_quota),
        cmocka_unit_test(limit__several__the_tightest),
        cmocka_unit_test(io__by_times__rounded_up_and_capped),
        cmocka_unit_test(texts__longest_input__cut_and_terminated),
        cmocka_unit_test(create_io__times_known__of_that_size),
        cmocka_unit_test(create_io__bad_arguments__invalid),
        cmocka_unit_test(read__bad_options__invalid_and_untouched),
        cmocka_unit_test(sample__two_tasks__told_apart),
        cmocka_unit_test(pool__environment__sets_the_default_only),
    };
    test_begin(60);
    (void)unsetenv("FILCH_WORKERS");
    return cmocka_run_group_tests(cases, NULL, NULL);
}
