/* SPDX-License-Identifier: MIT */
/* Binding workers to CPUs: the order on machines of the fake trees, against lists written by hand; and
 * on this machine that each worker has the mask it should have, nobody else's changes, and what is
 * refused or no longer there is no failure. */
#include "support/pool.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "core/bind.h"
#include "core/pool.h"
#include "support/alloc.h"
#include "support/child.h"
#include "support/proc.h"
#include "support/seccomp.h"
#include "support/tree.h"
#include "support/tree_files.h"

enum { MOST = 128, WORKERS = 5 };

static const unsigned ways[] = { FILCH_POOL_COMPACT, FILCH_POOL_SPREAD };

/* The first CPUs in order, as text. */
static void order_of(const char *tree_name, const char *allowed, bool spread, char out[256])
{
    char path[512];
    filchi_cpu_spot spots[MOST];
    filchi_cpu_set mask;
    (void)snprintf(path, sizeof(path), FILCH_TEST_DATA "/cpus/%s.tree", tree_name);
    test_tree *tree = test_tree_load(path);
    test_tree_reads reads = { tree, 0, 0 };
    const filchi_files files = { test_tree_stream, NULL, &reads };
    assert_true(filchi_cpu_set_parse((filchi_text){ allowed, strlen(allowed) }, &mask));
    const size_t count = filchi_topology_spots(&files, &mask, spots, MOST);
    assert_int_equal(count, filchi_cpu_set_count(&mask));
    filchi_bind_order(spots, count, spread);
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count && i < 12; i++) {
        used += (size_t)snprintf(out + used, 256 - used, "%s%u", i == 0 ? "" : " ", spots[i].cpu);
    }
    test_tree_free(tree);
}

static void order__of_known_machines__as_written_down(void **state)
{
    static const struct {
        const char *tree;
        const char *allowed;
        const char *compact;
        const char *spread;
    } cases[] = {
        /* two cores with two threads each: siblings come last */
        { "topo-two-cores-four", "0-3", "0 1 2 3", "0 1 2 3" },
        { "topo-two-cores-four", "0,2-3", "0 3 2", "0 3 2" },
        { "topo-siblings-adjacent", "0-3", "0 2 1 3", "0 2 1 3" },
        /* even CPUs on one socket, odd ones on the other, siblings 40 apart */
        { "topo-two-sockets-interleaved", "0-7", "0 2 4 6 1 3 5 7", "0 1 2 3 4 5 6 7" },
        { "topo-two-sockets-interleaved", "0-3,40-43", "0 2 1 3 40 42 41 43",
          "0 1 2 3 40 41 42 43" },
        /* two packages, eight caches of three cores in each */
        { "topo-epyc-7451", "0-95", "0 1 2 3 4 5 6 7 8 9 10 11",
          "0 24 3 27 6 30 9 33 12 36 15 39" },
        { "topo-epyc-7451", "0,3-5,27,28,51", "0 3 4 5 27 28 51", "0 27 3 28 4 5 51" },
        /* pairs of cores share an L2, two pairs in each package */
        { "topo-cache-l2-only", "0-7", "0 4 2 6 1 5 3 7", "0 1 2 3 4 5 6 7" },
        /* nothing is said of the last two: cores of their own */
        { "topo-some-hidden", "0-5", "0 2 4 5 1 3", "0 2 4 5 1 3" },
        /* nothing is said of any: in order */
        { "nothing", "5,7,9", "5 7 9", "5 7 9" },
    };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(cases); i++) {
        char found[256];
        order_of(cases[i].tree, cases[i].allowed, false, found);
        assert_string_equal(found, cases[i].compact);
        order_of(cases[i].tree, cases[i].allowed, true, found);
        assert_string_equal(found, cases[i].spread);
    }
}

/* What each worker sees of itself. */
typedef struct masks {
    test_roll_call roll;
    cpu_set_t of[WORKERS];
} masks;

static void read_mask(filch_cx *cx, void *data)
{
    masks *m = *(masks **)data;
    TEST_CHECK(sched_getaffinity(0, sizeof(m->of[0]), &m->of[filch_cx_worker(cx)]) == 0);
    test_roll_call *roll = &m->roll;
    test_answer_roll(cx, roll);
}

