/* SPDX-License-Identifier: MIT */
/* The unbalanced tree search with the standard trees of the UTS benchmark (Olivier et al., LCPC
 * 2006): the exact number of nodes and leaves and the exact depth, at one to eight workers.
 * Children are spawned in scopes of eight and their counts are summed, so that the whole tree is
 * one fork-join computation of very uneven shape. The large trees run at a scale of 10 and more. */
#include "bench/grid/work/sha1.h"
#include "support/pool.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STATE_BYTES = GRID_SHA1_BYTES, CHILDREN_MAX = 100, BATCH = 8 };

typedef enum shape { FIXED, LINEAR, CYCLIC, BINOMIAL, HYBRID } shape;

typedef struct tree {
    const char *name;
    shape kind;
    double b;
    int d;
    double q;
    int m;
    uint32_t r;
    uint64_t nodes;
    uint64_t depth;
    uint64_t leaves;
} tree;

static const tree small_trees[] = {
    { "T1", FIXED, 4, 10, 0, 0, 19, 4130071, 10, 3305118 },
    { "T5", LINEAR, 4, 20, 0, 0, 34, 4147582, 20, 2181318 },
    { "T2", CYCLIC, 6, 16, 0, 0, 502, 4117769, 81, 2342762 },
    { "T3", BINOMIAL, 2000, 0, 0.124875, 8, 42, 4112897, 1572, 3599034 },
    { "T4", HYBRID, 6, 16, 0.234375, 4, 1, 4132453, 134, 3108986 },
};

static const tree large_trees[] = {
    { "T1L", FIXED, 4, 13, 0, 0, 29, 102181082, 13, 81746377 },
    { "T2L", CYCLIC, 7, 23, 0, 0, 220, 96793510, 67, 53791152 },
    { "T3L", BINOMIAL, 2000, 0, 0.200014, 5, 7, 111345631, 17844, 89076904 },
};

typedef struct counts {
    uint64_t nodes;
    uint64_t depth;
    uint64_t leaves;
} counts;

typedef struct node {
    const tree *of;
    counts found;
    int height;
    uint8_t state[STATE_BYTES];
} node;

static uint32_t number_of(const node *n)
{
    const uint8_t *p = n->state + STATE_BYTES - 4;
    return (((uint32_t)p[0] << 24) | ((uint32_t)p[1] << 16) | ((uint32_t)p[2] << 8) | p[3]) &
           0x7fffffffU;
}

static void make_state(const uint8_t *seed, size_t seed_bytes, uint32_t index, uint8_t *out_state)
{
    uint8_t input[STATE_BYTES + 4];
    memcpy(input, seed, seed_bytes);
    for (size_t i = 0; i < 4; i++) {
        input[seed_bytes + i] = (uint8_t)(index >> (24 - 8 * i));
    }
    grid_sha1(input, seed_bytes + 4, out_state);
}

static int geometric_children(const tree *t, shape kind, const node *n)
{
    double b = t->b;
    if (n->height > 0) {
        if (kind == FIXED) {
            b = (n->height < t->d) ? t->b : 0;
        } else if (kind == LINEAR) {
            b = t->b * (1.0 - (double)n->height / t->d);
        } else {
            double turn = 2.0 * 3.141592653589793 * n->height / t->d;
            b = (n->height > 5 * t->d) ? 0 : pow(t->b, sin(turn));
        }
    }
    double p = 1.0 / (1.0 + b);
    double u = (double)number_of(n) / 2147483648.0;
    return (int)floor(log(1.0 - u) / log(1.0 - p));
}

static int binomial_children(const tree *t, const node *n)
{
    return ((double)number_of(n) / 2147483648.0 < t->q) ? t->m : 0;
}

static int child_count(const node *n)
{
    const tree *t = n->of;
    int count;
    if (t->kind == BINOMIAL) {
        if (n->height == 0) {
            return (int)t->b;
        }
        count = binomial_children(t, n);
    } else if (t->kind == HYBRID) {
        count = (2 * n->height < t->d) ? geometric_children(t, LINEAR, n) : binomial_children(t, n);
    } else {
        count = geometric_children(t, t->kind, n);
    }
    return (count > CHILDREN_MAX) ? CHILDREN_MAX : count;
}

static void search(filch_cx *cx, void *arg);

