/* SPDX-License-Identifier: MIT */
/* Quotas of a real cgroup that change while a pool is loaded: a pool that follows is throttled far
 * less than one that does not, and no task is lost. In a child each, as root; exit code 77 with a
 * reason where no group can be made. */
#include "support/pool.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/support/group.h"
#include "support/child.h"

enum {
    ONE_CPU = GROUP_PERIOD_US,
    TWO_CPUS = 2 * GROUP_PERIOD_US,
    TASK_NS = 1000000, /* of CPU time */
    QUEUE = 4096,
    PART = 5 /* who follows is throttled for at most this part of the time of who does not */
};

static group inside;

static uint64_t thread_cpu_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The same CPU time wherever it runs, so that all pools get the same load. */
static void burn(filch_cx *cx, void *data)
{
    const uint64_t end = thread_cpu_ns() + TASK_NS;
    while (thread_cpu_ns() < end) {}
    atomic_fetch_add_explicit(*(atomic_uint **)data, 1, memory_order_relaxed);
    (void)cx;
}

static filch_pool *make_pool(unsigned flags)
{
    filch_pool *pool = NULL;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.flags = FILCH_POOL_NO_ENVIRONMENT | flags;
    config.queue_tasks = QUEUE;
    TEST_CHILD_CHECK(filch_pool_create(&config, &pool) == FILCH_OK);
    return pool;
}

static filch_stats throttling(const filch_pool *pool)
{
    filch_stats stats = FILCH_STATS_INIT;
    stats.flags = FILCH_STATS_THROTTLING;
    TEST_CHILD_CHECK(filch_stats_read(pool, &stats) == FILCH_OK && stats.has_throttling == 1);
    return stats;
}

static void post_burns(filch_pool *pool, unsigned count, atomic_uint *ran)
{
    for (unsigned i = 0; i < count; i++) {
        TEST_CHILD_CHECK(filch_post(pool, burn, &ran, sizeof(ran), NULL) == FILCH_OK);
    }
}

typedef struct squeeze {
    unsigned flags;
    unsigned load;         /* tasks */
    uint64_t throttled_us; /* out: while these ran */
    uint64_t throttled;    /* periods */
    uint64_t periods;
} squeeze;

enum { DEFAULT, OTHER };

/* Two workers and a quota of two; the quota becomes one; then, when the pool has had its time to
 * follow, the load. */
static void run_squeezed(void *arg)
{
    squeeze *s = arg;
    atomic_uint ran = 0;
    unsigned posted = 0;
    TEST_CHILD_CHECK(group_set_quota(&inside, TWO_CPUS) && group_enter(&inside));
    filch_pool *pool = make_pool(s->flags);
    TEST_CHILD_CHECK(filch_pool_workers(pool) == 2);
    TEST_CHILD_CHECK(group_set_quota(&inside, ONE_CPU));
    const unsigned expected = (s->flags & FILCH_POOL_FIXED) != 0 ? 2 : 1;
    while (filch_pool_workers(pool) != expected) {
        post_burns(pool, 2, &ran);
        posted += 2;
        TEST_CHILD_CHECK(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_OK);
    }
    const filch_stats before = throttling(pool);
    post_burns(pool, s->load, &ran);
    TEST_CHILD_CHECK(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_OK);
    const filch_stats after = throttling(pool);
    TEST_CHILD_CHECK(atomic_load(&ran) == posted + s->load);
    TEST_CHILD_CHECK(filch_pool_workers(pool) == expected);
    s->throttled_us = after.throttled_us - before.throttled_us;
    s->throttled = after.throttled - before.throttled;
    s->periods = after.periods - before.periods;
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
}

/* Tasks for a second of one CPU, never fewer: until a pool has followed, both are stopped alike. */
enum { SECOND = 1000000000 / TASK_NS };

/* `body` in a child of its own for the default pool and for one with `flags`. False, said: there are no
 * two cores. */