static filch_pool_config bound(unsigned workers, unsigned flags)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = workers;
    config.flags = flags | FILCH_POOL_NO_ENVIRONMENT;
    return config;
}

/* In a child: all WORKERS of a pool tell their masks, which are one CPU each of the caller's, in the
 * order. */
static void expect_masks(filch_pool *pool, bool spread)
{
    masks m;
    masks *shared = &m;
    filchi_cpu_spot spots[CPU_SETSIZE];
    filch_stats stats = FILCH_STATS_INIT;
    memset(&m, 0, sizeof(m));
    m.roll.expected = WORKERS;
    const size_t count = filchi_cpus_spots(spots, CPU_SETSIZE);
    filchi_bind_order(spots, count, spread);
    for (int i = 0; i < WORKERS; i++) {
        TEST_CHILD_CHECK(filch_post(pool, read_mask, &shared, sizeof(shared), NULL) == FILCH_OK);
    }
    TEST_CHILD_CHECK(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_OK);
    TEST_CHILD_CHECK(filch_stats_read(pool, &stats) == FILCH_OK && stats.bound == WORKERS);
    for (size_t i = 0; i < WORKERS; i++) {
        TEST_CHILD_CHECK(CPU_COUNT(&m.of[i]) == 1 && CPU_ISSET(spots[i % count].cpu, &m.of[i]));
    }
}

static void expect_bound(unsigned flags)
{
    cpu_set_t before;
    cpu_set_t after;
    filch_pool *pool = NULL;
    TEST_CHILD_CHECK(sched_getaffinity(0, sizeof(before), &before) == 0);
    const filch_pool_config config = bound(WORKERS, flags | FILCH_POOL_STRICT);
    TEST_CHILD_CHECK(filch_pool_create(&config, &pool) == FILCH_OK);
    expect_masks(pool, flags == FILCH_POOL_SPREAD);
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
    TEST_CHILD_CHECK(sched_getaffinity(0, sizeof(after), &after) == 0);
    TEST_CHILD_CHECK(CPU_EQUAL(&before, &after));
}

static void bind_here(void *arg)
{
    expect_bound(*(unsigned *)arg);
}

/* The last CPU that is allowed, and no other. */
static cpu_set_t last_cpu(void)
{
    cpu_set_t mask;
    int last = CPU_SETSIZE - 1;
    TEST_CHILD_CHECK(sched_getaffinity(0, sizeof(mask), &mask) == 0);
    while (!CPU_ISSET((size_t)last, &mask)) {
        last--;
    }
    CPU_ZERO(&mask);
    CPU_SET((size_t)last, &mask);
    return mask;
}

/* All workers on it. */
static void bind_to_the_last(void *arg)
{
    const cpu_set_t mask = last_cpu();
    TEST_CHILD_CHECK(sched_setaffinity(0, sizeof(mask), &mask) == 0);
    expect_bound(*(unsigned *)arg);
}

static void bind__on_this_machine__a_cpu_each_and_the_caller_as_before(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_CASES(ways); i++) {
        unsigned flags = ways[i];
        test_assert_child_ok(bind_here, &flags);
        test_assert_child_ok(bind_to_the_last, &flags);
    }
}

/* A worker that is started later, by a thread that is bound itself. */
static void grow(filch_cx *cx, void *arg)
{
    TEST_CHECK(filch_pool_resize(filch_cx_pool(cx), WORKERS) == FILCH_OK);
    (void)arg;
}

static void bind__grown_from_a_worker__the_new_ones_too(void **state)
{
    filch_pool_config config = bound(1, FILCH_POOL_COMPACT);
    (void)state;
    config.max_workers = WORKERS;
    filch_pool *pool = test_pool_make_as(&config);
    assert_int_equal(test_pool_stats(pool).bound, 1);
    test_pool_run(pool, grow, NULL);
    assert_int_equal(test_pool_stats(pool).bound, WORKERS);
    test_pool_close(pool);
}

