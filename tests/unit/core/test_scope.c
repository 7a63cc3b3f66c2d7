/* SPDX-License-Identifier: MIT */
/* Scopes: any number of children, nested scopes, scopes beside forks, and each child run once. */
#include "support/pool.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static const unsigned worker_counts[] = { 1, 2, 4, 8 };

typedef struct child {
    atomic_uint runs;
    unsigned plain; /* written by the child, read after the scope */
} child;

static void run_child(filch_cx *cx, void *arg)
{
    child *c = arg;
    TEST_CHECK(cx != NULL);
    atomic_fetch_add_explicit(&c->runs, 1, memory_order_relaxed);
    c->plain += 1;
}

typedef struct batch {
    size_t count;
    child *children;
} batch;

static void run_batch(filch_cx *cx, void *arg)
{
    batch *b = arg;
    filch_scope scope;
    memset(&scope, 0xDD, sizeof(scope)); /* needs no initialisation */
    filch_scope_begin(cx, &scope);
    for (size_t i = 0; i < b->count; i++) {
        filch_spawn(cx, &scope, run_child, &b->children[i]);
    }
    filch_scope_end(cx, &scope);
    for (size_t i = 0; i < b->count; i++) {
        TEST_CHECK(atomic_load_explicit(&b->children[i].runs, memory_order_relaxed) == 1);
        TEST_CHECK(b->children[i].plain == 1);
    }
}

static void scope__any_number_of_children__each_runs_once(void **state)
{
    static const size_t counts[] = { 0, 1, 2, 3, 63, 64, 65, 1000, 100000 };
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        filch_pool *pool = test_pool_make(worker_counts[w]);
        for (size_t i = 0; i < TEST_CASES(counts); i++) {
            batch b = { counts[i], calloc(counts[i] + 1, sizeof(child)) };
            assert_non_null(b.children);
            test_pool_run(pool, run_batch, &b);
            assert_int_equal(atomic_load(&b.children[counts[i]].runs), 0);
            free(b.children);
        }
        test_pool_close(pool);
    }
}

/* Scopes in scopes, two deep on the same stack and again in each child. */
typedef struct nest {
    unsigned depth;
    size_t leaves;
} nest;

enum { FAN = 4 };

static void run_nest(filch_cx *cx, void *arg)
{
    nest *n = arg;
    nest children[2 * FAN];
    filch_scope outer;
    filch_scope inner;
    if (n->depth == 0) {
        n->leaves = 1;
        return;
    }
    for (int i = 0; i < 2 * FAN; i++) {
        children[i].depth = n->depth - 1;
        children[i].leaves = 0;
    }
    filch_scope_begin(cx, &outer);
    for (int i = 0; i < FAN; i++) {
        filch_spawn(cx, &outer, run_nest, &children[i]);
    }
    filch_scope_begin(cx, &inner);
    for (int i = FAN; i < 2 * FAN; i++) {
        filch_spawn(cx, &inner, run_nest, &children[i]);
    }
    filch_scope_end(cx, &inner);
    for (int i = FAN; i < 2 * FAN; i++) {
        TEST_CHECK(children[i].leaves != 0);
    }
    filch_scope_end(cx, &outer);
    n->leaves = 0;
    for (int i = 0; i < 2 * FAN; i++) {
        n->leaves += children[i].leaves;
    }
}

static void scope__nested_on_one_stack_and_in_children__counts_all(void **state)
{
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        filch_pool *pool = test_pool_make(worker_counts[w]);
        nest root = { 5, 0 };
        test_pool_run(pool, run_nest, &root);
        assert_int_equal(root.leaves, 32768);
        test_pool_close(pool);
    }
}

/* Forks, joins and scopes woven into one another, last in first out. */
static uintptr_t add_one(filch_cx *cx, uintptr_t n)
{
    (void)cx;
    return n + 1;
}

