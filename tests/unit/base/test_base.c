/* SPDX-License-Identifier: MIT */
/* The base room: random numbers, lists, memory, fault points. */
#include "support/test.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "base/compiler.h"
#include "base/fault.h"
#include "base/list.h"
#include "base/rng.h"
#include "support/alloc.h"
#include "support/child.h"

static void rng__same_seed__same_numbers(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        filchi_rng a;
        filchi_rng b;
        filchi_rng_seed(&a, seed);
        filchi_rng_seed(&b, seed);
        for (int i = 0; i < 100; i++) {
            assert_int_equal(filchi_rng_next(&a), filchi_rng_next(&b));
        }
    }
}

static void rng__neighbouring_seeds__unrelated_numbers(void **state)
{
    size_t equal_bits = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        filchi_rng a;
        filchi_rng b;
        filchi_rng_seed(&a, seed);
        filchi_rng_seed(&b, seed + 1);
        assert_true(a.state != 0);
        uint32_t differ = filchi_rng_next(&a) ^ filchi_rng_next(&b);
        equal_bits += 32U - (size_t)__builtin_popcount(differ);
    }
    /* Half of 32000, seven standard deviations wide; the seeds are fixed, so this never varies. */
    assert_in_range(equal_bits, 16000 - 630, 16000 + 630);
}

static void rng__seed_that_mixes_to_zero__state_is_not_zero(void **state)
{
    filchi_rng rng;
    (void)state;
    filchi_rng_seed(&rng, UINT64_C(0) - UINT64_C(0x9e3779b97f4a7c15));
    assert_true(rng.state != 0);
    assert_true(filchi_rng_next(&rng) != filchi_rng_next(&rng));
}

static void rng_below__any_bound__uniform(void **state)
{
    static const uint32_t bounds[] = { 1, 2, 3, 7, 64, 100 };
    enum { DRAWS = 100000 };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(bounds); i++) {
        size_t counts[100] = { 0 };
        filchi_rng rng;
        double chi = 0;
        double expected = (double)DRAWS / bounds[i];
        filchi_rng_seed(&rng, 42);
        for (int draw = 0; draw < DRAWS; draw++) {
            uint32_t n = filchi_rng_below(&rng, bounds[i]);
            assert_true(n < bounds[i]);
            counts[n]++;
        }
        for (uint32_t n = 0; n < bounds[i]; n++) {
            double off = (double)counts[n] - expected;
            chi += off * off / expected;
        }
        /* Mean k - 1, deviation sqrt(2 (k - 1)); fixed seed. */
        double freedom = bounds[i] - 1.0;
        assert_true(chi <= freedom + 5.0 * sqrt(2.0 * freedom + 1.0));
    }
}

typedef struct element {
    int number;
    filchi_link link;
} element;

static void expect_order(filchi_link *head, const int *numbers, size_t count)
{
    filchi_link *at = head->next;
    for (size_t i = 0; i < count; i++, at = at->next) {
        assert_ptr_not_equal(at, head);
        assert_ptr_equal(at->next->prev, at);
        assert_int_equal(FILCHI_CONTAINER(at, element, link)->number, numbers[i]);
    }
    assert_ptr_equal(at, head);
    assert_int_equal(filchi_list_empty(head), count == 0);
}

static void list__pushed_at_both_ends_and_removed__keeps_its_order(void **state)
{
    filchi_link head;
    element e[5];
    (void)state;
    filchi_list_init(&head);
    expect_order(&head, NULL, 0);
    for (int i = 0; i < 5; i++) {
        e[i].number = i;
        filchi_list_init(&e[i].link);
        if (i % 2 == 0) {
            filchi_list_push_back(&head, &e[i].link);
        } else {
            filchi_list_push_front(&head, &e[i].link);
        }
    }
    expect_order(&head, (const int[]){ 3, 1, 0, 2, 4 }, 5);
    filchi_list_remove(&e[0].link);
    assert_true(filchi_list_empty(&e[0].link));
    expect_order(&head, (const int[]){ 3, 1, 2, 4 }, 4);
    filchi_list_remove(&e[0].link); /* unlinked: points at itself, nothing happens */
    filchi_list_remove(&e[3].link);
    filchi_list_remove(&e[4].link);
    expect_order(&head, (const int[]){ 1, 2 }, 2);
    filchi_list_remove(&e[1].link);
    filchi_list_remove(&e[2].link);
    expect_order(&head, NULL, 0);
}

