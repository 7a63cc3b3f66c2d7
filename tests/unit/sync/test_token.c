/* SPDX-License-Identifier: MIT */
/* Tokens: what a stop reaches, misuse and its status, and that whoever waits with one is woken. */
#include <filch/task.h>

#include "support/test.h"

#include "base/alloc.h"
#include "base/compiler.h"
#include "support/alloc.h"
#include "support/child.h"
#include "sync/token.h"

static filch_token *make(filch_token *parent)
{
    filch_token *token = NULL;
    assert_int_equal(filch_token_create(parent, NULL, &token), FILCH_OK);
    assert_non_null(token);
    return token;
}

static void destroy(filch_token *token)
{
    assert_int_equal(filch_token_destroy(token), FILCH_OK);
}

static void stop__parent__reaches_all_below_and_nobody_else(void **state)
{
    (void)state;
    filch_token *root = make(NULL);
    filch_token *left = make(root);
    filch_token *right = make(root);
    filch_token *leaves[4] = { make(left), make(left), make(right), make(right) };
    assert_int_equal(filch_token_stop(left), FILCH_OK);
    assert_true(filch_token_stopped(left));
    assert_true(filch_token_stopped(leaves[0]) && filch_token_stopped(leaves[1]));
    assert_false(filch_token_stopped(root) || filch_token_stopped(right));
    assert_false(filch_token_stopped(leaves[2]) || filch_token_stopped(leaves[3]));
    assert_int_equal(filch_token_stop(left), FILCH_OK); /* again */
    filch_token *late = make(leaves[0]);
    assert_true(filch_token_stopped(late));
    assert_int_equal(filch_token_stop(root), FILCH_OK);
    assert_true(filch_token_stopped(right) && filch_token_stopped(leaves[3]));
    destroy(late);
    for (int i = 0; i < 4; i++) {
        destroy(leaves[i]);
    }
    destroy(left);
    destroy(right);
    destroy(root);
}

static void stop__a_chain_of_many__without_recursion(void **state)
{
    enum { DEEP = 100000 };
    static filch_token *chain[DEEP];
    (void)state;
    for (int i = 0; i < DEEP; i++) {
        chain[i] = make(i == 0 ? NULL : chain[i - 1]);
    }
    assert_int_equal(filch_token_stop(chain[1]), FILCH_OK);
    assert_false(filch_token_stopped(chain[0]));
    assert_true(filch_token_stopped(chain[1]) && filch_token_stopped(chain[DEEP - 1]));
    for (int i = DEEP; i-- != 0;) {
        destroy(chain[i]);
    }
}

static void token__misuse__has_a_status(void **state)
{
    filch_token *token = NULL;
    const filch_allocator half = { filchi_libc_allocator.alloc, NULL, NULL };
    (void)state;
    assert_int_equal(filch_token_create(NULL, NULL, NULL), FILCH_E_INVALID);
    assert_int_equal(filch_token_create(NULL, &half, &token), FILCH_E_INVALID);
    assert_int_equal(filch_token_stop(NULL), FILCH_E_INVALID);
    assert_int_equal(filch_token_destroy(NULL), FILCH_OK);
    assert_false(filch_token_stopped(NULL));
    assert_false(filch_stopped(NULL));
    assert_null(token);
    token = make(NULL);
    filch_token *child = make(token);
    assert_int_equal(filch_token_destroy(token), FILCH_E_BUSY);
    assert_false(filch_token_stopped(token));
    destroy(child);
    destroy(token);
}

static void create__without_memory__status_and_nothing_kept(void **state)
{
    test_allocator memory;
    filch_token *token = NULL;
    (void)state;
    test_allocator_init(&memory);
    test_allocator_fail(&memory, 1, true);
    assert_int_equal(filch_token_create(NULL, &memory.hooks, &token), FILCH_E_NOMEM);
    assert_null(token);
    test_allocator_fail(&memory, 0, false);
    assert_int_equal(filch_token_create(NULL, &memory.hooks, &token), FILCH_OK);
    destroy(token);
    test_allocator_assert_balanced(&memory);
}

/* Waits. */

typedef struct wait_of {
    filchi_token_wait wait;
    unsigned wakes;
} wait_of;

