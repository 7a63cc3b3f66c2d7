/* SPDX-License-Identifier: MIT */
/* Running pools on machines that are not there: the CPUs that a pool sees, what it binds and whom each
 * thief tries come through this file. */
#include "support/pool.h"

#include <string.h>

#include "core/pool.h"
#include "core/worker.h"

enum { MOST_CPUS = 96, MOST_WORKERS = 96 };

static filchi_cpu_spot machine[MOST_CPUS];
static unsigned cpu_count;

/* Where the n-th thread that was bound went. */
static unsigned bound_to[MOST_WORKERS];
static atomic_uint bound_count;

static atomic_uint tries_near; /* thief and victim in the same package */
static atomic_uint tries_far;
static atomic_uint tries_early; /* while the thief had tasks of its own */

/* Of thieves in the package of the one that has all the work, and in others: tries, and those at it. */
static atomic_int owner = -1;
static atomic_uint tries_of[2];
static atomic_uint tries_at_owner[2];
static atomic_uint won_by[2];

unsigned __wrap_filchi_cpus_allowed(void);
size_t __wrap_filchi_cpus_spots(filchi_cpu_spot *out_spots, size_t most);
bool __wrap_filchi_thread_bind(filchi_thread *thread, unsigned cpu);
filchi_take __real_filchi_lane_steal(filchi_lane *victim, uint32_t most, filchi_loot *out_loot);
filchi_take __wrap_filchi_lane_steal(filchi_lane *victim, uint32_t most, filchi_loot *out_loot);

unsigned __wrap_filchi_cpus_allowed(void)
{
    return cpu_count;
}

size_t __wrap_filchi_cpus_spots(filchi_cpu_spot *out_spots, size_t most)
{
    const size_t count = cpu_count < most ? cpu_count : most;
    memcpy(out_spots, machine, count * sizeof(*out_spots));
    return count;
}

bool __wrap_filchi_thread_bind(filchi_thread *thread, unsigned cpu)
{
    (void)thread;
    bound_to[atomic_fetch_add(&bound_count, 1) % MOST_WORKERS] = cpu;
    return true;
}

static unsigned package_of(const filchi_worker *worker)
{
    const filch_pool *pool = worker->lane.pool;
    return pool->nears[worker->near].place[FILCHI_NEAR_PACKAGE];
}

/* Each try of a thief begins here, with forks. */
filchi_take __wrap_filchi_lane_steal(filchi_lane *victim, uint32_t most, filchi_loot *out_loot)
{
    const filchi_worker *thief = FILCHI_CONTAINER(out_loot, filchi_worker, loot);
    if (thief->lane.pool->nears != NULL) {
        const bool near = package_of(thief) == package_of(victim->worker);
        atomic_fetch_add(near ? &tries_near : &tries_far, 1);
        atomic_fetch_add(&tries_early, !filchi_deque_looks_empty(&thief->tasks));
    }
    const int all_with = atomic_load(&owner);
    if (all_with >= 0) {
        const bool far = package_of(thief) != package_of(thief->lane.pool->workers[all_with]);
        atomic_fetch_add(&tries_of[far], 1);
        atomic_fetch_add(&tries_at_owner[far], victim->worker->index == (unsigned)all_with);
    }
    return __real_filchi_lane_steal(victim, most, out_loot);
}

/* Packages of so many CPUs, each a core, with one cache; the numbers of the next package go on at a
 * multiple of `stride`. */
static void make_machine(unsigned packages, unsigned cpus, unsigned stride)
{
    cpu_count = 0;
    for (unsigned package = 0; package < packages; package++) {
        for (unsigned i = 0; i < cpus; i++) {
            const unsigned first = package * stride;
            machine[cpu_count++] = (filchi_cpu_spot){
                .cpu = first + i, .core = first + i, .cache = first, .package = first
            };
        }
    }
    atomic_store(&bound_count, 0);
    atomic_store(&tries_near, 0);
    atomic_store(&tries_far, 0);
    atomic_store(&tries_early, 0);
    for (unsigned far = 0; far < 2; far++) {
        atomic_store(&tries_of[far], 0);
        atomic_store(&tries_at_owner[far], 0);
        atomic_store(&won_by[far], 0);
    }
}

static filch_pool *make_bound(unsigned workers, unsigned flags)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = workers;
    config.flags = flags | FILCH_POOL_STRICT;
    filch_pool *pool = test_pool_make_as(&config);
    assert_int_equal(test_pool_stats(pool).bound, workers);
    return pool;
}

/* As some systems number them: 64 a group, of which 48 are there. */
static void workers__two_groups_of_48_cpus__on_both(void **state)
{
    (void)state;
    make_machine(2, 48, 64);
    filch_pool *pool = make_bound(96, FILCH_POOL_SPREAD);
    for (unsigned i = 0; i < 96; i++) {
        assert_int_equal(bound_to[i], i / 2 + i % 2 * 64);
    }
    test_pool_close(pool);
    make_machine(2, 48, 64);
    pool = make_bound(96, FILCH_POOL_COMPACT);
    for (unsigned i = 0; i < 96; i++) {
        assert_int_equal(bound_to[i], i / 48 * 64 + i % 48);
    }
    test_pool_close(pool);
}