/* Its workers see one CPU each; a pool that followed would shrink to one. */
static void bind__default_size__kept(void **state)
{
    const filch_pool_config config = bound(0, FILCH_POOL_SPREAD);
    filch_pool *pool = test_pool_make_as(&config);
    atomic_uint ran = 0;
    const filch_time end = filch_time_after_ms(400);
    (void)state;
    assert_int_equal(filch_pool_workers(pool), test_default_workers());
    assert_int_equal(filch_pool_max_workers(pool), test_default_workers());
    while (filch_time_now() < end) {
        assert_int_equal(filch_post(pool, test_count_task, &ran, 0, NULL), FILCH_OK);
    }
    assert_int_equal(filch_pool_workers(pool), test_default_workers());
    test_pool_close(pool);
}

static void bind__both_ways__invalid(void **state)
{
    const filch_pool_config config = bound(1, FILCH_POOL_COMPACT | FILCH_POOL_SPREAD);
    filch_pool *pool = NULL;
    (void)state;
    assert_int_equal(filch_pool_create(&config, &pool), FILCH_E_INVALID);
    assert_null(pool);
}

/* Denied as a sandbox does: works unbound, says so, and fails only if strict. */
static void bind_denied(void *arg)
{
    const int error = *(int *)arg;
    filch_pool *pool = NULL;
    filch_stats stats = FILCH_STATS_INIT;
    uintptr_t value = 0;
    filch_pool_config config = bound(WORKERS, FILCH_POOL_COMPACT);
    TEST_CHILD_CHECK(test_deny(SYS_sched_setaffinity, error));
    errno = 4711;
    TEST_CHILD_CHECK(filch_pool_create(&config, &pool) == FILCH_OK && errno == 4711);
    TEST_CHILD_CHECK(filch_stats_read(pool, &stats) == FILCH_OK);
    TEST_CHILD_CHECK(stats.bound == 0 && stats.workers == WORKERS);
    TEST_CHILD_CHECK(filch_run_word(pool, test_fork_tree, 15, &value) == FILCH_OK && value == 610);
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
    config.flags |= FILCH_POOL_STRICT;
    pool = NULL;
    TEST_CHILD_CHECK(filch_pool_create(&config, &pool) == FILCH_E_SYSTEM && pool == NULL);
}

static void bind__denied__unbound_and_said(void **state)
{
    static const int errors[] = { EPERM, ENOSYS, EINVAL };
    (void)state;
    if (!test_deny_works()) {
        print_message("not judged: no seccomp filter can be had here\n");
        return;
    }
    for (size_t i = 0; i < TEST_CASES(errors); i++) {
        int error = errors[i];
        test_assert_child_ok(bind_denied, &error);
    }
}

/* Every thread of the process gets the mask, as from a cpuset that is rewritten. */
static void set_all_masks(const cpu_set_t *mask)
{
    test_proc_thread threads[64];
    const size_t count = test_proc_threads(threads, TEST_CASES(threads));
    TEST_CHILD_CHECK(count <= TEST_CASES(threads));
    for (size_t i = 0; i < count; i++) {
        (void)sched_setaffinity((pid_t)threads[i].tid, sizeof(*mask), mask);
    }
}

/* Again and again to one CPU and back, under load: no task is lost, and a pool that follows is as
 * large as the last mask says. */
static void masks_change(void *arg)
{
    const unsigned flags = *(unsigned *)arg;
    const filch_pool_config config = bound(0, flags);
    cpu_set_t all;
    cpu_set_t one;
    filch_pool *pool = NULL;
    atomic_uint ran = 0;
    unsigned posted = 0;
    TEST_CHILD_CHECK(sched_getaffinity(0, sizeof(all), &all) == 0);
    CPU_ZERO(&one);
    for (size_t cpu = 0; CPU_COUNT(&one) == 0; cpu++) {
        if (CPU_ISSET(cpu, &all)) {
            CPU_SET(cpu, &one);
        }
    }
    TEST_CHILD_CHECK(filch_pool_create(&config, &pool) == FILCH_OK);
    for (unsigned i = 0; i < 21 || (flags == 0 && filch_pool_workers(pool) != 1); i++) {
        set_all_masks(i % 2 == 0 || i >= 20 ? &one : &all);
        if (i % 3 != 0) {
            TEST_CHILD_CHECK(filch_pool_rebind(pool, NULL) ==
                             (flags != 0 ? FILCH_OK : FILCH_E_INVALID));
        }
        for (unsigned k = 0; k < 500; k++, posted++) {
            TEST_CHILD_CHECK(filch_post(pool, test_count_task, &ran, 0, NULL) == FILCH_OK);
        }
    }
    TEST_CHILD_CHECK(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_OK);
    TEST_CHILD_CHECK(atomic_load(&ran) == posted);
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
}