static void count_wake(filchi_token_wait *wait)
{
    FILCHI_CONTAINER(wait, wait_of, wait)->wakes++;
}

static void stop__waits__each_is_woken_once_and_keeps_the_token(void **state)
{
    wait_of waits[3] = { 0 };
    (void)state;
    filch_token *root = make(NULL);
    filch_token *child = make(root);
    assert_true(filchi_token_enter(root, &waits[0].wait, count_wake));
    assert_true(filchi_token_enter(child, &waits[1].wait, count_wake));
    assert_true(filchi_token_enter(child, &waits[2].wait, count_wake));
    filchi_token_leave(child, &waits[2].wait);
    assert_int_equal(filch_token_destroy(child), FILCH_E_BUSY);
    assert_int_equal(filch_token_stop(root), FILCH_OK);
    assert_int_equal(filch_token_stop(child), FILCH_OK);
    assert_int_equal(waits[0].wakes, 1);
    assert_int_equal(waits[1].wakes, 1);
    assert_int_equal(waits[2].wakes, 0);
    assert_false(filchi_token_enter(child, &waits[2].wait, count_wake));
    assert_int_equal(filch_token_destroy(child), FILCH_E_BUSY);
    filchi_token_leave(child, &waits[1].wait);
    destroy(child);
    filchi_token_leave(root, &waits[0].wait);
    assert_true(filchi_token_enter(NULL, &waits[2].wait, count_wake)); /* no token */
    filchi_token_leave(NULL, &waits[2].wait);
    destroy(root);
}

/* Children come and go in one thread while another stops the root, again and again. */
typedef struct family {
    filch_token *root;
    atomic_uint begun;
} family;

static void *live(void *arg)
{
    family *f = arg;
    atomic_fetch_add(&f->begun, 1);
    for (bool stopped = false; !stopped;) {
        filch_token *child = make(f->root);
        filch_token *grandchild = make(child);
        stopped = filch_token_stopped(grandchild) != 0;
        TEST_CHECK(filch_token_destroy(grandchild) == FILCH_OK);
        TEST_CHECK(filch_token_destroy(child) == FILCH_OK);
    }
    return NULL;
}

static void stop__children_come_and_go__all_see_it(void **state)
{
    enum { THREADS = 3 };
    const size_t rounds = test_count(300, 100);
    (void)state;
    for (size_t i = 0; i < rounds; i++) {
        pthread_t threads[THREADS];
        family f = { .root = make(NULL) };
        for (int t = 0; t < THREADS; t++) {
            test_thread_start(&threads[t], live, &f);
        }
        test_await(&f.begun, 1 + (unsigned)(i % THREADS));
        assert_int_equal(filch_token_stop(f.root), FILCH_OK);
        for (int t = 0; t < THREADS; t++) {
            test_thread_join(threads[t]);
        }
        destroy(f.root);
    }
    test_assert_clean();
}

/* In a child of fork(): asking works, the rest says so, and destroying frees. */
static void in_child(void *arg)
{
    filch_token *token = arg;
    filch_token *other = NULL;
    TEST_CHILD_CHECK(!filch_token_stopped(token));
    TEST_CHILD_CHECK(filch_token_stop(token) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_token_create(token, NULL, &other) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_token_destroy(token) == FILCH_OK);
    TEST_CHILD_CHECK(filch_token_create(NULL, NULL, &other) == FILCH_OK);
    TEST_CHILD_CHECK(filch_token_stop(other) == FILCH_OK);
    TEST_CHILD_CHECK(filch_token_destroy(other) == FILCH_OK);
}

static void token__after_fork__asked_only(void **state)
{
    (void)state;
    filch_token *token = make(NULL);
    test_assert_child_ok(in_child, token);
    destroy(token);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(stop__parent__reaches_all_below_and_nobody_else),
        cmocka_unit_test(stop__a_chain_of_many__without_recursion),
        cmocka_unit_test(token__misuse__has_a_status),
        cmocka_unit_test(create__without_memory__status_and_nothing_kept),
        cmocka_unit_test(stop__waits__each_is_woken_once_and_keeps_the_token),
        cmocka_unit_test(token__after_fork__asked_only),
        cmocka_unit_test(stop__children_come_and_go__all_see_it),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
