/* SPDX-License-Identifier: MIT */
/* The deque on one thread: which item each end gets, the limits, and the arguments. Memory is in
 * test_deque_memory.c, ownership in test_deque_owner.c, threads in stress/stress_deque.c. */
#include "support/test.h"

#include <filch/deque.h>

#include "support/alloc.h"

enum { REFERENCE_MAX = 4096 };

/* What a deque must do, as an array: [head, tail) are the items, oldest first. */
typedef struct reference {
    uintptr_t items[REFERENCE_MAX];
    size_t head;
    size_t tail;
} reference;

static filch_item make_item(uintptr_t n)
{
    filch_item item = { n, (uintptr_t)test_mix(n) };
    return item;
}

static void assert_item(filch_item item, uintptr_t n)
{
    assert_int_equal(item.first, n);
    assert_int_equal(item.second, (uintptr_t)test_mix(n));
}

static filch_deque *make_deque(size_t capacity, size_t max_capacity)
{
    filch_deque *deque = NULL;
    assert_int_equal(filch_deque_create(capacity, max_capacity, NULL, &deque), FILCH_OK);
    assert_non_null(deque);
    return deque;
}

static void push_ok(filch_deque *deque, uintptr_t n)
{
    assert_int_equal(filch_deque_push(deque, make_item(n)), FILCH_OK);
}

static void expect_pop(filch_deque *deque, reference *ref)
{
    filch_item item = { 7, 8 };
    int got = filch_deque_pop(deque, &item);
    if (ref->head == ref->tail) {
        assert_int_equal(got, 0);
        assert_int_equal(item.first, 7);
        assert_int_equal(item.second, 8);
        return;
    }
    assert_int_equal(got, 1);
    assert_item(item, ref->items[--ref->tail]);
}

static void expect_steal(filch_deque *deque, reference *ref)
{
    filch_item item = { 7, 8 };
    filch_steal_result got = filch_deque_steal(deque, &item);
    if (ref->head == ref->tail) {
        assert_int_equal(got, FILCH_STEAL_EMPTY);
        assert_int_equal(item.first, 7);
        assert_int_equal(item.second, 8);
        return;
    }
    assert_int_equal(got, FILCH_STEAL_GOT);
    assert_item(item, ref->items[ref->head++]);
}

static void step(filch_deque *deque, reference *ref, unsigned op, uintptr_t n)
{
    if (op == 0) {
        push_ok(deque, n);
        ref->items[ref->tail++] = n;
    } else if (op == 1) {
        expect_pop(deque, ref);
    } else {
        expect_steal(deque, ref);
    }
    assert_int_equal(filch_deque_size(deque), ref->tail - ref->head);
}

/* Every sequence of nine operations, from buffers of one and of two items on. */
static void deque__every_short_sequence__owner_newest_thief_oldest(void **state)
{
    enum { LENGTH = 9, SEQUENCES = 19683 };
    (void)state;
    for (unsigned code = 0; code < 2 * SEQUENCES; code++) {
        static reference ref;
        filch_deque *deque = make_deque(1 + code / SEQUENCES, 64);
        unsigned rest = code % SEQUENCES;
        ref.head = 0;
        ref.tail = 0;
        for (uintptr_t i = 0; i < LENGTH; i++, rest /= 3) {
            step(deque, &ref, rest % 3, i + 1);
        }
        while (ref.head != ref.tail) {
            step(deque, &ref, 1 + (unsigned)(ref.tail & 1U), 0);
        }
        filch_deque_destroy(deque);
    }
}

static void deque__items_of_any_value__come_back(void **state)
{
    static const filch_item items[] = {
        { 0, 0 }, { UINTPTR_MAX, UINTPTR_MAX }, { 0, UINTPTR_MAX }, { UINTPTR_MAX, 0 }, { 1, 2 }
    };
    filch_deque *deque = make_deque(1, 16);
    filch_item got = { 9, 9 };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(items); i++) {
        assert_int_equal(filch_deque_push(deque, items[i]), FILCH_OK);
    }
    assert_int_equal(filch_deque_steal(deque, &got), FILCH_STEAL_GOT);
    assert_memory_equal(&got, &items[0], sizeof(got));
    for (size_t i = TEST_CASES(items) - 1; i > 0; i--) {
        assert_int_equal(filch_deque_pop(deque, &got), 1);
        assert_memory_equal(&got, &items[i], sizeof(got));
    }
    filch_deque_destroy(deque);
}

