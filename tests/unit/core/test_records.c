/* SPDX-License-Identifier: MIT */
/* Records of forks: more of them than a region holds, whatever made them; a worker that never looks
 * up cannot hide one; without membarrier it can, until it forks or joins again. The inlined path and
 * the exported one are the same protocol. */
#define FILCH_INLINE
#include "support/elements.h"
#include "support/pool.h"

#include "core/records.h"

#include <sched.h>
#include <stdlib.h>

static uintptr_t twice(filch_cx *cx, uintptr_t word)
{
    (void)cx;
    return 2 * word;
}

enum { MANY = 1000000 };

/* As a loop makes them; joined newest first, by whoever has them. */
static uintptr_t fork_many(filch_cx *cx, uintptr_t count)
{
    filch_fork_handle *handles = test_memory(count * sizeof(*handles));
    uintptr_t sum = 0;
    for (uintptr_t i = 0; i < count; i++) {
        filch_fork(cx, &handles[i], twice, i);
    }
    for (uintptr_t i = count; i-- > 0;) {
        const uintptr_t result = filch_join(cx, &handles[i]);
        TEST_CHECK(result == 2 * i);
        sum += result;
    }
    free(handles);
    return sum;
}

static void fork__a_million_outstanding__each_joined(void **state)
{
    const uintptr_t count = test_count(MANY, MANY / 10);
    (void)state;
    for (unsigned workers = 1; workers <= 2; workers++) {
        filch_pool *pool = test_pool_make(workers);
        for (int again = 0; again < 2; again++) {
            uintptr_t sum = 0;
            assert_int_equal(filch_run_word(pool, fork_many, count, &sum), FILCH_OK);
            assert_int_equal(sum, count * (count - 1));
        }
        test_pool_close(pool);
    }
    test_assert_clean();
}

/* One record a level, inlined: across the ends of regions and back. */
static uintptr_t deep(filch_cx *cx, uintptr_t levels)
{
    if (levels == 0) {
        return 0;
    }
    const filch_pair pair = filch_join2_word(cx, deep, levels - 1, twice, levels);
    return pair.first + pair.second;
}

static uintptr_t deep_and_forth(filch_cx *cx, uintptr_t levels)
{
    uintptr_t sum = 0;
    for (uintptr_t up = 0; up < 40; up++) {
        sum += deep(cx, levels + up) - (levels + up) * (levels + up + 1);
    }
    return sum;
}

static void join2__deeper_than_a_region__results_come_back(void **state)
{
    static const uintptr_t depths[] = { FILCHI_RECORDS_BLOCK - 20, FILCHI_REGION_RECORDS - 20,
                                        2 * FILCHI_REGION_RECORDS - 20, 20000 };
    (void)state;
    for (unsigned workers = 1; workers <= 3; workers++) {
        filch_pool *pool = test_pool_make(workers);
        for (size_t i = 0; i < TEST_CASES(depths); i++) {
            uintptr_t sum = 1;
            assert_int_equal(filch_run_word(pool, deep_and_forth, depths[i], &sum), FILCH_OK);
            assert_int_equal(sum, 0);
        }
        test_pool_close(pool);
    }
}

/* A fork that its worker will not look after. */
typedef struct hidden {
    atomic_uint other_busy; /* the second worker runs what we gave it */
    atomic_uint other_go;
    atomic_uint ran;
    bool polls;
} hidden;

static uintptr_t hold_other(filch_cx *cx, uintptr_t word)
{
    hidden *h = (hidden *)word;
    (void)cx;
    atomic_store(&h->other_busy, 1);
    test_await(&h->other_go, 1);
    return 0;
}

static uintptr_t note_ran(filch_cx *cx, uintptr_t word)
{
    hidden *h = (hidden *)word;
    atomic_store(&h->ran, 1 + filch_cx_worker(cx));
    return 0;
}

/* While the other worker is busy nobody asks for work: the second fork is private. Then the other
 * one is free, and this one does nothing but wait. */
static uintptr_t hide_fork(filch_cx *cx, uintptr_t word)
{
    hidden *h = (hidden *)word;
    filch_fork_handle first;
    filch_fork_handle second;
    filch_fork(cx, &first, hold_other, word);
    while (atomic_load(&h->other_busy) == 0) {
        if (h->polls) {
            (void)filch_join2_word(cx, twice, 1, twice, 2);
        }
        sched_yield();
    }
    filch_fork(cx, &second, note_ran, word);
    atomic_store(&h->other_go, 1);
    while (atomic_load(&h->ran) == 0) {
        if (h->polls) {
            (void)filch_join2_word(cx, twice, 1, twice, 2);
        }
        sched_yield();
    }
    (void)filch_join(cx, &second);
    (void)filch_join(cx, &first);
    return atomic_load(&h->ran) - 1 != filch_cx_worker(cx);
}

