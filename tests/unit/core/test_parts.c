/* SPDX-License-Identifier: MIT */
/* Small parts of the core: the choice of a victim, the arena, and thread names. */
#include "support/test.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/pool.h"
#include "core/worker.h"
#include "support/alloc.h"

static void victim__any_pool_size__uniform_and_never_oneself(void **state)
{
    static const uint32_t sizes[] = { 2, 3, 5, 8, 33 };
    enum { DRAWS = 40000, SIZE_LIMIT = 33 };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(sizes); i++) {
        uint32_t workers = sizes[i];
        for (uint32_t self = 0; self < workers; self += (workers > 8) ? 8 : 1) {
            size_t counts[SIZE_LIMIT] = { 0 };
            double expected = (double)DRAWS / (workers - 1);
            double chi = 0;
            filchi_rng rng;
            filchi_rng_seed(&rng, self + 1000 * workers);
            for (int draw = 0; draw < DRAWS; draw++) {
                uint32_t victim = filchi_steal_victim(&rng, workers, self);
                assert_true(victim < workers);
                counts[victim]++;
            }
            assert_int_equal(counts[self], 0);
            for (uint32_t w = 0; w < workers; w++) {
                double off = (w != self) ? (double)counts[w] - expected : 0;
                chi += off * off / expected;
            }
            /* Mean k - 1 for k victims, deviation sqrt(2 (k - 1)); the seeds are fixed. */
            double freedom = workers - 2.0;
            assert_true(chi <= freedom + 5.0 * sqrt(2.0 * freedom + 1.0));
            assert_true(workers == 2 || chi > 0.0);
        }
    }
}

/* Blocks of random sizes, filled and looked at again, in nested marks. */
enum { DEPTH = 60 };

static void fill(unsigned char *block, size_t bytes, unsigned depth)
{
    memset(block, (int)(depth + 1), bytes);
}

static bool is_filled(const unsigned char *block, size_t bytes, unsigned depth)
{
    for (size_t i = 0; i < bytes; i++) {
        if (block[i] != (unsigned char)(depth + 1)) {
            return false;
        }
    }
    return true;
}

static void nest(filchi_arena *arena, test_rng *rng, unsigned depth)
{
    filchi_arena_mark mark = filchi_arena_here(arena);
    size_t bytes = 1 + test_rng_below(rng, (depth % 10 == 3) ? 40000 : 700);
    size_t align = (size_t)1 << test_rng_below(rng, 8);
    unsigned char *block = filchi_arena_alloc(arena, bytes, align);
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % align, 0);
    fill(block, bytes, depth);
    if (depth > 0) {
        nest(arena, rng, depth - 1);
        assert_true(is_filled(block, bytes, depth));
        nest(arena, rng, depth / 3);
    }
    assert_true(is_filled(block, bytes, depth));
    filchi_arena_release(arena, mark);
}

static void arena__nested_blocks__apart_aligned_and_kept_for_later(void **state)
{
    test_allocator memory;
    filchi_arena arena;
    (void)state;
    test_allocator_init(&memory);
    filchi_arena_init(&arena, &memory.hooks);
    assert_int_equal(atomic_load(&memory.calls), 0);
    for (uint64_t round = 0; round < 20; round++) {
        test_rng rng = test_rng_make(round % 4);
        nest(&arena, &rng, DEPTH);
        filchi_arena_mark mark = filchi_arena_here(&arena);
        assert_null(mark.chunk);
    }
    unsigned long warm = atomic_load(&memory.calls);
    for (uint64_t round = 0; round < 20; round++) {
        test_rng rng = test_rng_make(round % 4);
        nest(&arena, &rng, DEPTH);
    }
    assert_int_equal(atomic_load(&memory.calls), warm);
    filchi_arena_fini(&arena);
    test_allocator_assert_balanced(&memory);
}

static void arena__no_memory__null_and_still_usable(void **state)
{
    test_allocator memory;
    filchi_arena arena;
    (void)state;
    test_allocator_init(&memory);
    filchi_arena_init(&arena, &memory.hooks);
    test_allocator_fail(&memory, 1, false);
    assert_null(filchi_arena_alloc(&arena, 10, 8));
    unsigned char *small = filchi_arena_alloc(&arena, 10, 8);
    assert_non_null(small);
    fill(small, 10, 1);
    test_allocator_fail(&memory, 1, false);
    assert_null(filchi_arena_alloc(&arena, 1000000, 8));
    unsigned char *other = filchi_arena_alloc(&arena, 10, 8);
    assert_non_null(other);
    fill(other, 10, 2);
    assert_true(is_filled(small, 10, 1));
    assert_null(filchi_arena_alloc(&arena, SIZE_MAX, 8));
    assert_null(filchi_arena_alloc(&arena, SIZE_MAX - 64, 128));
    assert_true(is_filled(other, 10, 2));
    filchi_arena_fini(&arena);
    test_allocator_assert_balanced(&memory);
}

static void thread_name__any_prefix_and_number__fits_and_ends_in_it(void **state)
{
    static const struct {
        const char *prefix;
        unsigned number;
        const char *name;
    } rows[] = {
        { "filch", 0, "filch-0" },
        { "", 3, "-3" },
        { "averylongpoolname", 0, "averylongpool-0" },
        { "averylongpoolname", 11, "averylongpoo-11" },
        { "averylongpoolname", 4095, "averylongp-4095" },
        { "exactlythirtee", 7, "exactlythirte-7" },
        { "twelve chars", 10, "twelve chars-10" },
    };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(rows); i++) {
        char name[FILCHI_THREAD_NAME_BYTES];
        memset(name, 'x', sizeof(name));
        filchi_config_thread_name(rows[i].prefix, rows[i].number, name);
        assert_string_equal(name, rows[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(victim__any_pool_size__uniform_and_never_oneself),
        cmocka_unit_test(arena__nested_blocks__apart_aligned_and_kept_for_later),
        cmocka_unit_test(arena__no_memory__null_and_still_usable),
        cmocka_unit_test(thread_name__any_prefix_and_number__fits_and_ends_in_it),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