static void alloc__any_size__aligned_to_a_cache_line(void **state)
{
    static const size_t sizes[] = { 1, 7, 64, 127, 128, 129, 1000, 4096, 100000 };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(sizes); i++) {
        errno = 4711;
        unsigned char *block = filchi_alloc_zeroed(&filchi_libc_allocator, sizes[i]);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % FILCHI_CACHELINE, 0);
        for (size_t k = 0; k < sizes[i]; k++) {
            assert_int_equal(block[k], 0);
        }
        filchi_free(&filchi_libc_allocator, block, sizes[i]);
        assert_int_equal(errno, 4711);
    }
    filchi_free(&filchi_libc_allocator, NULL, 10);
}

static void alloc__size_that_overflows__null(void **state)
{
    (void)state;
    errno = 4711;
    assert_null(filchi_alloc(&filchi_libc_allocator, SIZE_MAX));
    assert_null(filchi_alloc(&filchi_libc_allocator, SIZE_MAX - 10));
    assert_null(filchi_alloc(&filchi_libc_allocator, SIZE_MAX - FILCHI_CACHELINE + 1));
    assert_int_equal(errno, 4711);
}

static void alloc__users_allocator__asked_with_the_right_sizes(void **state)
{
    test_allocator memory;
    (void)state;
    test_allocator_init(&memory);
    assert_true(filchi_allocator_valid(NULL));
    assert_true(filchi_allocator_valid(&memory.hooks));
    void *a = filchi_alloc(&memory.hooks, 100);
    void *b = filchi_alloc_zeroed(&memory.hooks, 300);
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(atomic_load(&memory.live_bytes), 400);
    filchi_free(&memory.hooks, a, 100);
    filchi_free(&memory.hooks, NULL, 5);
    filchi_free(&memory.hooks, b, 300);
    test_allocator_assert_balanced(&memory);
}

typedef struct point_log {
    unsigned hits[FILCHI_AT_POINT_COUNT];
    bool answer;
} point_log;

static bool log_point(void *ctx, filchi_point point)
{
    point_log *log = ctx;
    log->hits[point]++;
    return log->answer;
}

static void points__installed_and_removed__decide_allocations(void **state)
{
    point_log log = { { 0 }, true };
    (void)state;
    assert_false(filchi_point_hit(FILCHI_AT_ALLOC));
    filchi_points_set(log_point, &log);
    assert_null(filchi_alloc(&filchi_libc_allocator, 10));
    assert_null(filchi_alloc_zeroed(&filchi_libc_allocator, 10));
    assert_int_equal(log.hits[FILCHI_AT_ALLOC], 2);
    assert_true(filchi_point_hit(FILCHI_AT_STEAL_WON));
    log.answer = false;
    void *block = filchi_alloc(&filchi_libc_allocator, 10);
    assert_non_null(block);
    filchi_free(&filchi_libc_allocator, block, 10);
    filchi_points_set(NULL, NULL);
    assert_false(filchi_point_hit(FILCHI_AT_ALLOC));
    assert_int_equal(log.hits[FILCHI_AT_ALLOC], 3);
    assert_int_equal(log.hits[FILCHI_AT_STEAL_WON], 1);
}

static void break_a_rule(void *arg)
{
    FILCHI_RULE(arg == NULL, "this is fine");
    FILCHI_RULE(arg != NULL, "the rule that was broken");
}

static void check__rule_broken__aborts_with_its_sentence(void **state)
{
    (void)state;
    test_assert_child_aborts(break_a_rule, NULL, "filch: the rule that was broken");
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(rng__same_seed__same_numbers),
        cmocka_unit_test(rng__neighbouring_seeds__unrelated_numbers),
        cmocka_unit_test(rng__seed_that_mixes_to_zero__state_is_not_zero),
        cmocka_unit_test(rng_below__any_bound__uniform),
        cmocka_unit_test(list__pushed_at_both_ends_and_removed__keeps_its_order),
        cmocka_unit_test(alloc__any_size__aligned_to_a_cache_line),
        cmocka_unit_test(alloc__size_that_overflows__null),
        cmocka_unit_test(alloc__users_allocator__asked_with_the_right_sizes),
        cmocka_unit_test(points__installed_and_removed__decide_allocations),
        cmocka_unit_test(check__rule_broken__aborts_with_its_sentence),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
