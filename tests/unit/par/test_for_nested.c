/* SPDX-License-Identifier: MIT */
/* Loops inside loops, joins and tasks, and isolation: while a body waits, in a join or in a loop of
 * its own, its stack runs nothing else, so what the body holds stays its own: a lock, a slot, a
 * thread-local. */
#include "support/pool.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static const unsigned worker_counts[] = { 1, 2, 4, 8 };

enum { OUTER = 40, INNER = 100, SLOTS_MAX = 16 };

static filch_loop grain_of(size_t grain)
{
    filch_loop options = FILCH_LOOP_INIT;
    options.grain = grain;
    return options;
}

/* Loops in loops in joins: the leaves are counted. */
static void count_inner(filch_cx *cx, void *ctx, filch_range range)
{
    (void)cx;
    atomic_fetch_add((atomic_size_t *)ctx, range.hi - range.lo);
}

static void loop_of_inner(filch_cx *cx, void *arg)
{
    filch_loop options = grain_of(3);
    TEST_CHECK(filch_for(cx, INNER, count_inner, arg, &options) == FILCH_OK);
}

static void count_middle(filch_cx *cx, void *ctx, filch_range range)
{
    for (size_t i = range.lo; i < range.hi; i++) {
        filch_join2(cx, loop_of_inner, ctx, loop_of_inner, ctx);
    }
}

static void nested_root(filch_cx *cx, void *arg)
{
    filch_loop options = grain_of(1);
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    filch_spawn(cx, &scope, loop_of_inner, arg);
    TEST_CHECK(filch_for(cx, OUTER, count_middle, arg, &options) == FILCH_OK);
    filch_spawn(cx, &scope, loop_of_inner, arg);
    filch_scope_end(cx, &scope);
}

static void for__in_loops_in_joins_in_scopes__all_indices(void **state)
{
    filch_loop options = grain_of(1);
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        filch_pool *pool = test_pool_make(worker_counts[w]);
        for (int round = 0; round < 20; round++) {
            atomic_size_t total = 0;
            test_pool_run(pool, nested_root, &total);
            assert_int_equal(atomic_load(&total), OUTER * 2 * INNER + 2 * INNER);
            assert_int_equal(filch_for_on(pool, OUTER, count_middle, &total, &options), FILCH_OK);
            assert_int_equal(atomic_load(&total), 2 * OUTER * 2 * INNER + 2 * INNER);
        }
        test_pool_close(pool);
    }
}

/* Isolation. Each thread counts the outer bodies on its own stack, one at most, and what it runs
 * for the body of another: no outer body may begin on top of that either, since the other body
 * waits for it. */
static _Thread_local unsigned outer_on_this_stack;
static _Thread_local unsigned inner_on_this_stack;

typedef struct isolation {
    pthread_mutex_t lock;
    bool use_lock;
    atomic_uint bodies;
    atomic_uint slot_users[SLOTS_MAX];
    unsigned plain[SLOTS_MAX];
} isolation;

static void inner_body(filch_cx *cx, void *ctx, filch_range range)
{
    (void)cx;
    (void)ctx;
    if (range.lo % 4 == 0) {
        sched_yield(); /* so that whoever waits for this piece has time to do wrong */
    }
}

static uintptr_t inner_fork(filch_cx *cx, uintptr_t depth)
{
    uintptr_t leaves = 1;
    inner_on_this_stack++;
    if (depth == 0) {
        sched_yield();
    } else {
        filch_pair pair = filch_join2_word(cx, inner_fork, depth - 1, inner_fork, depth - 1);
        leaves = pair.first + pair.second;
    }
    inner_on_this_stack--;
    return leaves;
}

static void inner_child(filch_cx *cx, void *arg)
{
    (void)arg;
    inner_on_this_stack++;
    TEST_CHECK(inner_fork(cx, 3) == 8);
    inner_on_this_stack--;
}

/* Everything a body can wait in. */
static void wait_in_every_way(filch_cx *cx)
{
    filch_loop options = grain_of(1);
    filch_scope scope;
    TEST_CHECK(filch_for(cx, 16, inner_body, NULL, &options) == FILCH_OK);
    TEST_CHECK(inner_fork(cx, 4) == 16);
    filch_scope_begin(cx, &scope);
    for (int i = 0; i < 8; i++) {
        filch_spawn(cx, &scope, inner_child, NULL);
    }
    filch_scope_end(cx, &scope);
}

static void outer_body(filch_cx *cx, void *ctx, filch_range range)
{
    isolation *iso = ctx;
    TEST_CHECK(outer_on_this_stack == 0 && inner_on_this_stack == 0);
    TEST_CHECK(atomic_exchange(&iso->slot_users[range.slot], 1) == 0);
    outer_on_this_stack++;
    if (iso->use_lock) {
        /* Taken twice by one thread it would not come back: the watchdog would tell. */
        int error = pthread_mutex_lock(&iso->lock);
        TEST_CHECK(error == 0);
        if (error != 0) {
            abort(); /* EDEADLK: this stack holds it already */
        }
    }
    unsigned before = ++iso->plain[range.slot];
    wait_in_every_way(cx);
    TEST_CHECK(iso->plain[range.slot] == before);
    if (iso->use_lock) {
        pthread_mutex_unlock(&iso->lock);
    }
    outer_on_this_stack--;
    TEST_CHECK(atomic_exchange(&iso->slot_users[range.slot], 0) == 1);
    atomic_fetch_add(&iso->bodies, 1);
}