static void masks__changed_from_outside__works_on(void **state)
{
    static const unsigned flags[] = { 0, FILCH_POOL_COMPACT, FILCH_POOL_SPREAD };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(flags); i++) {
        unsigned value = flags[i];
        test_assert_child_ok(masks_change, &value);
    }
}

/* The masks of all threads are widened, as from a cpuset that grows; then only the last CPU is left, and
 * the others are gone; then all are back. Each time the workers are bound anew. */
static void masks_change_and_bind(void *arg)
{
    const bool spread = *(unsigned *)arg == FILCH_POOL_SPREAD;
    const filch_pool_config config = bound(WORKERS, *(unsigned *)arg | FILCH_POOL_STRICT);
    const cpu_set_t last = last_cpu();
    cpu_set_t all;
    filch_pool *pool = NULL;
    unsigned strayed = 99;
    TEST_CHILD_CHECK(sched_getaffinity(0, sizeof(all), &all) == 0);
    const unsigned moved = CPU_COUNT(&all) > 1 ? WORKERS : 0;
    TEST_CHILD_CHECK(filch_pool_create(&config, &pool) == FILCH_OK);
    TEST_CHILD_CHECK(filch_pool_rebind(pool, &strayed) == FILCH_OK && strayed == 0);
    set_all_masks(&all);
    TEST_CHILD_CHECK(filch_pool_rebind(pool, &strayed) == FILCH_OK && strayed == moved);
    expect_masks(pool, spread);
    set_all_masks(&last);
    TEST_CHILD_CHECK(filch_pool_rebind(pool, &strayed) == FILCH_OK && strayed <= moved);
    TEST_CHILD_CHECK((strayed != 0) == (moved != 0));
    expect_masks(pool, spread);
    set_all_masks(&all);
    TEST_CHILD_CHECK(filch_pool_rebind(pool, &strayed) == FILCH_OK && strayed == moved);
    expect_masks(pool, spread);
    TEST_CHILD_CHECK(filch_pool_rebind(pool, &strayed) == FILCH_OK && strayed == 0);
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
}

static void rebind__masks_changed_from_outside__a_cpu_each_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_CASES(ways); i++) {
        unsigned flags = ways[i];
        test_assert_child_ok(masks_change_and_bind, &flags);
    }
}

/* Who is started after it gets the new CPUs too. */
static void grow_after_rebind(void *arg)
{
    filch_pool_config config = bound(1, *(unsigned *)arg);
    const cpu_set_t last = last_cpu();
    filch_pool *pool = NULL;
    config.max_workers = WORKERS;
    TEST_CHILD_CHECK(filch_pool_create(&config, &pool) == FILCH_OK);
    TEST_CHILD_CHECK(sched_setaffinity(0, sizeof(last), &last) == 0);
    TEST_CHILD_CHECK(filch_pool_rebind(pool, NULL) == FILCH_OK);
    TEST_CHILD_CHECK(filch_pool_resize(pool, WORKERS) == FILCH_OK);
    expect_masks(pool, false);
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
}

static void rebind__then_grown__the_new_ones_too(void **state)
{
    unsigned flags = FILCH_POOL_COMPACT;
    (void)state;
    test_assert_child_ok(grow_after_rebind, &flags);
}

static void rebind_here(filch_cx *cx, void *out_status)
{
    *(filch_status *)out_status = filch_pool_rebind(filch_cx_pool(cx), NULL);
}

static void rebind_forked(void *pool)
{
    TEST_CHILD_CHECK(filch_pool_rebind(pool, NULL) == FILCH_E_FORKED);
}

