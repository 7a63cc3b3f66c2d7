/* SPDX-License-Identifier: MIT */
/* Fork and join: results, order on one worker, several outstanding forks, deep recursion, and
 * children whose descriptors lie in a frame that dies right after the join. */
#include "support/pool.h"

#include <string.h>

static const unsigned worker_counts[] = { 1, 2, 4, 8 };

static uintptr_t fib_of(uintptr_t n)
{
    uintptr_t a = 0;
    uintptr_t b = 1;
    for (uintptr_t i = 0; i < n; i++) {
        uintptr_t next = a + b;
        a = b;
        b = next;
    }
    return a;
}

static uintptr_t fib_word(filch_cx *cx, uintptr_t n)
{
    if (n < 2) {
        return n;
    }
    filch_pair pair = filch_join2_word(cx, fib_word, n - 1, fib_word, n - 2);
    return pair.first + pair.second;
}

static void join2_word__fib_at_each_size__right_sum(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_CASES(worker_counts); i++) {
        filch_pool *pool = test_pool_make(worker_counts[i]);
        for (uintptr_t n = 0; n <= 22; n++) {
            uintptr_t sum = 12345;
            assert_int_equal(filch_run_word(pool, fib_word, n, &sum), FILCH_OK);
            assert_int_equal(sum, fib_of(n));
        }
        assert_int_equal(filch_run_word(pool, fib_word, 5, NULL), FILCH_OK);
        test_pool_close(pool);
    }
}

typedef struct fib_frame {
    uintptr_t n;
    uintptr_t out;
} fib_frame;

/* Fill memory as a dead frame would be; the compiler must not drop it. */
static void bury(void *memory, size_t bytes)
{
    volatile unsigned char *p = memory;
    for (size_t i = 0; i < bytes; i++) {
        p[i] = 0xDD;
    }
}

static void fib_join2(filch_cx *cx, void *arg)
{
    fib_frame *f = arg;
    if (f->n < 2) {
        f->out = f->n;
        return;
    }
    fib_frame children[2] = { { f->n - 1, 77 }, { f->n - 2, 77 } };
    filch_join2(cx, fib_join2, &children[0], fib_join2, &children[1]);
    f->out = children[0].out + children[1].out;
    bury(children, sizeof(children));
}

static uintptr_t fib_fork(filch_cx *cx, uintptr_t arg)
{
    fib_frame *f = (fib_frame *)arg;
    if (f->n < 2) {
        f->out = f->n;
        return f->n;
    }
    struct {
        filch_fork_handle handle;
        fib_frame left;
        fib_frame right;
    } frame;
    bury(&frame.handle, sizeof(frame.handle)); /* a handle needs no initialisation */
    frame.left.n = f->n - 1;
    frame.right.n = f->n - 2;
    filch_fork(cx, &frame.handle, fib_fork, (uintptr_t)&frame.right);
    uintptr_t left = fib_fork(cx, (uintptr_t)&frame.left);
    uintptr_t right = filch_join(cx, &frame.handle);
    TEST_CHECK(left == frame.left.out);
    TEST_CHECK(right == frame.right.out);
    f->out = left + right;
    uintptr_t out = f->out;
    bury(&frame, sizeof(frame));
    return out;
}

static void fib_scope(filch_cx *cx, void *arg)
{
    fib_frame *f = arg;
    if (f->n < 2) {
        f->out = f->n;
        return;
    }
    struct {
        filch_scope scope;
        fib_frame left;
        fib_frame right;
    } frame;
    bury(&frame.scope, sizeof(frame.scope));
    frame.left.n = f->n - 1;
    frame.right.n = f->n - 2;
    filch_scope_begin(cx, &frame.scope);
    filch_spawn(cx, &frame.scope, fib_scope, &frame.left);
    filch_spawn(cx, &frame.scope, fib_scope, &frame.right);
    filch_scope_end(cx, &frame.scope);
    f->out = frame.left.out + frame.right.out;
    bury(&frame, sizeof(frame));
}

static void fib_fork_root(filch_cx *cx, void *arg)
{
    (void)fib_fork(cx, (uintptr_t)arg);
}