static bool compare(void (*body)(void *), unsigned flags, unsigned load, squeeze out[2])
{
    if (test_default_workers() < 2) {
        print_message("not judged: there are no two cores to be stopped on\n");
        return false;
    }
    squeeze *pools =
        mmap(NULL, 2 * sizeof(*pools), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(pools != MAP_FAILED);
    pools[OTHER].flags = flags;
    for (int i = DEFAULT; i <= OTHER; i++) {
        pools[i].load = load;
        test_assert_child_ok(body, &pools[i]);
        print_message("%s: throttled for %.1f ms, in %u of %u periods\n",
                      i == DEFAULT ? "default" : "the other", (double)pools[i].throttled_us / 1e3,
                      (unsigned)pools[i].throttled, (unsigned)pools[i].periods);
        out[i] = pools[i];
    }
    (void)munmap(pools, 2 * sizeof(*pools));
    return true;
}

static void quota__two_to_one_under_load__who_follows_is_hardly_throttled(void **state)
{
    squeeze pools[2];
    (void)state;
    if (!compare(run_squeezed, FILCH_POOL_FIXED, SECOND, pools)) {
        return;
    }
    /* two workers want twice the quota: each period they are stopped for about half of it */
    const uint64_t least_us = (uint64_t)pools[OTHER].load * (TASK_NS / 1000) / 4;
    if (pools[OTHER].throttled_us < least_us) {
        print_message("not judged: two workers did not get two CPUs to be stopped on\n");
        return;
    }
    assert_true(pools[DEFAULT].throttled_us * PART <= pools[OTHER].throttled_us);
}

/* Always more tasks than workers under a quota of one and a half. */
static void run_one_and_a_half(void *arg)
{
    squeeze *s = arg;
    atomic_uint ran = 0;
    TEST_CHILD_CHECK(group_set_quota(&inside, ONE_CPU + ONE_CPU / 2) && group_enter(&inside));
    filch_pool *pool = make_pool(s->flags);
    TEST_CHILD_CHECK(filch_pool_workers(pool) == 2);
    const filch_stats before = throttling(pool);
    post_burns(pool, s->load, &ran);
    TEST_CHILD_CHECK(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_OK);
    const filch_stats after = throttling(pool);
    TEST_CHILD_CHECK(atomic_load(&ran) == s->load);
    TEST_CHILD_CHECK(s->flags == 0 || after.total.paces == 0);
    s->throttled_us = after.throttled_us - before.throttled_us;
    s->throttled = after.throttled - before.throttled;
    s->periods = after.periods - before.periods;
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
}

static void quota__one_and_a_half_under_load__who_paces_is_hardly_throttled(void **state)
{
    enum { LEAST_PERIODS = 5 };
    squeeze pools[2];
    (void)state;
    if (!compare(run_one_and_a_half, FILCH_POOL_NO_PACE, SECOND + SECOND / 2, pools)) {
        return;
    }
    if (pools[OTHER].throttled < LEAST_PERIODS) {
        print_message("not judged: two workers did not get two CPUs to be stopped on\n");
        return;
    }
    assert_true(pools[DEFAULT].throttled * PART <= pools[OTHER].throttled);
    assert_true(pools[DEFAULT].throttled_us * PART <= pools[OTHER].throttled_us);
}

/* Tasks that post, and joins; the books of a run. */
typedef struct books {
    atomic_uint ran;
    atomic_uint posted; /* by tasks */
} books;

static void mixed_task(filch_cx *cx, void *data)
{
    books *b = *(books **)data;
    const unsigned number = atomic_fetch_add(&b->ran, 1);
    if (number % 4 == 0 && filch_post(filch_cx_pool(cx), test_count_task, &b->ran, 0, NULL) == 0) {
        atomic_fetch_add(&b->posted, 1);
    }
    TEST_CHILD_CHECK(test_fork_tree(cx, 10) == 55);
}

static const uint64_t quotas[] = { 50000, 80000, 100000, 130000, 150000, 200000, 0 };

static unsigned workers_under(uint64_t quota_us, unsigned most)
{
    const unsigned wanted = quota_us != 0 ? (unsigned)((quota_us + ONE_CPU - 1) / ONE_CPU) : most;
    return wanted < most ? wanted : most;
}

/* Most changes come faster than the pool looks; each fourth is to one or to two CPUs, and it is given
 * the time to follow. */
static void change_quotas(void *arg)
{
    const unsigned changes = *(unsigned *)arg;
    const unsigned most = test_default_workers();
    test_rng rng = test_rng_make(1);
    books b = { 0, 0 };
    books *shared = &b;
    unsigned posted = 0;
    TEST_CHILD_CHECK(group_set_quota(&inside, 0) && group_enter(&inside));
    filch_pool *pool = make_pool(0);
    for (unsigned i = 0; i < changes; i++) {
        const bool waits = i % 4 == 3;
        const uint64_t quota = waits ? (i % 8 == 3 ? ONE_CPU : TWO_CPUS)
                                     : quotas[test_rng_below(&rng, TEST_CASES(quotas))];
        const unsigned wanted = workers_under(quota, most);
        const unsigned end = posted + 1 + (unsigned)test_rng_below(&rng, 2000);
        TEST_CHILD_CHECK(group_set_quota(&inside, quota));
        while (posted < end || (waits && filch_pool_workers(pool) != wanted)) {
            TEST_CHILD_CHECK(filch_post(pool, mixed_task, &shared, sizeof(shared), NULL) == 0);
            posted++;
        }
    }
    TEST_CHILD_CHECK(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_OK);
    filch_stats stats = FILCH_STATS_INIT;
    TEST_CHILD_CHECK(filch_stats_read(pool, &stats) == FILCH_OK);
    fprintf(stderr, "%u changes, %u resizes, %u tasks\n", changes, (unsigned)stats.resizes,
            (unsigned)stats.accepted);
    TEST_CHILD_CHECK(atomic_load(&b.ran) == posted + atomic_load(&b.posted));
    TEST_CHILD_CHECK(stats.accepted == atomic_load(&b.ran));
    TEST_CHILD_CHECK(stats.total.tasks_run == stats.accepted && stats.pending == 0);
    TEST_CHILD_CHECK(most < 2 || stats.resizes + 1 >= changes / 4);
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
}

static void quota__changed_at_random_under_load__no_task_lost(void **state)
{
    char text[1024];
    unsigned changes = (unsigned)test_count(100, 40);
    (void)state;
    const int status = test_child_run(change_quotas, &changes, text, sizeof(text));
    print_message("%s", text);
    assert_int_equal(status, 0);
}

static int drop_group(void **state)
{
    (void)state;
    return group_remove(&inside) ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(quota__two_to_one_under_load__who_follows_is_hardly_throttled),
        cmocka_unit_test(quota__one_and_a_half_under_load__who_paces_is_hardly_throttled),
        cmocka_unit_test(quota__changed_at_random_under_load__no_task_lost),
    };
    test_begin(100);
    (void)unsetenv("FILCH_WORKERS");
    if (getuid() != 0 || !group_make("filch-load", &inside)) {
        fprintf(stderr, "skipped: no cgroup with a cpu controller can be made here (%s)\n",
                getuid() != 0 ? "not root" : strerror(errno));
        return 77;
    }
    return cmocka_run_group_tests(cases, NULL, drop_group);
}