static void workers__fewer_than_cpus_of_two_groups__half_on_each(void **state)
{
    unsigned second = 0;
    (void)state;
    make_machine(2, 48, 64);
    filch_pool *pool = make_bound(10, FILCH_POOL_SPREAD);
    for (unsigned i = 0; i < 10; i++) {
        second += bound_to[i] >= 64;
    }
    assert_int_equal(second, 5);
    test_pool_close(pool);
}

/* The system does not say: nothing changes. More CPUs than before, and than workers: the first ones. */
static void rebind__another_machine__its_cpus_or_the_old_ones(void **state)
{
    unsigned strayed = 47;
    (void)state;
    make_machine(1, 2, 2);
    filch_pool *pool = make_bound(4, FILCH_POOL_COMPACT);
    cpu_count = 0;
    assert_int_equal(filch_pool_rebind(pool, &strayed), FILCH_E_SYSTEM);
    assert_int_equal(strayed, 47);
    assert_int_equal(bound_count, 4);
    make_machine(2, 48, 64);
    assert_int_equal(filch_pool_rebind(pool, &strayed), FILCH_OK);
    assert_int_equal(bound_count, 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(bound_to[i], i);
    }
    make_machine(1, 3, 3);
    assert_int_equal(filch_pool_rebind(pool, &strayed), FILCH_OK);
    assert_int_equal(bound_to[3], 0);
    test_pool_close(pool);
}

typedef struct heap {
    atomic_uint left;
    unsigned tasks;
} heap;

static void count_rest(filch_cx *cx, void *data)
{
    (void)cx;
    atomic_fetch_sub(&(*(heap **)data)->left, 1);
}

/* Leaves the thief with a task of its own. */
static void count_theft(filch_cx *cx, void *data)
{
    heap *h = *(heap **)data;
    const filch_pool *pool = filch_cx_pool(cx);
    const filchi_worker *thief = pool->workers[filch_cx_worker(cx)];
    const bool far = package_of(thief) != package_of(pool->workers[atomic_load(&owner)]);
    atomic_fetch_add(&won_by[far], 1);
    TEST_CHECK(filch_post(filch_cx_pool(cx), count_rest, &h, sizeof(h), NULL) == FILCH_OK);
}

/* Queue all of it here and run none, so that each is stolen. */
static void pile_up(filch_cx *cx, void *arg)
{
    heap *h = arg;
    atomic_store(&h->left, h->tasks);
    atomic_store(&owner, (int)filch_cx_worker(cx));
    for (unsigned i = 0; i < h->tasks; i++) {
        TEST_CHECK(filch_post(filch_cx_pool(cx), count_theft, &h, sizeof(h), NULL) == FILCH_OK);
    }
    while (atomic_load(&h->left) != 0) {
        test_spin_ns(1000);
    }
    atomic_store(&owner, -1);
}

static double percent(unsigned part, unsigned rest)
{
    return 100.0 * part / (part + rest);
}

/* All work lies with one worker of two nodes of four. A try goes to the own node with 3/4 and, of the rest,
 * with 3/7: 6 of 7; without nearness it were 3 of 7. At the owner go 2 of 7 of its node's tries, and 1 of 28
 * of the other's. Who steals how much is the scheduler's: it says who runs. */
static void steals__two_nodes_all_work_on_one__near_ones_first_after_the_own_queue(void **state)
{
    enum { ENOUGH = 5000 };
    static const unsigned ways[] = { FILCH_POOL_COMPACT, FILCH_POOL_SPREAD };
    static const struct {
        double least;
        double most;
    } at_owner[2] = { { 25, 32 }, { 2, 6 } };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(ways); i++) {
        heap h = { .tasks = (unsigned)test_count(20000, 4000) };
        make_machine(2, 4, 4);
        filch_pool *pool = make_bound(8, ways[i]);
        test_pool_run(pool, pile_up, &h);
        test_pool_close(pool);
        const unsigned near = atomic_load(&tries_near);
        const unsigned far = atomic_load(&tries_far);
        print_message("tries near %u, far %u; stolen on the node %u, from the other %u\n", near,
                      far, atomic_load(&won_by[0]), atomic_load(&won_by[1]));
        assert_int_equal(atomic_load(&won_by[0]) + atomic_load(&won_by[1]), h.tasks);
        assert_int_equal(atomic_load(&tries_early), 0);
        assert_true(near + far >= h.tasks);
        assert_true(percent(near, far) > 82 && percent(near, far) < 89);
        for (unsigned k = 0; k < 2; k++) {
            const unsigned hits = atomic_load(&tries_at_owner[k]);
            const unsigned all = atomic_load(&tries_of[k]);
            assert_true(all < ENOUGH || (percent(hits, all - hits) > at_owner[k].least &&
                                         percent(hits, all - hits) < at_owner[k].most));
        }
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(workers__two_groups_of_48_cpus__on_both),
        cmocka_unit_test(workers__fewer_than_cpus_of_two_groups__half_on_each),
        cmocka_unit_test(rebind__another_machine__its_cpus_or_the_old_ones),
        cmocka_unit_test(steals__two_nodes_all_work_on_one__near_ones_first_after_the_own_queue),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
