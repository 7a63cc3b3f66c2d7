/* SPDX-License-Identifier: MIT */
/* Memory of the deque: an allocation that fails loses nothing, nothing leaks, and the buffers kept
 * for late thieves are bounded. */
#include "support/test.h"

#include <filch/deque.h>

#include "support/alloc.h"

enum { FILL = 3000 };

static filch_item make_item(uintptr_t n)
{
    filch_item item = { n, (uintptr_t)test_mix(n + 1) };
    return item;
}

/* Push 0..FILL-1, again after a failure for lack of memory, and count these. */
static size_t push_through(filch_deque *deque, test_allocator *memory)
{
    size_t refused = 0;
    for (uintptr_t n = 0; n < FILL; n++) {
        filch_status status = filch_deque_push(deque, make_item(n));
        while (status == FILCH_E_NOMEM) {
            assert_int_equal(filch_deque_size(deque), n);
            refused++;
            test_allocator_fail(memory, 0, false);
            status = filch_deque_push(deque, make_item(n));
        }
        assert_int_equal(status, FILCH_OK);
    }
    return refused;
}

static void expect_all(filch_deque *deque, size_t count)
{
    for (uintptr_t n = 0; n < count; n++) {
        filch_item item = { 0, 0 };
        assert_int_equal(filch_deque_steal(deque, &item), FILCH_STEAL_GOT);
        assert_int_equal(item.first, n);
        assert_int_equal(item.second, (uintptr_t)test_mix(n + 1));
    }
    filch_item item;
    assert_int_equal(filch_deque_pop(deque, &item), 0);
}

/* The k-th allocation of a whole life fails, for each k until a life needs no more of them. */
static void deque__kth_allocation_fails__status_and_nothing_lost(void **state)
{
    unsigned long k = 1;
    size_t failed_pushes = 0;
    unsigned failed_creates = 0;
    (void)state;
    for (;; k++) {
        test_allocator memory;
        int marker = 0;
        filch_deque *deque = (filch_deque *)(void *)&marker;
        test_allocator_init(&memory);
        test_allocator_fail(&memory, k, false);
        filch_status status = filch_deque_create(1, 8192, &memory.hooks, &deque);
        if (status != FILCH_OK) {
            assert_int_equal(status, FILCH_E_NOMEM);
            assert_ptr_equal(deque, &marker);
            test_allocator_assert_balanced(&memory);
            failed_creates++;
            continue;
        }
        failed_pushes += push_through(deque, &memory);
        expect_all(deque, FILL);
        bool failed = atomic_load(&memory.calls) >= k;
        filch_deque_destroy(deque);
        test_allocator_assert_balanced(&memory);
        if (!failed) {
            break;
        }
    }
    assert_true(failed_creates >= 1);
    assert_true(failed_pushes >= 12);
    assert_int_equal(failed_creates + failed_pushes, k - 1);
}

/* Memory is gone for good: pushes fail, what is in stays, and room made by pops can be used. */
static void deque__no_memory_for_good__works_within_its_buffer(void **state)
{
    (void)state;
    for (size_t capacity = 1; capacity <= 64; capacity *= 2) {
        test_allocator memory;
        filch_deque *deque = NULL;
        filch_item item;
        test_allocator_init(&memory);
        assert_int_equal(filch_deque_create(capacity, 4096, &memory.hooks, &deque), FILCH_OK);
        test_allocator_fail(&memory, 1, true);
        for (uintptr_t n = 0; n < capacity; n++) {
            assert_int_equal(filch_deque_push(deque, make_item(n)), FILCH_OK);
        }
        for (int again = 0; again < 3; again++) {
            assert_int_equal(filch_deque_push(deque, make_item(1000)), FILCH_E_NOMEM);
        }
        assert_int_equal(filch_deque_capacity(deque), capacity);
        assert_int_equal(filch_deque_pop(deque, &item), 1);
        assert_int_equal(item.first, capacity - 1);
        assert_int_equal(filch_deque_push(deque, item), FILCH_OK);
        assert_int_equal(filch_deque_push(deque, make_item(1000)), FILCH_E_NOMEM);
        test_allocator_fail(&memory, 0, false);
        assert_int_equal(filch_deque_push(deque, make_item(capacity)), FILCH_OK);
        expect_all(deque, capacity + 1);
        filch_deque_destroy(deque);
        test_allocator_assert_balanced(&memory);
    }
}

/* The largest capacity there is: no overflow in the size of the buffer, only no memory. */
static void deque__largest_capacity__nomem(void **state)
{
    test_allocator memory;
    int marker = 0;
    filch_deque *deque = (filch_deque *)(void *)&marker;
    (void)state;
    test_allocator_init(&memory);
    atomic_store(&memory.refuse_above, (size_t)1 << 30);
    assert_int_equal(filch_deque_create(FILCH_DEQUE_MAX_CAPACITY, FILCH_DEQUE_MAX_CAPACITY,
                                        &memory.hooks, &deque),
                     FILCH_E_NOMEM);
    assert_ptr_equal(deque, &marker);
    assert_int_equal(filch_deque_create(FILCH_DEQUE_MAX_CAPACITY - 1, FILCH_DEQUE_MAX_CAPACITY,
                                        &memory.hooks, &deque),
                     FILCH_E_NOMEM);
    assert_ptr_equal(deque, &marker);
    test_allocator_assert_balanced(&memory);
}

static void fill_and_drain(filch_deque *deque, size_t count, bool from_top)
{
    size_t wrong = 0;
    for (uintptr_t n = 0; n < count; n++) {
        wrong += (filch_deque_push(deque, make_item(n)) != FILCH_OK);
    }
    for (uintptr_t n = 0; n < count; n++) {
        filch_item item = { count, 0 };
        if (from_top) {
            wrong += (filch_deque_steal(deque, &item) != FILCH_STEAL_GOT || item.first != n);
        } else {
            wrong += (filch_deque_pop(deque, &item) != 1 || item.first != count - 1 - n);
        }
    }
    assert_int_equal(wrong, 0);
}

static void deque__hundred_rounds_of_a_million__retired_below_in_use(void **state)
{
    enum { ITEMS = 1000000 };
    size_t rounds = test_count(100, 6);
    test_allocator memory;
    filch_deque *deque = NULL;
    size_t bytes_after_first = 0;
    (void)state;
    test_allocator_init(&memory);
    assert_int_equal(filch_deque_create(1, 1 << 21, &memory.hooks, &deque), FILCH_OK);
    for (size_t round = 0; round < rounds; round++) {
        fill_and_drain(deque, ITEMS, (round & 1U) != 0);
        size_t in_use = filch_deque_capacity(deque) * sizeof(filch_item);
        assert_int_equal(filch_deque_capacity(deque), 1 << 20);
        assert_true(filch_deque_retired_bytes(deque) < in_use);
        assert_true(filch_deque_retired_bytes(deque) > 0);
        if (round == 0) {
            bytes_after_first = atomic_load(&memory.live_bytes);
            assert_true(bytes_after_first >= in_use + filch_deque_retired_bytes(deque));
            assert_true(bytes_after_first < 2 * in_use + 65536);
        }
        assert_int_equal(atomic_load(&memory.live_bytes), bytes_after_first);
    }
    filch_deque_destroy(deque);
    test_allocator_assert_balanced(&memory);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(deque__kth_allocation_fails__status_and_nothing_lost),
        cmocka_unit_test(deque__no_memory_for_good__works_within_its_buffer),
        cmocka_unit_test(deque__largest_capacity__nomem),
        cmocka_unit_test(deque__hundred_rounds_of_a_million__retired_below_in_use),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
