/* SPDX-License-Identifier: MIT */
/* Random programs of joins, forks, scopes, loops, nested roots and detached tasks, run by a pool
 * and by a plain recursion: both must come to the same value. A program is a tree that grows out of
 * one number, so that the seed and that number say all. Once more with an allocator that fails at
 * random: nothing may change but where things run. */
#include "support/pool.h"

#include <stdio.h>
#include <string.h>

#include "support/alloc.h"

enum { FAN_MAX = 6, DEPTH_MAX = 11, LOOP_MAX = 40 };

typedef enum kind { LEAF, JOIN2, JOIN2_WORD, FORKS, SCOPE, LOOP, ROOT, WOVEN, KINDS } kind;

typedef struct node {
    uint64_t key;
    unsigned depth; /* what is left */
    uint64_t value; /* out; plain */
} node;

/* Counted beside the values: detached tasks posted on the way. */
static atomic_size_t posted;
static atomic_size_t detached_runs;

static kind kind_of(const node *n)
{
    if (n->depth == 0) {
        return LEAF;
    }
    return (kind)(test_mix(n->key) % KINDS);
}

static unsigned fan_of(const node *n)
{
    kind k = kind_of(n);
    if (k == LEAF) {
        return 0;
    }
    if (k == JOIN2 || k == JOIN2_WORD) {
        return 2;
    }
    if (k == ROOT) {
        return 1;
    }
    return (unsigned)(test_mix(n->key + 1) % FAN_MAX) + (k == WOVEN);
}

static node child_of(const node *n, unsigned i)
{
    node child = { test_mix(n->key * 31 + i + 7), n->depth - 1, 0 };
    return child;
}

static uint64_t loop_value(uint64_t key, size_t i)
{
    return test_mix(key ^ (i * 977));
}

static size_t loop_count(const node *n)
{
    return test_mix(n->key + 2) % LOOP_MAX;
}

/* The value of a node from those of its children, whose order matters, and from its loop. */
static uint64_t fold(const node *n, const node *children, uint64_t loop_part)
{
    uint64_t value = test_mix(n->key + 3) + loop_part;
    for (unsigned i = 0; i < fan_of(n); i++) {
        value = test_mix(value ^ children[i].value) + i;
    }
    return value;
}

static uint64_t serial_value(const node *n)
{
    node children[FAN_MAX + 1];
    for (unsigned i = 0; i < fan_of(n); i++) {
        children[i] = child_of(n, i);
        children[i].value = serial_value(&children[i]);
    }
    uint64_t loop_part = 0;
    for (size_t i = 0; kind_of(n) == LOOP && i < loop_count(n); i++) {
        loop_part += loop_value(n->key, i);
    }
    return fold(n, children, loop_part);
}

static void run_node(filch_cx *cx, void *arg);

static uintptr_t run_word(filch_cx *cx, uintptr_t word)
{
    run_node(cx, (void *)word);
    return (uintptr_t)((node *)word)->value;
}

static void count_detached(filch_cx *cx, void *data)
{
    (void)cx;
    TEST_CHECK(*(uint64_t *)data == 4711);
    atomic_fetch_add(&detached_runs, 1);
}

static void post_now_and_then(filch_cx *cx, const node *n)
{
    uint64_t payload[30] = { 4711 };
    size_t bytes = (test_mix(n->key + 4) % 2 == 0) ? sizeof(uint64_t) : sizeof(payload);
    if (test_mix(n->key + 5) % 8 != 0) {
        return;
    }
    filch_status status = filch_post(filch_cx_pool(cx), count_detached, payload, bytes, NULL);
    /* a post without memory runs its task in place, but not inside a loop */
    TEST_CHECK(status == FILCH_OK || status == FILCH_E_FULL ||
               (status == FILCH_E_NOMEM && bytes > FILCH_POST_INLINE_BYTES));
    atomic_fetch_add(&posted, (status == FILCH_OK) ? 1 : 0);
}

typedef struct loop_sum {
    uint64_t key;
    atomic_uint_fast64_t sum;
    node *children;
    unsigned fan;
} loop_sum;

static void sum_range(filch_cx *cx, void *ctx, filch_range range)
{
    loop_sum *s = ctx;
    for (size_t i = range.lo; i < range.hi; i++) {
        if (i < s->fan) {
            run_node(cx, &s->children[i]);
        } else {
            atomic_fetch_add(&s->sum, loop_value(s->key, i - s->fan));
        }
    }
}

static uint64_t run_loop(filch_cx *cx, const node *n, node *children)
{
    filch_loop options = FILCH_LOOP_INIT;
    loop_sum s = { n->key, 0, children, fan_of(n) };
    options.grain = 1 + test_mix(n->key + 6) % 5;
    TEST_CHECK(filch_for(cx, s.fan + loop_count(n), sum_range, &s, &options) == FILCH_OK);
    return atomic_load(&s.sum);
}

static void run_forks(filch_cx *cx, node *children, unsigned fan)
{
    filch_fork_handle handles[FAN_MAX + 1];
    for (unsigned i = 0; i < fan; i++) {
        filch_fork(cx, &handles[i], run_word, (uintptr_t)&children[i]);
    }
    for (unsigned i = fan; i-- > 0;) {
        TEST_CHECK(filch_join(cx, &handles[i]) == (uintptr_t)children[i].value);
    }
}