static void weave(filch_cx *cx, void *arg)
{
    size_t rounds = *(const size_t *)arg;
    for (size_t i = 0; i < rounds; i++) {
        child children[6] = { { 0, 0 } };
        filch_fork_handle before;
        filch_fork_handle within;
        filch_scope scope;
        filch_fork(cx, &before, add_one, i);
        filch_scope_begin(cx, &scope);
        filch_spawn(cx, &scope, run_child, &children[0]);
        filch_fork(cx, &within, add_one, i + 7);
        filch_pair pair = filch_join2_word(cx, add_one, 1, add_one, 2);
        TEST_CHECK(pair.first == 2 && pair.second == 3);
        TEST_CHECK(filch_join(cx, &within) == i + 8);
        for (int k = 1; k < 6; k++) {
            filch_spawn(cx, &scope, run_child, &children[k]);
        }
        filch_scope_end(cx, &scope);
        for (int k = 0; k < 6; k++) {
            TEST_CHECK(children[k].plain == 1);
        }
        TEST_CHECK(filch_join(cx, &before) == i + 1);
    }
}

static void scope__woven_with_forks__each_result_its_own(void **state)
{
    size_t rounds = test_count(20000, 2000);
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        filch_pool *pool = test_pool_make(worker_counts[w]);
        test_pool_run(pool, weave, &rounds);
        test_pool_close(pool);
    }
}

/* A scope that begins, ends and begins again in the same memory. */
static void reuse(filch_cx *cx, void *arg)
{
    filch_scope scope;
    (void)arg;
    for (unsigned round = 0; round < 1000; round++) {
        child children[3] = { { 0, 0 } };
        filch_scope_begin(cx, &scope);
        for (unsigned i = 0; i < round % 4 && i < 3; i++) {
            filch_spawn(cx, &scope, run_child, &children[i]);
        }
        filch_scope_end(cx, &scope);
        for (unsigned i = 0; i < 3; i++) {
            TEST_CHECK(children[i].plain == (i < round % 4 ? 1U : 0U));
        }
    }
}

static void scope__begun_again__starts_afresh(void **state)
{
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        filch_pool *pool = test_pool_make(worker_counts[w]);
        test_pool_run(pool, reuse, NULL);
        test_pool_close(pool);
    }
}

/* Children that other workers hold while the owner is at the end already. */
enum { SLOW = 3 };

typedef struct slow_scope {
    atomic_uint begun;
    unsigned owner;
    unsigned plain[SLOW];
} slow_scope;

typedef struct slow_child {
    slow_scope *of;
    unsigned index;
} slow_child;

static void run_slowly(filch_cx *cx, void *arg)
{
    const slow_child *c = arg;
    atomic_fetch_add(&c->of->begun, 1);
    for (int i = 0; i < 300 && filch_cx_worker(cx) != c->of->owner; i++) {
        sched_yield(); /* leave the owner time to be wrong */
    }
    c->of->plain[c->index] = c->index + 1;
}

static void end_over_slow_children(filch_cx *cx, void *arg)
{
    unsigned thieves = *(const unsigned *)arg - 1;
    unsigned stolen = thieves < SLOW ? thieves : SLOW;
    slow_scope s = { .owner = filch_cx_worker(cx) };
    slow_child children[SLOW] = { { &s, 0 }, { &s, 1 }, { &s, 2 } };
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    for (unsigned i = 0; i < SLOW; i++) {
        filch_spawn(cx, &scope, run_slowly, &children[i]);
    }
    test_await(&s.begun, stolen);
    filch_scope_end(cx, &scope);
    for (unsigned i = 0; i < SLOW; i++) {
        TEST_CHECK(s.plain[i] == i + 1);
    }
}

static void scope__thieves_are_slow__end_waits_for_them(void **state)
{
    size_t rounds = test_count(100, 20);
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        unsigned workers = worker_counts[w];
        filch_pool *pool = test_pool_make(workers);
        for (size_t i = 0; i < rounds; i++) {
            test_pool_run(pool, end_over_slow_children, &workers);
        }
        test_pool_close(pool);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(scope__any_number_of_children__each_runs_once),
        cmocka_unit_test(scope__nested_on_one_stack_and_in_children__counts_all),
        cmocka_unit_test(scope__woven_with_forks__each_result_its_own),
        cmocka_unit_test(scope__begun_again__starts_afresh),
        cmocka_unit_test(scope__thieves_are_slow__end_waits_for_them),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