static filch_stats hide_forks(unsigned flags, bool polls)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = 2;
    config.flags = flags;
    filch_pool *pool = test_pool_make_as(&config);
    const size_t rounds = test_count(200, 50);
    for (size_t i = 0; i < rounds; i++) {
        hidden h = { .polls = polls };
        uintptr_t by_other = 0;
        assert_int_equal(filch_run_word(pool, hide_fork, (uintptr_t)&h, &by_other), FILCH_OK);
        assert_int_equal(by_other, 1);
    }
    const filch_stats stats = test_pool_stats(pool);
    test_pool_close(pool);
    return stats;
}

static void fork__its_worker_never_looks_up__taken_by_force(void **state)
{
    (void)state;
    if (!filchi_barrier_works()) {
        print_message("skipped: the system has no membarrier\n");
        skip();
    }
    const filch_stats stats = hide_forks(0, false);
    assert_string_equal(stats.fork_backend, "membarrier");
    assert_true(stats.total.forks_forced > 0);
    assert_true(stats.total.forks_forced <= stats.total.forks_stolen);
    assert_true(stats.total.barriers > 0);
}

static void fork__without_barrier__taken_when_its_worker_looks_up(void **state)
{
    (void)state;
    const filch_stats stats = hide_forks(FILCH_POOL_NO_BARRIER, true);
    assert_string_equal(stats.fork_backend, "polled");
    assert_int_equal(stats.total.forks_forced, 0);
    assert_int_equal(stats.total.barriers, 0);
    assert_true(stats.total.forks_offered > 0);
}

/* Children that their parent only spawns: whatever is full of them is offered, the rest is taken by
 * force, one by one. */
typedef struct brood {
    atomic_uint ran;
    unsigned count;
} brood;

static void count_child(filch_cx *cx, void *arg)
{
    (void)cx;
    atomic_fetch_add(&((brood *)arg)->ran, 1);
}

static void spawn_only(filch_cx *cx, void *arg)
{
    brood *b = arg;
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    for (unsigned i = 0; i < b->count; i++) {
        filch_spawn(cx, &scope, count_child, b);
    }
    test_await(&b->ran, b->count);
    filch_scope_end(cx, &scope);
}

static void spawn__all_children_stolen__the_end_sees_all(void **state)
{
    (void)state;
    if (!filchi_barrier_works()) {
        print_message("skipped: the system has no membarrier\n");
        skip();
    }
    filch_pool *pool = test_pool_make(3);
    brood b = { .count = (unsigned)test_count(200000, 20000) };
    test_pool_run(pool, spawn_only, &b);
    assert_int_equal(atomic_load(&b.ran), b.count);
    /* at least once each: what was stolen in a batch may be stolen again */
    assert_true(test_pool_stats(pool).total.forks_stolen >= b.count);
    test_pool_close(pool);
}

/* With forks outstanding, and with the context of a task further out: not the first free record. */
static uintptr_t from_outside(filch_cx *cx, uintptr_t outer)
{
    const filch_pair pair = filch_join2_word((filch_cx *)outer, twice, 1, twice, 2);
    filch_fork_handle handle;
    filch_fork((filch_cx *)outer, &handle, twice, 3);
    const filch_pair inner = filch_join2_word(cx, twice, 4, twice, 5);
    const uintptr_t sum = pair.first + pair.second + inner.first + inner.second;
    return sum + filch_join((filch_cx *)outer, &handle);
}

static uintptr_t nest_contexts(filch_cx *cx, uintptr_t word)
{
    filch_fork_handle handle;
    filch_fork(cx, &handle, twice, word);
    const filch_pair pair = filch_join2_word(cx, from_outside, (uintptr_t)cx, twice, 6);
    const uintptr_t sum = pair.first + pair.second + filch_join(cx, &handle);
    return sum + (filch_here() == cx);
}

static void join2__below_outstanding_forks__finds_a_free_record(void **state)
{
    filch_pool *pool = test_pool_make(2);
    (void)state;
    for (uintptr_t i = 0; i < 100; i++) {
        uintptr_t sum = 0;
        assert_int_equal(filch_run_word(pool, nest_contexts, i, &sum), FILCH_OK);
        assert_int_equal(sum, 2 * (1 + 2 + 3 + 4 + 5 + 6 + i) + 1);
    }
    test_pool_close(pool);
}

static void create__another_inline_path__refused(void **state)
{
    filch_pool *pool = NULL;
    (void)state;
    assert_int_equal(filch_priv_pool_create(NULL, &pool, FILCH_INLINE_ABI + 1), FILCH_E_ABI);
    assert_null(pool);
    assert_null(filch_priv_default_pool(FILCH_INLINE_ABI + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fork__a_million_outstanding__each_joined),
        cmocka_unit_test(join2__deeper_than_a_region__results_come_back),
        cmocka_unit_test(fork__its_worker_never_looks_up__taken_by_force),
        cmocka_unit_test(fork__without_barrier__taken_when_its_worker_looks_up),
        cmocka_unit_test(spawn__all_children_stolen__the_end_sees_all),
        cmocka_unit_test(join2__below_outstanding_forks__finds_a_free_record),
        cmocka_unit_test(create__another_inline_path__refused),
    };
    test_begin(120);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
