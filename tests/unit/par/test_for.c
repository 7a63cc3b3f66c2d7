/* SPDX-License-Identifier: MIT */
/* Loops: each index once, exact pieces, slots that nobody shares, loops from every kind of thread.
 * Nesting and isolation are in test_for_nested.c. */
#include "support/pool.h"

#include <stdlib.h>
#include <string.h>

static const unsigned worker_counts[] = { 1, 2, 4, 8 };

enum { SLOTS_MAX = 16 };

/* A loop that writes down what it was called with. */
typedef struct loop_log {
    size_t n;
    size_t grain;
    atomic_uint *indices; /* times each index was covered; NULL: only the pieces are checked */
    atomic_size_t covered;
    atomic_uint calls;
    atomic_uint slot_users[SLOTS_MAX];
    unsigned slots;
    unsigned plain[SLOTS_MAX]; /* written by whoever has the slot: TSan sees a shared one */
} loop_log;

static void log_range(filch_cx *cx, void *ctx, filch_range range)
{
    loop_log *log = ctx;
    TEST_CHECK(cx != NULL);
    TEST_CHECK(range.lo < range.hi && range.hi <= log->n);
    if (log->grain != 0) {
        TEST_CHECK(range.lo % log->grain == 0);
        TEST_CHECK(range.hi == log->n || range.hi - range.lo == log->grain);
        TEST_CHECK(range.hi - range.lo <= log->grain);
    }
    if (range.slot >= log->slots) {
        TEST_FAIL("a slot that is not below filch_slots");
        return;
    }
    TEST_CHECK(atomic_exchange(&log->slot_users[range.slot], 1) == 0);
    log->plain[range.slot]++;
    for (size_t i = range.lo; log->indices != NULL && i < range.hi; i++) {
        atomic_fetch_add_explicit(&log->indices[i], 1, memory_order_relaxed);
    }
    atomic_fetch_add(&log->covered, range.hi - range.lo);
    atomic_fetch_add(&log->calls, 1);
    TEST_CHECK(atomic_exchange(&log->slot_users[range.slot], 0) == 1);
}

/* 0: measured, any pieces will do. */
static size_t effective_grain(size_t n, size_t grain, unsigned workers)
{
    return (grain != 0) ? grain : (workers > 1 && n < (size_t)64 * workers) ? 1 : 0;
}

static void log_open(loop_log *log, size_t n, size_t grain, unsigned workers, bool each_index)
{
    memset(log, 0, sizeof(*log));
    log->n = n;
    log->grain = effective_grain(n, grain, workers);
    log->slots = workers + 1;
    if (each_index) {
        log->indices = calloc(n + 1, sizeof(*log->indices));
        if (log->indices == NULL) {
            abort();
        }
    }
}

static void log_close(loop_log *log)
{
    size_t pieces = atomic_load(&log->calls);
    if (log->grain != 0) {
        pieces = log->n / log->grain + (log->n % log->grain != 0);
    }
    unsigned in_slots = 0;
    TEST_CHECK(atomic_load(&log->covered) == log->n);
    TEST_CHECK(atomic_load(&log->calls) == pieces);
    for (size_t i = 0; log->indices != NULL && i < log->n; i++) {
        TEST_CHECK(atomic_load_explicit(&log->indices[i], memory_order_relaxed) == 1);
    }
    for (unsigned slot = 0; slot < log->slots; slot++) {
        in_slots += log->plain[slot];
    }
    TEST_CHECK(in_slots == pieces);
    free(log->indices);
}

typedef struct loop_case {
    size_t n;
    size_t grain;
    bool each_index;
} loop_case;

static void loop_here(filch_cx *cx, const loop_case *c)
{
    loop_log log;
    filch_loop options = FILCH_LOOP_INIT;
    options.grain = c->grain;
    log_open(&log, c->n, c->grain, filch_pool_workers(filch_cx_pool(cx)), c->each_index);
    TEST_CHECK(filch_for(cx, c->n, log_range, &log, (c->grain != 0) ? &options : NULL) == FILCH_OK);
    log_close(&log);
}

static void loop_on(filch_pool *pool, const loop_case *c)
{
    loop_log log;
    filch_loop options = FILCH_LOOP_INIT;
    options.grain = c->grain;
    log_open(&log, c->n, c->grain, filch_pool_workers(pool), c->each_index);
    TEST_CHECK(filch_for_on(pool, c->n, log_range, &log, &options) == FILCH_OK);
    log_close(&log);
}

static void loop_in_task(filch_cx *cx, void *arg)
{
    loop_here(cx, arg);
}

static const loop_case small_cases[] = {
    { 0, 0, true },      { 1, 0, true },       { 2, 0, true },       { 3, 0, true },
    { 7, 2, true },      { 64, 1, true },      { 101, 10, true },    { 1000, 1, true },
    { 1000, 999, true }, { 1000, 1000, true }, { 1000, 1001, true }, { 4097, 0, true },
    { 65537, 0, true },  { 100003, 17, true }, { 2, SIZE_MAX, true }
};

