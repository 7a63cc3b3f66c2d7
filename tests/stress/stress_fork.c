/* SPDX-License-Identifier: MIT */
/* Random programs of forks, against what they compute without one: every node of a tree chooses, by
 * its number, how it makes its children: join2 in both forms, inlined and exported; handles; scopes;
 * chains as deep as a region; forks in the body of a loop. Then Fibonacci's numbers, a fork a node:
 * a scale of 10 is 10^9 forks at each of 1, 2, 4 and 8 workers. */
#define FILCH_INLINE
#include "support/elements.h"
#include "support/pool.h"

#include "stress/exported_join2.h"

#include <stdio.h>
#include <stdlib.h>

static const unsigned worker_counts[] = { 1, 2, 4, 8 };

/* The subtree of a node: `id` says what it is, `budget` how many nodes it has at most. */
typedef struct node {
    uint64_t id;
    uint64_t budget;
    uint64_t sum; /* result */
} node;

enum { WORDS, POINTERS, EXPORTED, HANDLES, SCOPE, CHAIN, LOOP, KINDS };
enum { CHILDREN_MOST = 300, CHAIN_MOST = 3000 };

static uint64_t leaf_value(uint64_t id)
{
    return test_mix(id) >> 8;
}

static unsigned node_kind(const node *n)
{
    return (unsigned)(test_mix(n->id ^ 0x5eed) % KINDS);
}

static uint64_t child_count(const node *n)
{
    switch (node_kind(n)) {
    case WORDS:
    case POINTERS:
    case EXPORTED:
        return 2;
    case CHAIN:
        return 1 + test_mix(n->id + 1) % CHAIN_MOST;
    default:
        return 1 + test_mix(n->id + 1) % CHILDREN_MOST;
    }
}

static node child_of(const node *n, uint64_t index, uint64_t count)
{
    const uint64_t id = test_mix(n->id * 31 + index);
    /* some get more than their share, so that the tree is uneven */
    const uint64_t share = (n->budget - 1) / count;
    return (node){ id, index == 0 ? share + (n->budget - 1) % count : share, 0 };
}

static uint64_t serial(const node *n)
{
    uint64_t sum = leaf_value(n->id);
    if (n->budget > 1) {
        const uint64_t count = child_count(n);
        for (uint64_t i = 0; i < count; i++) {
            const node child = child_of(n, i, count);
            sum += serial(&child);
        }
    }
    return sum;
}

static void run_node(filch_cx *cx, void *arg);

static uintptr_t run_word(filch_cx *cx, uintptr_t word)
{
    node *n = (node *)word;
    run_node(cx, n);
    return (uintptr_t)n->sum;
}

static uint64_t run_two(filch_cx *cx, const node *n, unsigned kind)
{
    node first = child_of(n, 0, 2);
    node second = child_of(n, 1, 2);
    if (kind == POINTERS) {
        filch_join2(cx, run_node, &first, run_node, &second);
        return first.sum + second.sum;
    }
    const filch_pair pair =
        kind == WORDS
            ? filch_join2_word(cx, run_word, (uintptr_t)&first, run_word, (uintptr_t)&second)
            : exported_join2(cx, run_word, (uintptr_t)&first, run_word, (uintptr_t)&second);
    TEST_CHECK(pair.first == first.sum && pair.second == second.sum);
    return pair.first + pair.second;
}

static node *make_children(const node *n, uint64_t count)
{
    node *children = test_memory(count * sizeof(*children));
    for (uint64_t i = 0; i < count; i++) {
        children[i] = child_of(n, i, count);
    }
    return children;
}

static void run_handles(filch_cx *cx, node *children, uint64_t count)
{
    filch_fork_handle *handles = test_memory(count * sizeof(*handles));
    for (uint64_t i = 0; i < count; i++) {
        filch_fork(cx, &handles[i], run_word, (uintptr_t)&children[i]);
    }
    for (uint64_t i = count; i-- > 0;) {
        TEST_CHECK(filch_join(cx, &handles[i]) == (uintptr_t)children[i].sum);
    }
    free(handles);
}

static void run_scope(filch_cx *cx, node *children, uint64_t count)
{
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    for (uint64_t i = 0; i < count; i++) {
        filch_spawn(cx, &scope, run_node, &children[i]);
    }
    filch_scope_end(cx, &scope);
}

typedef struct chain {
    node *children;
    uint64_t count;
} chain;