static void fork__frame_dies_after_the_join__nobody_touches_it(void **state)
{
    filch_fn *const forms[] = { fib_join2, fib_fork_root, fib_scope };
    uintptr_t n = (TEST_UNDER_ASAN || TEST_UNDER_TSAN) ? 18 : 25;
    (void)state;
    for (size_t i = 0; i < TEST_CASES(worker_counts); i++) {
        filch_pool *pool = test_pool_make(worker_counts[i]);
        for (size_t form = 0; form < TEST_CASES(forms); form++) {
            fib_frame root = { n, 0 };
            test_pool_run(pool, forms[form], &root);
            assert_int_equal(root.out, fib_of(n));
        }
        test_pool_close(pool);
    }
}

/* Several outstanding forks, joined newest first; each child forks in turn. */
enum { OUTSTANDING = 7 };

static uintptr_t tree_leaves(uintptr_t depth)
{
    uintptr_t leaves = 1;
    for (uintptr_t i = 0; i < depth; i++) {
        leaves *= OUTSTANDING;
    }
    return leaves;
}

static uintptr_t tree(filch_cx *cx, uintptr_t depth)
{
    filch_fork_handle handles[OUTSTANDING];
    uintptr_t leaves = 0;
    if (depth == 0) {
        return 1;
    }
    for (int i = 0; i < OUTSTANDING; i++) {
        filch_fork(cx, &handles[i], tree, depth - 1);
    }
    for (int i = OUTSTANDING - 1; i >= 0; i--) {
        uintptr_t part = filch_join(cx, &handles[i]);
        TEST_CHECK(part == tree_leaves(depth - 1));
        leaves += part;
    }
    return leaves;
}

static void fork__seven_outstanding__joined_last_in_first_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_CASES(worker_counts); i++) {
        filch_pool *pool = test_pool_make(worker_counts[i]);
        for (uintptr_t depth = 0; depth <= 6; depth++) {
            uintptr_t leaves = 0;
            assert_int_equal(filch_run_word(pool, tree, depth, &leaves), FILCH_OK);
            assert_int_equal(leaves, tree_leaves(depth));
        }
        test_pool_close(pool);
    }
}

/* A fork, and others below it that come and go: the handle is used again after its join. */
static uintptr_t weave(filch_cx *cx, uintptr_t rounds)
{
    filch_fork_handle outer;
    filch_fork_handle inner;
    uintptr_t sum = 0;
    filch_fork(cx, &outer, fib_word, 10);
    for (uintptr_t i = 0; i < rounds; i++) {
        filch_fork(cx, &inner, fib_word, i % 12);
        filch_pair pair = filch_join2_word(cx, fib_word, 3, fib_word, 4);
        sum += filch_join(cx, &inner) + pair.first + pair.second;
    }
    return sum + filch_join(cx, &outer);
}

static void fork__handle_used_again__each_result_its_own(void **state)
{
    uintptr_t expected = fib_of(10);
    (void)state;
    for (uintptr_t i = 0; i < 500; i++) {
        expected += fib_of(i % 12) + fib_of(3) + fib_of(4);
    }
    for (size_t i = 0; i < TEST_CASES(worker_counts); i++) {
        filch_pool *pool = test_pool_make(worker_counts[i]);
        uintptr_t sum = 0;
        assert_int_equal(filch_run_word(pool, weave, 500, &sum), FILCH_OK);
        assert_int_equal(sum, expected);
        test_pool_close(pool);
    }
}

/* On one worker everything runs where it is: f before g, and the newest fork first. */
typedef struct order_log {
    unsigned at;
    uintptr_t entries[8];
} order_log;

static order_log the_log;

static uintptr_t log_word(filch_cx *cx, uintptr_t n)
{
    (void)cx;
    the_log.entries[the_log.at++] = n;
    return n * 10;
}

static void log_joins(filch_cx *cx, void *arg)
{
    filch_fork_handle handles[3];
    filch_pair pair = filch_join2_word(cx, log_word, 1, log_word, 2);
    (void)arg;
    TEST_CHECK(pair.first == 10);
    TEST_CHECK(pair.second == 20);
    for (uintptr_t i = 0; i < 3; i++) {
        filch_fork(cx, &handles[i], log_word, 3 + i);
    }
    for (uintptr_t i = 3; i-- > 0;) {
        TEST_CHECK(filch_join(cx, &handles[i]) == (3 + i) * 10);
    }
}