static void isolation_root(filch_cx *cx, void *arg)
{
    filch_loop options = grain_of(1);
    TEST_CHECK(filch_for(cx, OUTER, outer_body, arg, &options) == FILCH_OK);
}

static void expect_isolated(bool use_lock)
{
    filch_loop options = grain_of(1);
    pthread_mutexattr_t checking;
    size_t rounds = test_count(10, 2);
    pthread_mutexattr_init(&checking);
    pthread_mutexattr_settype(&checking, PTHREAD_MUTEX_ERRORCHECK);
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        filch_pool *pool = test_pool_make(worker_counts[w]);
        for (size_t round = 0; round < rounds; round++) {
            isolation one;
            memset(&one, 0, sizeof(one));
            one.use_lock = use_lock;
            pthread_mutex_init(&one.lock, &checking);
            test_pool_run(pool, isolation_root, &one);
            assert_int_equal(atomic_load(&one.bodies), OUTER);
            assert_int_equal(filch_for_on(pool, OUTER, outer_body, &one, &options), FILCH_OK);
            assert_int_equal(atomic_load(&one.bodies), 2 * OUTER);
            pthread_mutex_destroy(&one.lock);
        }
        test_pool_close(pool);
    }
    pthread_mutexattr_destroy(&checking);
}

static void for__body_waits__its_stack_runs_no_other_body(void **state)
{
    (void)state;
    expect_isolated(false);
}

static void for__body_holds_a_lock_and_waits__no_deadlock(void **state)
{
    (void)state;
    expect_isolated(true);
}

/* Several loops at once: pieces of one must not run inside bodies of another either. */
typedef struct depth_case {
    atomic_uint bodies;
} depth_case;

static void depth_body(filch_cx *cx, void *ctx, filch_range range)
{
    (void)range;
    TEST_CHECK(outer_on_this_stack == 0 && inner_on_this_stack == 0);
    outer_on_this_stack++;
    wait_in_every_way(cx);
    outer_on_this_stack--;
    atomic_fetch_add(&((depth_case *)ctx)->bodies, 1);
}

static void depth_loop(filch_cx *cx, void *arg)
{
    filch_loop options = grain_of(1);
    TEST_CHECK(filch_for(cx, OUTER / 2, depth_body, arg, &options) == FILCH_OK);
}

static void depth_tree(filch_cx *cx, void *arg)
{
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    for (int i = 0; i < 6; i++) {
        filch_spawn(cx, &scope, depth_loop, arg);
    }
    filch_scope_end(cx, &scope);
}

static void for__several_loops_at_once__no_body_inside_another(void **state)
{
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        filch_pool *pool = test_pool_make(worker_counts[w]);
        depth_case c = { 0 };
        size_t rounds = test_count(10, 2);
        for (size_t round = 0; round < rounds; round++) {
            test_pool_run(pool, depth_tree, &c);
        }
        assert_int_equal(atomic_load(&c.bodies), rounds * 6 * (OUTER / 2));
        test_pool_close(pool);
    }
}

/* Detached tasks do not run inside a waiting body either. */
typedef struct detached_case {
    filch_pool *pool;
    atomic_uint ran;
} detached_case;

static void detached(filch_cx *cx, void *arg)
{
    (void)cx;
    TEST_CHECK(outer_on_this_stack == 0 && inner_on_this_stack == 0);
    atomic_fetch_add(&((detached_case *)arg)->ran, 1);
}

static void posting_body(filch_cx *cx, void *ctx, filch_range range)
{
    detached_case *c = ctx;
    (void)range;
    TEST_CHECK(outer_on_this_stack == 0 && inner_on_this_stack == 0);
    outer_on_this_stack++;
    TEST_CHECK(filch_post(c->pool, detached, c, 0, NULL) == FILCH_OK);
    wait_in_every_way(cx);
    outer_on_this_stack--;
}

static void posting_loop(filch_cx *cx, void *arg)
{
    filch_loop options = grain_of(1);
    TEST_CHECK(filch_for(cx, OUTER, posting_body, arg, &options) == FILCH_OK);
}

static void for__bodies_post_tasks__none_runs_inside_a_body(void **state)
{
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        detached_case c = { test_pool_make(worker_counts[w]), 0 };
        test_pool_run(c.pool, posting_loop, &c);
        assert_int_equal(filch_pool_wait_quiet(c.pool, FILCH_FOREVER), FILCH_OK);
        assert_int_equal(atomic_load(&c.ran), OUTER);
        test_pool_close(c.pool);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(for__in_loops_in_joins_in_scopes__all_indices),
        cmocka_unit_test(for__body_waits__its_stack_runs_no_other_body),
        cmocka_unit_test(for__body_holds_a_lock_and_waits__no_deadlock),
        cmocka_unit_test(for__several_loops_at_once__no_body_inside_another),
        cmocka_unit_test(for__bodies_post_tasks__none_runs_inside_a_body),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