static uintptr_t run_chain(filch_cx *cx, uintptr_t word)
{
    const chain *links = (const chain *)word;
    if (links->count == 0) {
        return 0;
    }
    chain rest = { links->children + 1, links->count - 1 };
    (void)filch_join2_word(cx, run_chain, (uintptr_t)&rest, run_word, (uintptr_t)links->children);
    return 0;
}

static void run_range(filch_cx *cx, void *ctx, filch_range range)
{
    node *children = ctx;
    for (size_t i = range.lo; i + 1 < range.hi; i += 2) {
        filch_join2(cx, run_node, &children[i], run_node, &children[i + 1]);
    }
    if ((range.hi - range.lo) % 2 != 0) {
        run_node(cx, &children[range.hi - 1]);
    }
}

static uint64_t run_many(filch_cx *cx, const node *n, unsigned kind)
{
    const uint64_t count = child_count(n);
    node *children = make_children(n, count);
    chain links = { children, count };
    switch (kind) {
    case HANDLES:
        run_handles(cx, children, count);
        break;
    case SCOPE:
        run_scope(cx, children, count);
        break;
    case CHAIN:
        (void)run_chain(cx, (uintptr_t)&links);
        break;
    default:
        TEST_CHECK(filch_for(cx, count, run_range, children, NULL) == FILCH_OK);
    }
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        sum += children[i].sum;
    }
    free(children);
    return sum;
}

static void run_node(filch_cx *cx, void *arg)
{
    node *n = arg;
    const unsigned kind = node_kind(n);
    n->sum = leaf_value(n->id);
    if (n->budget > 1) {
        n->sum += kind <= EXPORTED ? run_two(cx, n, kind) : run_many(cx, n, kind);
    }
}

static void fork__random_programs__same_as_serial(void **state)
{
    const size_t rounds = test_count(60, 12);
    test_rng rng = test_rng_make(1);
    (void)state;
    for (size_t i = 0; i < TEST_CASES(worker_counts); i++) {
        filch_pool_config config = FILCH_POOL_CONFIG_INIT;
        config.workers = worker_counts[i];
        uint64_t stolen = 0;
        for (unsigned barrier = 0; barrier < 2; barrier++) {
            config.flags = barrier != 0 ? 0 : FILCH_POOL_NO_BARRIER;
            filch_pool *pool = test_pool_make_as(&config);
            for (size_t round = 0; round < rounds; round++) {
                node root = { test_rng_next(&rng), 1 + test_rng_below(&rng, 20000), 0 };
                test_pool_run(pool, run_node, &root);
                assert_int_equal(root.sum, serial(&root));
            }
            stolen += test_pool_stats(pool).total.forks_stolen;
            test_pool_close(pool);
        }
        print_message("%u workers: %llu forks stolen\n", worker_counts[i],
                      (unsigned long long)stolen);
        assert_true(stolen > 0 || worker_counts[i] == 1 || test_is_short());
    }
    test_assert_clean();
}

static uintptr_t fib(filch_cx *cx, uintptr_t n)
{
    if (n < 2) {
        return n;
    }
    const filch_pair pair = filch_join2_word(cx, fib, n - 1, fib, n - 2);
    return pair.first + pair.second;
}

static void fork__fibonacci__exact(void **state)
{
    enum { N = 30, FIB_N = 832040, FORKS = 1346268, PATIENCE = 50 };
    const size_t rounds = test_count(75, 2); /* 10^8 forks, or 2.7 * 10^6 */
    (void)state;
    for (size_t i = 0; i < TEST_CASES(worker_counts); i++) {
        filch_pool *pool = test_pool_make(worker_counts[i]);
        filch_stats stats = test_pool_stats(pool);
        size_t round = 0;
        /* and, on a machine that lets no second worker run, for longer */
        const bool steals = worker_counts[i] > 1 && !test_is_short();
        while (round < rounds ||
               (steals && stats.total.forks_stolen == 0 && round < PATIENCE * rounds)) {
            uintptr_t result = 0;
            assert_int_equal(filch_run_word(pool, fib, N, &result), FILCH_OK);
            assert_int_equal(result, FIB_N);
            round++;
            stats = test_pool_stats(pool);
        }
        print_message("%u workers: %llu forks, %llu stolen, %llu by force\n", worker_counts[i],
                      (unsigned long long)round * FORKS,
                      (unsigned long long)stats.total.forks_stolen,
                      (unsigned long long)stats.total.forks_forced);
        assert_true(stats.total.forks_stolen > 0 || !steals);
        test_pool_close(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fork__random_programs__same_as_serial),
        cmocka_unit_test(fork__fibonacci__exact),
    };
    test_begin(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