static void join2__one_worker__f_before_g_and_newest_fork_first(void **state)
{
    static const uintptr_t expected[] = { 1, 2, 5, 4, 3 };
    filch_pool *pool = test_pool_make(1);
    (void)state;
    the_log.at = 0;
    test_pool_run(pool, log_joins, NULL);
    assert_int_equal(the_log.at, TEST_CASES(expected));
    assert_memory_equal(the_log.entries, expected, sizeof(expected));
    test_pool_close(pool);
}

/* A chain of joins, each in the first half of the one above: depth, not width. */
static uintptr_t one(filch_cx *cx, uintptr_t n)
{
    (void)cx;
    return n;
}

static uintptr_t chain_first(filch_cx *cx, uintptr_t depth)
{
    if (depth == 0) {
        return 0;
    }
    filch_pair pair = filch_join2_word(cx, chain_first, depth - 1, one, 1);
    return pair.first + pair.second;
}

static uintptr_t chain_second(filch_cx *cx, uintptr_t depth)
{
    if (depth == 0) {
        return 0;
    }
    filch_pair pair = filch_join2_word(cx, one, 1, chain_second, depth - 1);
    return pair.first + pair.second;
}

static void join2__deep_recursion__sums_all_levels(void **state)
{
    uintptr_t depth = test_count(200000, 20000);
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    config.stack_bytes = (size_t)512 << 20;
    for (size_t i = 0; i < TEST_CASES(worker_counts); i++) {
        uintptr_t sum = 0;
        config.workers = worker_counts[i];
        filch_pool *pool = test_pool_make_as(&config);
        assert_int_equal(filch_run_word(pool, chain_first, depth, &sum), FILCH_OK);
        assert_int_equal(sum, depth);
        assert_int_equal(filch_run_word(pool, chain_second, depth, &sum), FILCH_OK);
        assert_int_equal(sum, depth);
        test_pool_close(pool);
    }
}

/* More roots at once than there are workers, all of them waiting for children. */
typedef struct root_thread {
    filch_pool *pool;
    size_t runs;
    uintptr_t n;
} root_thread;

static void *run_roots(void *arg)
{
    const root_thread *r = arg;
    for (size_t i = 0; i < r->runs; i++) {
        fib_frame root = { r->n, 0 };
        uintptr_t word = 0;
        TEST_CHECK(filch_run(r->pool, (i & 1U) ? fib_scope : fib_join2, &root) == FILCH_OK);
        TEST_CHECK(root.out == fib_of(r->n));
        TEST_CHECK(filch_run_word(r->pool, tree, 2, &word) == FILCH_OK);
        TEST_CHECK(word == tree_leaves(2));
    }
    return NULL;
}

static void join__all_workers_wait_for_children__all_finish(void **state)
{
    enum { ROOTS_MAX = 16 };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(worker_counts); i++) {
        filch_pool *pool = test_pool_make(worker_counts[i]);
        root_thread root = { pool, test_count(100, 10), 12 };
        pthread_t threads[ROOTS_MAX];
        unsigned roots = 2 * worker_counts[i];
        for (unsigned t = 0; t < roots; t++) {
            test_thread_start(&threads[t], run_roots, &root);
        }
        for (unsigned t = 0; t < roots; t++) {
            test_thread_join(threads[t]);
        }
        test_pool_close(pool);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(join2_word__fib_at_each_size__right_sum),
        cmocka_unit_test(fork__frame_dies_after_the_join__nobody_touches_it),
        cmocka_unit_test(fork__seven_outstanding__joined_last_in_first_out),
        cmocka_unit_test(fork__handle_used_again__each_result_its_own),
        cmocka_unit_test(join2__one_worker__f_before_g_and_newest_fork_first),
        cmocka_unit_test(join2__deep_recursion__sums_all_levels),
        cmocka_unit_test(join__all_workers_wait_for_children__all_finish),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
