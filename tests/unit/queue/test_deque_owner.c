/* SPDX-License-Identifier: MIT */
/* Who owns a deque: a debug build aborts when another thread makes an owner call, and adopting
 * hands it over. Needs the library with its checks on. */
#include "support/test.h"

#include <filch/deque.h>

#include "support/child.h"

typedef enum owner_call { CALL_PUSH, CALL_POP, CALL_CAPACITY, CALL_RETIRED, CALL_COUNT } owner_call;

typedef struct foreign_case {
    filch_deque *deque;
    owner_call call;
    bool named_by_adopt;
    bool adopt_first;
} foreign_case;

static void make_call(filch_deque *deque, owner_call call)
{
    filch_item item = { 1, 2 };
    if (call == CALL_PUSH) {
        (void)filch_deque_push(deque, item);
    } else if (call == CALL_POP) {
        (void)filch_deque_pop(deque, &item);
    } else if (call == CALL_CAPACITY) {
        (void)filch_deque_capacity(deque);
    } else {
        (void)filch_deque_retired_bytes(deque);
    }
}

static void *foreign_call(void *arg)
{
    const foreign_case *c = arg;
    if (c->adopt_first) {
        filch_deque_adopt(c->deque);
    }
    make_call(c->deque, c->call);
    return NULL;
}

/* In a child: the main thread becomes the owner, then another thread makes the call. */
static void foreign_in_child(void *arg)
{
    foreign_case *c = arg;
    pthread_t thread;
    filch_item item = { 1, 2 };
    TEST_CHILD_CHECK(filch_deque_create(4, 8, NULL, &c->deque) == FILCH_OK);
    if (c->named_by_adopt) {
        filch_deque_adopt(c->deque);
    } else {
        TEST_CHILD_CHECK(filch_deque_push(c->deque, item) == FILCH_OK);
    }
    test_thread_start(&thread, foreign_call, c);
    test_thread_join(thread);
    filch_deque_destroy(c->deque);
}

static void deque__owner_call_by_another_thread__aborts_with_the_rule(void **state)
{
    (void)state;
    for (int named = 0; named < 2; named++) {
        for (owner_call call = CALL_PUSH; call <= CALL_POP; call++) {
            foreign_case c = { NULL, call, named != 0, false };
            test_assert_child_aborts(foreign_in_child, &c, "owner");
        }
    }
}

static void deque__adopted_first__owner_calls_work(void **state)
{
    (void)state;
    for (owner_call call = CALL_PUSH; call < CALL_COUNT; call++) {
        foreign_case c = { NULL, call, (call & 1) != 0, true };
        test_assert_child_ok(foreign_in_child, &c);
    }
}

/* The old owner is a foreigner after the hand-over. */
static void *adopt_and_pop(void *arg)
{
    filch_deque *deque = arg;
    filch_item item = { 0, 0 };
    filch_deque_adopt(deque);
    TEST_CHECK(filch_deque_pop(deque, &item) == 1);
    TEST_CHECK(item.first == 2);
    item.first = 3;
    TEST_CHECK(filch_deque_push(deque, item) == FILCH_OK);
    return NULL;
}

static void push_after_handing_over(void *arg)
{
    foreign_case *c = arg;
    pthread_t thread;
    filch_item item = { 1, 1 };
    TEST_CHILD_CHECK(filch_deque_create(4, 8, NULL, &c->deque) == FILCH_OK);
    TEST_CHILD_CHECK(filch_deque_push(c->deque, item) == FILCH_OK);
    item.first = 2;
    TEST_CHILD_CHECK(filch_deque_push(c->deque, item) == FILCH_OK);
    test_thread_start(&thread, adopt_and_pop, c->deque);
    test_thread_join(thread);
    TEST_CHILD_CHECK(test_failures() == 0);
    if (c->adopt_first) {
        filch_deque_adopt(c->deque);
    }
    TEST_CHILD_CHECK(filch_deque_pop(c->deque, &item) == 1);
    TEST_CHILD_CHECK(item.first == 3);
    TEST_CHILD_CHECK(filch_deque_pop(c->deque, &item) == 1);
    TEST_CHILD_CHECK(item.first == 1);
    filch_deque_destroy(c->deque);
}

static void deque__handed_over__old_owner_aborts(void **state)
{
    foreign_case c = { NULL, CALL_POP, false, false };
    (void)state;
    test_assert_child_aborts(push_after_handing_over, &c, "owner");
}

static void deque__handed_over_and_back__items_keep_their_order(void **state)
{
    foreign_case c = { NULL, CALL_POP, false, true };
    (void)state;
    test_assert_child_ok(push_after_handing_over, &c);
}

static void *steal_once(void *arg)
{
    filch_item item = { 0, 0 };
    TEST_CHECK(filch_deque_size(arg) == 2);
    TEST_CHECK(filch_deque_steal(arg, &item) == FILCH_STEAL_GOT);
    TEST_CHECK(item.first == 1);
    return NULL;
}

/* Thieves' calls are for any thread, and do not make it the owner. */
static void deque__stolen_from_by_another_thread__owner_stays(void **state)
{
    filch_deque *deque = NULL;
    pthread_t thread;
    filch_item item = { 1, 0 };
    (void)state;
    assert_int_equal(filch_deque_create(4, 8, NULL, &deque), FILCH_OK);
    assert_int_equal(filch_deque_push(deque, item), FILCH_OK);
    item.first = 2;
    assert_int_equal(filch_deque_push(deque, item), FILCH_OK);
    test_thread_start(&thread, steal_once, deque);
    test_thread_join(thread);
    test_assert_clean();
    assert_int_equal(filch_deque_pop(deque, &item), 1);
    assert_int_equal(item.first, 2);
    filch_deque_destroy(deque);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(deque__owner_call_by_another_thread__aborts_with_the_rule),
        cmocka_unit_test(deque__adopted_first__owner_calls_work),
        cmocka_unit_test(deque__handed_over__old_owner_aborts),
        cmocka_unit_test(deque__handed_over_and_back__items_keep_their_order),
        cmocka_unit_test(deque__stolen_from_by_another_thread__owner_stays),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