static void for__any_n_and_grain__each_index_once_in_exact_pieces(void **state)
{
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        filch_pool *pool = test_pool_make(worker_counts[w]);
        for (size_t i = 0; i < TEST_CASES(small_cases); i++) {
            loop_case c = small_cases[i];
            test_pool_run(pool, loop_in_task, &c);
            loop_on(pool, &c);
            test_assert_clean();
        }
        test_pool_close(pool);
    }
}

static void for__huge_n_and_grain__no_overflow(void **state)
{
    static const loop_case huge[] = { { SIZE_MAX, SIZE_MAX, false },
                                      { SIZE_MAX, SIZE_MAX - 1, false },
                                      { SIZE_MAX, SIZE_MAX / 2 + 1, false },
                                      { SIZE_MAX, (size_t)1 << 62, false },
                                      { SIZE_MAX - 1, (size_t)1 << 54, false },
                                      { SIZE_MAX / 2 + 2, SIZE_MAX / 3, false },
                                      { SIZE_MAX, 0, false },
                                      { (size_t)1 << 33, (size_t)1 << 23, false } };
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        filch_pool *pool = test_pool_make(worker_counts[w]);
        for (size_t i = 0; i < TEST_CASES(huge); i++) {
            loop_case c = huge[i];
            test_pool_run(pool, loop_in_task, &c);
            loop_on(pool, &c);
            test_assert_clean();
        }
        test_pool_close(pool);
    }
}

/* Many small loops one after another, random in size. */
static void random_loops(filch_cx *cx, void *arg)
{
    test_rng rng = test_rng_make(*(uint64_t *)arg);
    size_t rounds = test_count(2000, 200);
    for (size_t i = 0; i < rounds; i++) {
        loop_case c = { test_rng_below(&rng, 500), test_rng_below(&rng, 20), true };
        loop_here(cx, &c);
    }
}

static void for__many_random_loops__each_index_once(void **state)
{
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        uint64_t stream = w;
        filch_pool *pool = test_pool_make(worker_counts[w]);
        test_pool_run(pool, random_loops, &stream);
        test_pool_close(pool);
    }
}

/* Foreign threads, several at once, while tasks of the pool loop as well. */
static void *foreign_loops(void *arg)
{
    filch_pool *pool = arg;
    test_rng rng = test_rng_make((uint64_t)(uintptr_t)&rng);
    size_t rounds = test_count(500, 50);
    for (size_t i = 0; i < rounds; i++) {
        loop_case c = { test_rng_below(&rng, 2000), test_rng_below(&rng, 30), true };
        loop_on(pool, &c);
    }
    return NULL;
}

static void for_on__several_foreign_threads__each_loop_whole(void **state)
{
    enum { THREADS = 4 };
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        pthread_t threads[THREADS];
        uint64_t stream = 100 + w;
        filch_pool *pool = test_pool_make(worker_counts[w]);
        for (int i = 0; i < THREADS; i++) {
            test_thread_start(&threads[i], foreign_loops, pool);
        }
        test_pool_run(pool, random_loops, &stream);
        for (int i = 0; i < THREADS; i++) {
            test_thread_join(threads[i]);
        }
        test_pool_close(pool);
    }
}

/* From a task of the pool, from a worker of another one. */
typedef struct across {
    filch_pool *own;
    filch_pool *other;
} across;

static void loop_across(filch_cx *cx, void *arg)
{
    const across *a = arg;
    loop_case c = { 3000, 7, true };
    loop_on(a->own, &c);
    loop_on(a->other, &c);
    TEST_CHECK(filch_here() == cx);
}

static void for_on__from_workers__own_and_other_pool(void **state)
{
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        across a = { test_pool_make(worker_counts[w]), test_pool_make(2) };
        for (int i = 0; i < 50; i++) {
            test_pool_run(a.own, loop_across, &a);
        }
        test_pool_close(a.own);
        test_pool_close(a.other);
    }
}

/* Who takes part: a caller that is no worker sees itself as number `workers`; no more than
 * workers - 1 others are in the loop at the same time. */
typedef struct guests {
    filch_pool *pool;
    pthread_t caller;
    atomic_uint others;
    atomic_uint most_others;
    atomic_uint by_caller;
} guests;

static void count_guests(filch_cx *cx, void *ctx, filch_range range)
{
    guests *g = ctx;
    unsigned workers = filch_pool_workers(g->pool);
    (void)range;
    TEST_CHECK(filch_cx_pool(cx) == g->pool);
    if (pthread_equal(pthread_self(), g->caller)) {
        TEST_CHECK(filch_cx_worker(cx) == workers);
        TEST_CHECK(filch_here() == NULL);
        atomic_fetch_add(&g->by_caller, 1);
        test_spin_ns(5000);
        return;
    }
    TEST_CHECK(filch_cx_worker(cx) < workers);
    TEST_CHECK(filch_here() == cx);
    unsigned now = atomic_fetch_add(&g->others, 1) + 1;
    unsigned most = atomic_load(&g->most_others);
    while (now > most && !atomic_compare_exchange_weak(&g->most_others, &most, now)) {}
    test_spin_ns(20000);
    atomic_fetch_sub(&g->others, 1);
}