static void rebind__not_now_or_not_this__refused_and_untouched(void **state)
{
    filch_pool_config config = bound(2, FILCH_POOL_COMPACT);
    filch_status status = FILCH_OK;
    unsigned strayed = 47;
    test_allocator memory;
    (void)state;
    assert_int_equal(filch_pool_rebind(NULL, &strayed), FILCH_E_INVALID);
    filch_pool *pool = test_pool_make(2);
    assert_int_equal(filch_pool_rebind(pool, &strayed), FILCH_E_INVALID);
    test_pool_close(pool);
    test_allocator_init(&memory);
    config.allocator = &memory.hooks;
    pool = test_pool_make_as(&config);
    test_pool_run(pool, rebind_here, &status);
    assert_int_equal(status, FILCH_E_ON_WORKER);
    test_assert_child_ok(rebind_forked, pool);
    test_allocator_fail(&memory, 1, false);
    assert_int_equal(filch_pool_rebind(pool, &strayed), FILCH_E_NOMEM);
    assert_int_equal(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, NULL), FILCH_OK);
    assert_int_equal(filch_pool_rebind(pool, &strayed), FILCH_E_CLOSED);
    assert_int_equal(strayed, 47);
    test_pool_close(pool);
    test_allocator_assert_balanced(&memory);
}

/* Denied later than at the creation: the masks stay, and the numbers say so. */
static void rebind_denied(void *arg)
{
    filch_pool_config config = bound(WORKERS, FILCH_POOL_COMPACT | *(unsigned *)arg);
    filch_pool *pool = NULL;
    filch_stats stats = FILCH_STATS_INIT;
    unsigned strayed = 47;
    TEST_CHILD_CHECK(filch_pool_create(&config, &pool) == FILCH_OK);
    TEST_CHILD_CHECK(test_deny(SYS_sched_setaffinity, EPERM));
    errno = 4711;
    const filch_status status = filch_pool_rebind(pool, &strayed);
    TEST_CHILD_CHECK(errno == 4711);
    if (*(unsigned *)arg != 0) {
        TEST_CHILD_CHECK(status == FILCH_E_SYSTEM && strayed == 47);
    } else {
        TEST_CHILD_CHECK(status == FILCH_OK && strayed == 0);
    }
    TEST_CHILD_CHECK(filch_stats_read(pool, &stats) == FILCH_OK && stats.bound == 0);
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
}

static void rebind__denied__said(void **state)
{
    static const unsigned flags[] = { 0, FILCH_POOL_STRICT };
    (void)state;
    for (size_t i = 0; test_deny_works() && i < TEST_CASES(flags); i++) {
        unsigned value = flags[i];
        test_assert_child_ok(rebind_denied, &value);
    }
}

/* Two packages with two caches of two cores with two threads: CPU = 8 package + 4 cache + 2 core + thread. */
static void make_spots(filchi_cpu_spot spots[16])
{
    for (unsigned cpu = 0; cpu < 16; cpu++) {
        spots[cpu] = (filchi_cpu_spot){
            .cpu = cpu, .core = cpu & ~1u, .cache = cpu & ~3u, .package = cpu & ~7u
        };
    }
}

static uint32_t seat_of(const filchi_near *seats, uint32_t worker)
{
    uint32_t seat = 0;
    while (seats[seat].worker != worker) {
        seat++;
    }
    return seat;
}

/* Of 64 tries 48 go to the core, 12 to the cache, 3 to the package and 1 to anyone; on each level to all
 * others that are there. */
static void victims__of_bound_workers__near_ones_first_and_all_reached(void **state)
{
    enum { WORKERS_BOUND = 16, TRIES = 64000 };
    filchi_cpu_spot spots[16];
    filchi_near seats[WORKERS_BOUND];
    (void)state;
    make_spots(spots);
    for (unsigned spread = 0; spread < 2; spread++) {
        filchi_bind_order(spots, 16, spread == 1);
        filchi_bind_nears(spots, 16, seats, WORKERS_BOUND);
        for (uint32_t self = 0; self < WORKERS_BOUND; self++) {
            unsigned hits[WORKERS_BOUND] = { 0 };
            unsigned anyone = 0;
            filchi_rng rng;
            filchi_rng_seed(&rng, self + 1);
            for (unsigned i = 0; i < TRIES; i++) {
                uint32_t victim = self;
                const bool near = filchi_bind_near(seats, seat_of(seats, self), &rng, &victim);
                assert_true(near == (victim != self) && victim < WORKERS_BOUND);
                anyone += !near;
                hits[victim] += near;
            }
            assert_in_range(anyone, 800, 1200);
            for (uint32_t other = 0; other < WORKERS_BOUND; other++) {
                const filchi_cpu_spot a = spots[self];
                const filchi_cpu_spot b = spots[other];
                if (other == self || a.package != b.package) {
                    assert_int_equal(hits[other], 0);
                } else if (a.core == b.core) { /* 48 + 12 / 3 + 3 / 7 */
                    assert_in_range(hits[other], 51600, 53300);
                } else if (a.cache == b.cache) { /* 12 / 3 + 3 / 7 */
                    assert_in_range(hits[other], 4000, 4860);
                } else {
                    assert_in_range(hits[other], 310, 550);
                }
            }
        }
    }
}

