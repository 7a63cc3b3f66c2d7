/* SPDX-License-Identifier: MIT */
/* How a loop shares its pieces out: between workers of different speeds, into pieces that are neither
 * too many nor too few, and between the many users of the one default pool. */
#include "support/elements.h"
#include "support/pool.h"
#include "support/proc.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* ---- workers of different speeds ----
 *
 * A race in a time of its own: an item costs a fast worker 1 and a slow one 4. Each worker has a
 * clock, and comes back from a piece when no other clock is behind its own; so pieces are taken in the
 * order in which real workers of these speeds would take them, however the machine runs the threads. */
enum { WORKERS = 8, SLOW = 2, SLOW_COST = 4, ITEMS = 8000, PATIENCE = 200000 };

typedef struct race {
    atomic_uint arrived;
    atomic_size_t started; /* items of all pieces that have begun */
    atomic_uint clocks[WORKERS];
    atomic_bool inside[WORKERS];
    atomic_bool gave_up; /* a worker did not come, or did not come back: nothing can be said */
} race;

/* Nobody is behind: or who is will not come back, since there is nothing left to take. */
static bool is_first(race *r, unsigned worker)
{
    const unsigned now = atomic_load(&r->clocks[worker]);
    const bool all_started = atomic_load(&r->started) == ITEMS;
    for (unsigned other = 0; other < WORKERS; other++) {
        const bool counts = !all_started || atomic_load(&r->inside[other]);
        if (counts && atomic_load(&r->clocks[other]) < now) {
            return false;
        }
    }
    return true;
}

static void await_turn(race *r, unsigned worker)
{
    for (unsigned tries = 0; !is_first(r, worker) && !atomic_load(&r->gave_up); tries++) {
        if (tries == PATIENCE) {
            atomic_store(&r->gave_up, true);
        }
        sched_yield();
    }
}

/* All are there before the first piece takes any time. */
static void await_all(race *r)
{
    atomic_fetch_add(&r->arrived, 1);
    for (unsigned tries = 0; atomic_load(&r->arrived) < WORKERS; tries++) {
        if (tries == PATIENCE || atomic_load(&r->gave_up)) {
            atomic_store(&r->gave_up, true);
            return;
        }
        sched_yield();
    }
}

static void run_items(filch_cx *cx, void *ctx, filch_range range)
{
    race *r = ctx;
    const unsigned worker = filch_cx_worker(cx);
    const unsigned items = (unsigned)(range.hi - range.lo);
    atomic_store(&r->inside[worker], true);
    atomic_fetch_add(&r->started, items);
    if (atomic_load(&r->clocks[worker]) == 0) {
        await_all(r);
    }
    atomic_fetch_add(&r->clocks[worker], worker < SLOW ? SLOW_COST * items : items);
    await_turn(r, worker);
    atomic_store(&r->inside[worker], false);
}

typedef struct race_call {
    race *r;
    size_t grain;
} race_call;

static void run_race(filch_cx *cx, void *arg)
{
    const race_call *call = arg;
    filch_loop options = FILCH_LOOP_INIT;
    options.grain = call->grain;
    TEST_CHECK(filch_for(cx, ITEMS, run_items, call->r, &options) == FILCH_OK);
}

/* When the last worker is done. Goes on until all of them took part from start to end. */
static unsigned time_of_race(filch_pool *pool, size_t grain)
{
    race r;
    unsigned last = 0;
    unsigned tries = 0;
    do {
        assert_true(tries++ < 50);
        memset(&r, 0, sizeof(r));
        test_pool_run(pool, run_race, &(race_call){ &r, grain });
    } while (atomic_load(&r.gave_up));
    for (unsigned worker = 0; worker < WORKERS; worker++) {
        const unsigned clock = atomic_load(&r.clocks[worker]);
        last = clock > last ? clock : last;
    }
    return last;
}