static void run_scope(filch_cx *cx, node *children, unsigned fan)
{
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    for (unsigned i = 0; i < fan; i++) {
        filch_spawn(cx, &scope, run_node, &children[i]);
    }
    filch_scope_end(cx, &scope);
}

/* A fork outside, a scope inside, and one child called in the middle. */
static void run_woven(filch_cx *cx, node *children, unsigned fan)
{
    filch_fork_handle handle;
    filch_scope scope;
    filch_fork(cx, &handle, run_word, (uintptr_t)&children[0]);
    filch_scope_begin(cx, &scope);
    for (unsigned i = 1; i < fan; i++) {
        if (i % 3 == 2) {
            run_node(cx, &children[i]);
        } else {
            filch_spawn(cx, &scope, run_node, &children[i]);
        }
    }
    filch_scope_end(cx, &scope);
    TEST_CHECK(filch_join(cx, &handle) == (uintptr_t)children[0].value);
}

static void run_pair(filch_cx *cx, node *children)
{
    filch_pair pair =
        filch_join2_word(cx, run_word, (uintptr_t)&children[0], run_word, (uintptr_t)&children[1]);
    TEST_CHECK(pair.first == (uintptr_t)children[0].value);
    TEST_CHECK(pair.second == (uintptr_t)children[1].value);
}

static void run_node(filch_cx *cx, void *arg)
{
    node *n = arg;
    node children[FAN_MAX + 1];
    uint64_t loop_part = 0;
    unsigned fan = fan_of(n);
    kind k = kind_of(n);
    for (unsigned i = 0; i < fan; i++) {
        children[i] = child_of(n, i);
    }
    post_now_and_then(cx, n);
    if (k == JOIN2) {
        filch_join2(cx, run_node, &children[0], run_node, &children[1]);
    } else if (k == JOIN2_WORD) {
        run_pair(cx, children);
    } else if (k == FORKS) {
        run_forks(cx, children, fan);
    } else if (k == SCOPE) {
        run_scope(cx, children, fan);
    } else if (k == WOVEN) {
        run_woven(cx, children, fan);
    } else if (k == LOOP) {
        loop_part = run_loop(cx, n, children);
    } else if (k == ROOT) {
        TEST_CHECK(filch_run(filch_cx_pool(cx), run_node, &children[0]) == FILCH_OK);
    }
    n->value = fold(n, children, loop_part);
}

/* An allocator that refuses seven calls in eight once the pool is there. */
typedef struct moody {
    test_allocator memory;
    atomic_uint_fast64_t calls;
    atomic_bool on;
} moody;

static void *moody_alloc(void *ctx, size_t bytes, size_t align)
{
    moody *m = ctx;
    uint64_t x = test_mix(test_seed() + atomic_fetch_add(&m->calls, 1));
    if (atomic_load(&m->on) && x % 8 != 0) {
        return NULL;
    }
    return m->memory.hooks.alloc(m->memory.hooks.ctx, bytes, align);
}

static void moody_free(void *ctx, void *block, size_t bytes)
{
    moody *m = ctx;
    m->memory.hooks.free(m->memory.hooks.ctx, block, bytes);
}

static void run_programs(filch_pool *pool, size_t programs, uint64_t stream)
{
    test_rng rng = test_rng_make(stream);
    for (size_t i = 0; i < programs; i++) {
        node root = { test_rng_next(&rng), 1 + (unsigned)test_rng_below(&rng, DEPTH_MAX), 0 };
        uint64_t expected = serial_value(&root);
        test_pool_run(pool, run_node, &root);
        if (root.value != expected) {
            print_error("program %zu of stream %llu, key 0x%llx, depth %u\n", i,
                        (unsigned long long)stream, (unsigned long long)root.key, root.depth);
        }
        assert_true(root.value == expected);
    }
}

static void tasks__random_programs__value_of_the_plain_recursion(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 8; workers *= 2) {
        filch_pool *pool = test_pool_make(workers);
        atomic_store(&posted, 0);
        atomic_store(&detached_runs, 0);
        run_programs(pool, test_count(400, 60), workers);
        test_pool_close(pool);
        assert_true(test_is_short() || atomic_load(&posted) > 0);
        assert_int_equal(atomic_load(&detached_runs), atomic_load(&posted));
    }
}

static void tasks__memory_fails_at_random__same_values(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 8; workers *= 2) {
        static moody m;
        filch_allocator hooks = { moody_alloc, moody_free, &m };
        filch_pool_config config = FILCH_POOL_CONFIG_INIT;
        size_t rounds = test_count(20, 3);
        for (size_t round = 0; round < rounds; round++) {
            test_allocator_init(&m.memory);
            atomic_store(&m.on, false);
            config.workers = workers;
            config.allocator = &hooks;
            filch_pool *pool = test_pool_make_as(&config);
            atomic_store(&posted, 0);
            atomic_store(&detached_runs, 0);
            atomic_store(&m.on, true);
            run_programs(pool, 15, 1000 + 10 * round + workers);
            test_pool_close(pool);
            assert_int_equal(atomic_load(&detached_runs), atomic_load(&posted));
            test_allocator_assert_balanced(&m.memory);
        }
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(tasks__random_programs__value_of_the_plain_recursion),
        cmocka_unit_test(tasks__memory_fails_at_random__same_values),
    };
    test_begin(100);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
