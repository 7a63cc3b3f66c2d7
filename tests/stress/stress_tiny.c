/* SPDX-License-Identifier: MIT */
/* Tiny tasks in great number, where schedulers of others have lost some: sets of ten that add to a
 * sum per worker, and roots that end just as their waiter goes to sleep. */
#include "support/pool.h"

#include <string.h>

enum { SET = 10, WORKERS = 4, WORST_DELAY_NS = 2000 };

/* A worker's own, in plain memory: ordered by the pool's calls alone. */
typedef struct sums {
    _Alignas(128) uint64_t of[WORKERS][16];
} sums;

typedef struct parcel {
    sums *into;
    uint64_t number;
} parcel;

static void add(filch_cx *cx, void *data)
{
    const parcel *p = data;
    p->into->of[filch_cx_worker(cx)][0] += p->number;
}

static void sets__of_ten_tiny_tasks__closed_form(void **state)
{
    static sums s;
    const uint64_t sets = test_count(2000, 100);
    const size_t rounds = test_count(20, 4);
    filch_pool *pool = test_pool_make(WORKERS);
    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        memset(&s, 0, sizeof(s));
        for (uint64_t i = 0; i < sets * SET; i++) {
            const parcel p = { &s, i };
            assert_int_equal(filch_post(pool, add, &p, sizeof(p), NULL), FILCH_OK);
        }
        assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
        uint64_t sum = 0;
        for (int worker = 0; worker < WORKERS; worker++) {
            sum += s.of[worker][0];
        }
        assert_int_equal(sum, sets * SET * (sets * SET - 1) / 2);
    }
    test_pool_close(pool);
}

static void delay(filch_cx *cx, void *arg)
{
    (void)cx;
    test_spin_ns(*(const uint64_t *)arg);
}

static uintptr_t delay_word(filch_cx *cx, uintptr_t ns)
{
    (void)cx;
    test_spin_ns(ns);
    return ns;
}

/* Forks that are stolen, and end while their parent registers at the latch. */
static void fork_delays(filch_cx *cx, void *arg)
{
    test_rng *rng = arg;
    const uint64_t first = test_rng_below(rng, WORST_DELAY_NS);
    const uint64_t second = test_rng_below(rng, WORST_DELAY_NS);
    const filch_pair pair = filch_join2_word(cx, delay_word, first, delay_word, second);
    TEST_CHECK(pair.first == first && pair.second == second);
}

static void wait__for_what_ends_right_now__returns(void **state)
{
    const size_t rounds = test_count(100000, 5000);
    test_rng rng = test_rng_make(1);
    filch_pool *pool = test_pool_make(2);
    (void)state;
    for (size_t i = 0; i < rounds; i++) {
        uint64_t ns = test_rng_below(&rng, WORST_DELAY_NS);
        assert_int_equal(filch_run(pool, (i & 1) != 0 ? delay : fork_delays,
                                   (i & 1) != 0 ? (void *)&ns : (void *)&rng),
                         FILCH_OK);
    }
    test_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(sets__of_ten_tiny_tasks__closed_form),
        cmocka_unit_test(wait__for_what_ends_right_now__returns),
    };
    test_begin(200);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