static void for__two_of_eight_workers_are_slow__loop_waits_for_neither(void **state)
{
    const double ideal = (double)ITEMS / (WORKERS - SLOW + (double)SLOW / SLOW_COST);
    filch_pool *pool = test_pool_make(WORKERS);
    (void)state;
    const unsigned fixed = time_of_race(pool, ITEMS / WORKERS);
    print_message("ideal %.0f, a piece each %u\n", ideal, fixed);
    assert_int_equal(fixed, SLOW_COST * ITEMS / WORKERS); /* 3.25 times the ideal */
    for (size_t round = 0; round < test_count(10, 3); round++) {
        /* 1/64 of a share, as a loop without a grain cuts it that runs long enough */
        const unsigned shared = time_of_race(pool, ITEMS / (64 * WORKERS));
        print_message("64 pieces each %u\n", shared);
        assert_true((double)shared <= 1.15 * ideal);
    }
    test_pool_close(pool);
}

/* ---- pieces ---- */

typedef struct pieces {
    atomic_size_t count;
    atomic_size_t largest;
    pthread_t caller;
    bool by_caller;
} pieces;

static void note_piece(filch_cx *cx, void *ctx, filch_range range)
{
    pieces *p = ctx;
    size_t seen = atomic_load(&p->largest);
    (void)cx;
    atomic_fetch_add(&p->count, 1);
    while (range.hi - range.lo > seen &&
           !atomic_compare_exchange_weak(&p->largest, &seen, range.hi - range.lo)) {}
    if (p->by_caller) {
        TEST_CHECK(pthread_equal(pthread_self(), p->caller) && range.slot == 0);
    }
}

/* The first indices are run one, two, four ... at a time for 5 us, which is a hundred calls or so; see
 * test_for_grain. */
static void for__no_grain__at_most_64_pieces_a_worker_and_the_first_few(void **state)
{
    static const size_t sizes[] = { 10000000, 9999999, 1 << 20, 100003, 8192 };
    (void)state;
    for (unsigned workers = 1; workers <= 8; workers *= 2) {
        filch_pool *pool = test_pool_make(workers);
        for (size_t i = 0; i < TEST_CASES(sizes); i++) {
            const size_t share = sizes[i] / workers;
            pieces p = { 0 };
            assert_int_equal(filch_for_on(pool, sizes[i], note_piece, &p, NULL), FILCH_OK);
            assert_true(atomic_load(&p.largest) <= share / 16);
            assert_true(atomic_load(&p.count) >= 16 * (size_t)workers);
            assert_true(atomic_load(&p.count) <= 70 * (size_t)workers + 300);
        }
        test_pool_close(pool);
    }
}

/* A new pool, so nobody has been woken for anything else. */
static void for__no_more_than_a_grain__inline_and_nobody_woken(void **state)
{
    filch_loop options = FILCH_LOOP_INIT;
    filch_pool *pool = test_pool_make(4);
    pieces p = { .caller = pthread_self(), .by_caller = true };
    (void)state;
    options.grain = 100;
    for (size_t n = 1; n <= 100; n++) {
        assert_int_equal(filch_for_on(pool, n, note_piece, &p, &options), FILCH_OK);
    }
    assert_int_equal(atomic_load(&p.count), 100);
    options.grain = 1;
    options.participants = 1;
    assert_int_equal(filch_for_on(pool, 1000, note_piece, &p, &options), FILCH_OK);
    assert_int_equal(test_pool_stats(pool).total.wakes, 0);
    assert_int_equal(test_pool_stats(pool).total.loops_joined, 0);
    test_pool_close(pool);
}

/* Trivial bodies. What the loop adds is CPU time of one worker; the least of many tries, since on a
 * busy machine most of them take longer than they need. */
enum { MANY = 10000000, TRIES = 300 };

static unsigned char *many_bytes;

static void add_bytes(filch_cx *cx, void *ctx, filch_range range)
{
    uint64_t sum = 0;
    (void)cx;
    for (size_t i = range.lo; i < range.hi; i++) {
        sum += many_bytes[i];
    }
    *(volatile uint64_t *)ctx += sum;
}

static bool hardly_more(uint64_t looped, uint64_t serial)
{
    return looped <= serial + serial / 10 + 100000;
}