static void for_on__foreign_caller__at_most_workers_less_one_beside_it(void **state)
{
    filch_loop options = FILCH_LOOP_INIT;
    (void)state;
    options.grain = 1;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        unsigned workers = worker_counts[w];
        guests g = { test_pool_make(workers), pthread_self(), 0, 0, 0 };
        /* At least 20 loops, and until somebody has joined one. */
        for (int i = 0; i < 20 || (workers > 1 && atomic_load(&g.most_others) == 0); i++) {
            assert_int_equal(filch_for_on(g.pool, 200, count_guests, &g, &options), FILCH_OK);
            assert_true(atomic_load(&g.most_others) <= workers - 1);
        }
        assert_true(atomic_load(&g.by_caller) >= 20);
        test_pool_close(g.pool);
    }
}

/* All pieces of a loop run at once if there are threads enough: each waits for all the others, so
 * every worker has to be woken for it. */
typedef struct meeting {
    atomic_uint arrived;
    unsigned expected;
    filch_pool *pool;
} meeting;

static void meet(filch_cx *cx, void *ctx, filch_range range)
{
    meeting *m = ctx;
    (void)cx;
    (void)range;
    atomic_fetch_add(&m->arrived, 1);
    test_await(&m->arrived, m->expected);
}

static void meet_in_task(filch_cx *cx, void *arg)
{
    meeting *m = arg;
    filch_loop options = FILCH_LOOP_INIT;
    options.grain = 1;
    TEST_CHECK(filch_for(cx, m->expected, meet, m, &options) == FILCH_OK);
}

static void for__pieces_wait_for_each_other__all_workers_are_woken(void **state)
{
    size_t rounds = test_count(1000, 100);
    filch_loop options = FILCH_LOOP_INIT;
    (void)state;
    options.grain = 1;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        meeting m = { 0, worker_counts[w], test_pool_make(worker_counts[w]) };
        for (size_t i = 0; i < rounds; i++) {
            atomic_store(&m.arrived, 0);
            if ((i & 1U) == 0) {
                test_pool_run(m.pool, meet_in_task, &m);
            } else {
                assert_int_equal(filch_for_on(m.pool, m.expected, meet, &m, &options), FILCH_OK);
            }
            if (i % 8 == 0) {
                test_spin_ns(100000); /* let them fall asleep now and then */
            }
        }
        test_pool_close(m.pool);
    }
}

static void for__limited_to_k_participants__slots_below_k(void **state)
{
    test_rng rng = test_rng_make(9);
    filch_pool *pool = test_pool_make(4);
    (void)state;
    const size_t rounds = test_count(600, 60);
    for (size_t i = 0; i < rounds || test_pool_stats(pool).total.loops_joined == 0; i++) {
        loop_log log;
        filch_loop options = FILCH_LOOP_INIT;
        options.grain = 1;
        options.participants = 1 + (unsigned)test_rng_below(&rng, 6);
        log_open(&log, 300, 1, 4, true);
        log.slots = (options.participants < 4) ? options.participants : 4;
        assert_int_equal(filch_for_on(pool, 300, log_range, &log, &options), FILCH_OK);
        log_close(&log);
        test_assert_clean();
    }
    test_pool_close(pool);
}

static void for_on__pool_is_closed__closed_and_no_call(void **state)
{
    loop_log log;
    filch_pool *pool = test_pool_make(2);
    (void)state;
    log_open(&log, 100, 1, 2, false);
    assert_int_equal(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, NULL), FILCH_OK);
    assert_int_equal(filch_for_on(pool, 100, log_range, &log, NULL), FILCH_E_CLOSED);
    assert_int_equal(atomic_load(&log.calls), 0);
    test_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(for__any_n_and_grain__each_index_once_in_exact_pieces),
        cmocka_unit_test(for__huge_n_and_grain__no_overflow),
        cmocka_unit_test(for__many_random_loops__each_index_once),
        cmocka_unit_test(for_on__several_foreign_threads__each_loop_whole),
        cmocka_unit_test(for_on__from_workers__own_and_other_pool),
        cmocka_unit_test(for_on__foreign_caller__at_most_workers_less_one_beside_it),
        cmocka_unit_test(for__pieces_wait_for_each_other__all_workers_are_woken),
        cmocka_unit_test(for__limited_to_k_participants__slots_below_k),
        cmocka_unit_test(for_on__pool_is_closed__closed_and_no_call),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