static void *steal_from_empty(void *arg)
{
    filch_deque *deque = arg;
    for (int i = 0; i < 1000; i++) {
        filch_item item = { 7, 8 };
        TEST_CHECK(filch_deque_steal(deque, &item) == FILCH_STEAL_EMPTY);
        TEST_CHECK(item.first == 7 && item.second == 8);
        TEST_CHECK(filch_deque_size(deque) == 0);
    }
    return NULL;
}

static void deque__thousand_pops_when_fresh__stays_empty(void **state)
{
    pthread_t thieves[2];
    filch_deque *deque = make_deque(4, 4);
    (void)state;
    for (int i = 0; i < 1000; i++) {
        filch_item item = { 7, 8 };
        assert_int_equal(filch_deque_pop(deque, &item), 0);
        assert_int_equal(item.first, 7);
        assert_int_equal(filch_deque_size(deque), 0);
    }
    for (int i = 0; i < 2; i++) {
        test_thread_start(&thieves[i], steal_from_empty, deque);
    }
    for (int i = 0; i < 2; i++) {
        test_thread_join(thieves[i]);
    }
    test_assert_clean();
    assert_int_equal(filch_deque_size(deque), 0);
    push_ok(deque, 5);
    assert_int_equal(filch_deque_size(deque), 1);
    filch_item item;
    assert_int_equal(filch_deque_steal(deque, &item), FILCH_STEAL_GOT);
    assert_item(item, 5);
    filch_deque_destroy(deque);
}

/* Grow with the oldest item at each place of the circular buffer, then empty it from both ends. */
static void grow_from(size_t capacity, size_t offset, bool from_top)
{
    static reference ref;
    filch_deque *deque = make_deque(capacity, 1024);
    size_t items = 5 * capacity + 3;
    ref.head = 0;
    ref.tail = 0;
    for (size_t i = 0; i < offset; i++) {
        step(deque, &ref, 0, i + 1);
        step(deque, &ref, 2, 0);
    }
    for (size_t i = 0; i < items; i++) {
        step(deque, &ref, 0, 100 + i);
    }
    assert_true(filch_deque_capacity(deque) >= items);
    assert_true(filch_deque_capacity(deque) < 2 * items);
    while (ref.head != ref.tail) {
        step(deque, &ref, from_top ? 2 : 1, 0);
    }
    step(deque, &ref, from_top ? 2 : 1, 0);
    filch_deque_destroy(deque);
}

static void deque__growth_at_each_offset__keeps_items_and_order(void **state)
{
    (void)state;
    for (size_t capacity = 1; capacity <= 16; capacity *= 2) {
        for (size_t offset = 0; offset <= 2 * capacity + 1; offset++) {
            grow_from(capacity, offset, true);
            grow_from(capacity, offset, false);
        }
    }
}

/* Fill a deque of fixed capacity four: 0, 1, 3 and 4 items are no limit, the fifth is. */
static void deque__fixed_capacity__full_at_exactly_the_next(void **state)
{
    (void)state;
    for (size_t offset = 0; offset < 16; offset++) {
        static reference ref;
        filch_deque *deque = make_deque(4, 4);
        ref.head = 0;
        ref.tail = 0;
        for (size_t i = 0; i < offset; i++) {
            step(deque, &ref, 0, i + 1);
            step(deque, &ref, 2, 0);
        }
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(filch_deque_capacity(deque), 4);
            step(deque, &ref, 0, 50 + i);
        }
        for (int again = 0; again < 3; again++) {
            assert_int_equal(filch_deque_push(deque, make_item(99)), FILCH_E_FULL);
            assert_int_equal(filch_deque_size(deque), 4);
        }
        step(deque, &ref, 1 + (unsigned)(offset & 1U), 0);
        step(deque, &ref, 0, 60);
        assert_int_equal(filch_deque_push(deque, make_item(99)), FILCH_E_FULL);
        for (int i = 0; i < 5; i++) {
            step(deque, &ref, (offset < 8) ? 1 : 2, 0);
        }
        assert_int_equal(filch_deque_capacity(deque), 4);
        assert_int_equal(filch_deque_retired_bytes(deque), 0);
        filch_deque_destroy(deque);
    }
}