static void for__ten_million_trivial_bodies__costs_hardly_more_than_serial(void **state)
{
    filch_range_fn *volatile serially = add_bytes; /* not a copy that knows the bounds */
    uint64_t sum = 0;
    uint64_t serial = UINT64_MAX;
    uint64_t looped = UINT64_MAX;
    (void)state;
    if (test_is_short()) {
        print_message("left out: CPU time says nothing at this scale\n");
        skip();
    }
    many_bytes = calloc(MANY, 1);
    assert_non_null(many_bytes);
    filch_pool *pool = test_pool_make(1);
    for (int i = 0; i < 10 || (i < TRIES && !hardly_more(looped, serial)); i++) {
        const uint64_t start = test_cpu_ns();
        serially(NULL, &sum, (filch_range){ 0, MANY, 0 });
        const uint64_t middle = test_cpu_ns();
        assert_int_equal(filch_for_on(pool, MANY, add_bytes, &sum, NULL), FILCH_OK);
        const uint64_t end = test_cpu_ns();
        serial = middle - start < serial ? middle - start : serial;
        looped = end - middle < looped ? end - middle : looped;
    }
    print_message("serial %llu us, loop %llu us\n", (unsigned long long)serial / 1000,
                  (unsigned long long)looped / 1000);
    assert_true(hardly_more(looped, serial));
    test_pool_close(pool);
    free(many_bytes);
}

/* ---- a hundred objects of a library, one default pool ---- */

enum { OBJECTS = 100, USERS = 4, SORTED = 5000 };

typedef struct census {
    atomic_uint objects;
    atomic_size_t most_threads;
} census;

static void note_threads(census *c)
{
    const size_t now = test_proc_threads(NULL, 0);
    size_t most = atomic_load(&c->most_threads);
    while (now > most && !atomic_compare_exchange_weak(&c->most_threads, &most, now)) {}
}

static void inner_body(filch_cx *cx, void *ctx, filch_range range)
{
    census *c = ctx;
    (void)cx;
    if (range.lo == 0) {
        note_threads(c);
    }
}

/* What an object does inside a task of the pool it does not know to be one. */
static void outer_body(filch_cx *cx, void *ctx, filch_range range)
{
    uint32_t numbers[SORTED];
    test_shape shape = { sizeof(numbers[0]), TEST_DESCENDING };
    (void)cx;
    (void)range;
    memset(numbers, 0x11, sizeof(numbers));
    TEST_CHECK(filch_for_on(filch_default_pool(), 100, inner_body, ctx, NULL) == FILCH_OK);
    TEST_CHECK(filch_sort_on(filch_default_pool(), numbers, SORTED, sizeof(numbers[0]),
                             test_element_compare, &shape) == FILCH_OK);
}

static void *use_objects(void *arg)
{
    census *c = arg;
    while (atomic_fetch_add(&c->objects, 1) < OBJECTS) {
        filch_loop options = FILCH_LOOP_INIT;
        options.grain = 1;
        TEST_CHECK(filch_for_on(filch_default_pool(), 20, outer_body, c, &options) == FILCH_OK);
    }
    return NULL;
}

static void for__a_hundred_users_of_the_default_pool__no_threads_but_its_own(void **state)
{
    pthread_t users[USERS];
    census c = { 0 };
    const size_t before = test_proc_threads(NULL, 0);
    (void)state;
    for (int i = 0; i < USERS; i++) {
        test_thread_start(&users[i], use_objects, &c);
    }
    for (int i = 0; i < USERS; i++) {
        test_thread_join(users[i]);
    }
    test_assert_clean();
    assert_true(atomic_load(&c.most_threads) != 0);
    assert_true(atomic_load(&c.most_threads) <=
                before + USERS + filch_pool_workers(filch_default_pool()));
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(for__a_hundred_users_of_the_default_pool__no_threads_but_its_own),
        cmocka_unit_test(for__two_of_eight_workers_are_slow__loop_waits_for_neither),
        cmocka_unit_test(for__no_grain__at_most_64_pieces_a_worker_and_the_first_few),
        cmocka_unit_test(for__no_more_than_a_grain__inline_and_nobody_woken),
        cmocka_unit_test(for__ten_million_trivial_bodies__costs_hardly_more_than_serial),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