/* Eight children at a time, so that the frame stays small in deep trees. */
static void search_batch(filch_cx *cx, node *n, int first, int last)
{
    node children[BATCH];
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    for (int i = first; i < last; i++) {
        node *child = &children[i - first];
        child->of = n->of;
        child->height = n->height + 1;
        make_state(n->state, STATE_BYTES, (uint32_t)i, child->state);
        filch_spawn(cx, &scope, search, child);
    }
    filch_scope_end(cx, &scope);
    for (int i = 0; i < last - first; i++) {
        const counts *found = &children[i].found;
        n->found.nodes += found->nodes;
        n->found.leaves += found->leaves;
        n->found.depth = (found->depth > n->found.depth) ? found->depth : n->found.depth;
    }
}

static void search(filch_cx *cx, void *arg)
{
    node *n = arg;
    int children = child_count(n);
    n->found.nodes = 1;
    n->found.depth = (uint64_t)n->height;
    n->found.leaves = (children == 0);
    for (int first = 0; first < children; first += BATCH) {
        int last = (first + BATCH < children) ? first + BATCH : children;
        search_batch(cx, n, first, last);
    }
}

static filch_pool *make_pool(unsigned workers)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = workers;
    config.stack_bytes = (size_t)512 << 20;
    return test_pool_make_as(&config);
}

static void search_tree(filch_pool *pool, const tree *t)
{
    static const uint8_t zeros[16] = { 0 };
    node root;
    memset(&root, 0, sizeof(root));
    root.of = t;
    make_state(zeros, sizeof(zeros), t->r, root.state);
    uint64_t start = test_cpu_ns();
    test_pool_run(pool, search, &root);
    filch_stats stats = test_pool_stats(pool);
    printf(
        "%-3s %u workers: %llu nodes, depth %llu, %llu leaves; %.2f s of CPU time, %llu steals\n",
        t->name, stats.workers, (unsigned long long)root.found.nodes,
        (unsigned long long)root.found.depth, (unsigned long long)root.found.leaves,
        (double)(test_cpu_ns() - start) * 1e-9, (unsigned long long)stats.total.forks_stolen);
    assert_int_equal(root.found.nodes, t->nodes);
    assert_int_equal(root.found.depth, t->depth);
    assert_int_equal(root.found.leaves, t->leaves);
}

static void sha1__known_digests__come_out(void **state)
{
    static const uint8_t abc_digest[STATE_BYTES] = { 0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81,
                                                     0x6a, 0xba, 0x3e, 0x25, 0x71, 0x78, 0x50,
                                                     0xc2, 0x6c, 0x9c, 0xd0, 0xd8, 0x9d };
    static const uint8_t empty_digest[STATE_BYTES] = { 0xda, 0x39, 0xa3, 0xee, 0x5e, 0x6b, 0x4b,
                                                       0x0d, 0x32, 0x55, 0xbf, 0xef, 0x95, 0x60,
                                                       0x18, 0x90, 0xaf, 0xd8, 0x07, 0x09 };
    uint8_t digest[STATE_BYTES];
    (void)state;
    grid_sha1((const uint8_t *)"abc", 3, digest);
    assert_memory_equal(digest, abc_digest, STATE_BYTES);
    grid_sha1((const uint8_t *)"", 0, digest);
    assert_memory_equal(digest, empty_digest, STATE_BYTES);
}

static void uts__standard_trees_at_each_size__exact_counts(void **state)
{
    static const unsigned worker_counts[] = { 1, 2, 4, 8 };
    bool few = TEST_UNDER_ASAN || TEST_UNDER_TSAN || test_scale() < 1.0;
    (void)state;
    if (test_is_short()) {
        print_message("left out: the smallest tree is too large for this scale\n");
        skip();
    }
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        filch_pool *pool = make_pool(worker_counts[w]);
        for (size_t i = 0; i < TEST_CASES(small_trees); i++) {
            /* When it must be short each size gets one or two of the trees, together all of them. */
            if (!few || i % TEST_CASES(worker_counts) == w) {
                search_tree(pool, &small_trees[i]);
            }
        }
        test_pool_close(pool);
    }
}

static void uts__large_trees__exact_counts(void **state)
{
    (void)state;
    if (test_scale() < 10.0 || TEST_UNDER_ASAN || TEST_UNDER_TSAN) {
        skip();
    }
    for (unsigned workers = 2; workers <= 8; workers *= 4) {
        filch_pool *pool = make_pool(workers);
        for (size_t i = 0; i < TEST_CASES(large_trees); i++) {
            search_tree(pool, &large_trees[i]);
        }
        test_pool_close(pool);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(sha1__known_digests__come_out),
        cmocka_unit_test(uts__standard_trees_at_each_size__exact_counts),
        cmocka_unit_test(uts__large_trees__exact_counts),
    };
    test_begin(400);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