static void deque__growth_to_the_limit__full_after_it(void **state)
{
    static const struct {
        size_t capacity;
        size_t max_capacity;
        size_t first;
        size_t limit;
    } rows[] = { { 1, 1, 1, 1 },  { 2, 8, 2, 8 },     { 3, 3, 4, 4 }, { 3, 4, 4, 4 },
                 { 1, 9, 1, 16 }, { 5, 100, 8, 128 }, { 4, 5, 4, 8 }, { 1, 2, 1, 2 } };
    (void)state;
    for (size_t row = 0; row < TEST_CASES(rows); row++) {
        static reference ref;
        filch_deque *deque = make_deque(rows[row].capacity, rows[row].max_capacity);
        ref.head = 0;
        ref.tail = 0;
        assert_int_equal(filch_deque_capacity(deque), rows[row].first);
        for (size_t i = 0; i < rows[row].limit; i++) {
            step(deque, &ref, 0, i + 1);
        }
        assert_int_equal(filch_deque_push(deque, make_item(999)), FILCH_E_FULL);
        assert_int_equal(filch_deque_capacity(deque), rows[row].limit);
        while (ref.head != ref.tail) {
            step(deque, &ref, 2, 0);
        }
        filch_deque_destroy(deque);
    }
}

static void deque__absurd_arguments__invalid_and_untouched(void **state)
{
    static const size_t bad[][2] = { { 0, 0 },
                                     { 0, 8 },
                                     { 8, 0 },
                                     { 8, 4 },
                                     { 5, 4 },
                                     { 9, 8 },
                                     { 1, FILCH_DEQUE_MAX_CAPACITY + 1 },
                                     { FILCH_DEQUE_MAX_CAPACITY + 1, FILCH_DEQUE_MAX_CAPACITY + 1 },
                                     { SIZE_MAX, SIZE_MAX },
                                     { 1, SIZE_MAX },
                                     { SIZE_MAX, 1 } };
    int marker = 0;
    filch_deque *deque = (filch_deque *)(void *)&marker;
    (void)state;
    for (size_t i = 0; i < TEST_CASES(bad); i++) {
        assert_int_equal(filch_deque_create(bad[i][0], bad[i][1], NULL, &deque), FILCH_E_INVALID);
        assert_ptr_equal(deque, &marker);
    }
    assert_int_equal(filch_deque_create(4, 8, NULL, NULL), FILCH_E_INVALID);
    filch_deque_destroy(NULL);
}

static void deque__half_an_allocator__invalid(void **state)
{
    test_allocator memory;
    int marker = 0;
    filch_deque *deque = (filch_deque *)(void *)&marker;
    (void)state;
    test_allocator_init(&memory);
    filch_allocator only_alloc = memory.hooks;
    filch_allocator only_free = memory.hooks;
    only_alloc.free = NULL;
    only_free.alloc = NULL;
    assert_int_equal(filch_deque_create(4, 8, &only_alloc, &deque), FILCH_E_INVALID);
    assert_int_equal(filch_deque_create(4, 8, &only_free, &deque), FILCH_E_INVALID);
    assert_ptr_equal(deque, &marker);
    assert_int_equal(atomic_load(&memory.calls), 0);
}

static void deque__destroyed_with_items__forgets_them(void **state)
{
    test_allocator memory;
    filch_deque *deque = NULL;
    (void)state;
    test_allocator_init(&memory);
    assert_int_equal(filch_deque_create(2, 64, &memory.hooks, &deque), FILCH_OK);
    for (uintptr_t i = 0; i < 20; i++) {
        push_ok(deque, i);
    }
    filch_deque_destroy(deque);
    test_allocator_assert_balanced(&memory);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(deque__every_short_sequence__owner_newest_thief_oldest),
        cmocka_unit_test(deque__items_of_any_value__come_back),
        cmocka_unit_test(deque__thousand_pops_when_fresh__stays_empty),
        cmocka_unit_test(deque__growth_at_each_offset__keeps_items_and_order),
        cmocka_unit_test(deque__fixed_capacity__full_at_exactly_the_next),
        cmocka_unit_test(deque__growth_to_the_limit__full_after_it),
        cmocka_unit_test(deque__absurd_arguments__invalid_and_untouched),
        cmocka_unit_test(deque__half_an_allocator__invalid),
        cmocka_unit_test(deque__destroyed_with_items__forgets_them),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