/* Two nodes of four cores, each a package with one cache. */
static void victims__of_two_nodes__the_other_node_in_one_of_four(void **state)
{
    enum { CORES = 8, TRIES = 16000 };
    filchi_cpu_spot spots[CORES];
    filchi_near seats[CORES];
    unsigned near = 0;
    filchi_rng rng;
    uint32_t victim = 0;
    (void)state;
    for (unsigned cpu = 0; cpu < CORES; cpu++) {
        spots[cpu] = (filchi_cpu_spot){
            .cpu = cpu, .core = cpu, .cache = cpu / 4 * 4, .package = cpu / 4 * 4
        };
    }
    filchi_bind_nears(spots, CORES, seats, CORES);
    filchi_rng_seed(&rng, 1);
    for (unsigned i = 0; i < TRIES; i++) {
        if (filchi_bind_near(seats, seat_of(seats, 5), &rng, &victim)) {
            assert_true(victim >= 4 && victim != 5);
            near++;
        }
    }
    assert_in_range(near, TRIES * 73 / 100, TRIES * 77 / 100);
}

/* Alone on all levels, and more workers than CPUs: all on one are on one core. */
static void victims__one_cpu_or_one_worker__anyone_or_all(void **state)
{
    filchi_cpu_spot spots[16];
    filchi_near seats[3];
    filchi_rng rng;
    uint32_t victim = 9;
    (void)state;
    make_spots(spots);
    filchi_rng_seed(&rng, 1);
    filchi_bind_nears(spots, 16, seats, 1);
    assert_false(filchi_bind_near(seats, 0, &rng, &victim));
    assert_int_equal(victim, 9);
    filchi_bind_nears(spots, 1, seats, 3);
    bool seen[3] = { false, false, false };
    for (unsigned i = 0; i < 200; i++) {
        seen[filchi_bind_near(seats, 1, &rng, &victim) ? victim : 1] = true;
    }
    assert_true(seen[0] && seen[1] && seen[2]);
}

static void seats__of_a_pool__only_if_it_is_bound(void **state)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    config.workers = 2;
    config.max_workers = WORKERS;
    filch_pool *pool = test_pool_make_as(&config);
    assert_null(pool->nears);
    test_pool_close(pool);
    config.flags = FILCH_POOL_COMPACT;
    pool = test_pool_make_as(&config);
    assert_non_null(pool->nears);
    for (uint32_t i = 0; i < WORKERS; i++) {
        assert_int_equal(pool->nears[pool->workers[i]->near].worker, i);
    }
    test_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(order__of_known_machines__as_written_down),
        cmocka_unit_test(bind__on_this_machine__a_cpu_each_and_the_caller_as_before),
        cmocka_unit_test(bind__grown_from_a_worker__the_new_ones_too),
        cmocka_unit_test(bind__default_size__kept),
        cmocka_unit_test(bind__both_ways__invalid),
        cmocka_unit_test(bind__denied__unbound_and_said),
        cmocka_unit_test(masks__changed_from_outside__works_on),
        cmocka_unit_test(rebind__masks_changed_from_outside__a_cpu_each_again),
        cmocka_unit_test(rebind__then_grown__the_new_ones_too),
        cmocka_unit_test(rebind__not_now_or_not_this__refused_and_untouched),
        cmocka_unit_test(rebind__denied__said),
        cmocka_unit_test(victims__of_bound_workers__near_ones_first_and_all_reached),
        cmocka_unit_test(victims__of_two_nodes__the_other_node_in_one_of_four),
        cmocka_unit_test(seats__of_a_pool__only_if_it_is_bound),
        cmocka_unit_test(victims__one_cpu_or_one_worker__anyone_or_all),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
