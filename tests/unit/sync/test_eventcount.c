/* SPDX-License-Identifier: MIT */
/* The eventcount: what each call adds to the word, whom a wake chooses, deadlines, and that a
 * waiter that registers, looks and sleeps is never missed. */
#include "support/test.h"

#include <sched.h>
#include <string.h>

#include "sync/eventcount.h"

enum { WAITERS = 4 };

typedef struct fixture {
    filchi_atomic_u64 word;
    filchi_eventcount ec;
    filchi_parker parkers[WAITERS];
    filchi_waiter waiters[WAITERS];
} fixture;

static void set_up(fixture *f, filchi_wake_order order)
{
    memset(f, 0, sizeof(*f));
    assert_true(filchi_eventcount_init(&f->ec, &f->word, order));
    for (int i = 0; i < WAITERS; i++) {
        assert_true(filchi_parker_init(&f->parkers[i]));
        filchi_waiter_init(&f->waiters[i], &f->parkers[i]);
    }
}

static void tear_down(fixture *f)
{
    for (int i = 0; i < WAITERS; i++) {
        filchi_parker_destroy(&f->parkers[i]);
    }
    filchi_eventcount_destroy(&f->ec);
}

static uint64_t word_of(const fixture *f)
{
    return filchi_load_seq_cst_u64(&f->word);
}

static int woken_one(const fixture *f)
{
    int which = -1;
    for (int i = 0; i < WAITERS; i++) {
        if (filchi_waiter_woken(&f->waiters[i])) {
            assert_int_equal(which, -1);
            which = i;
        }
    }
    return which;
}

static void expect_wake_order(filchi_wake_order order, const int *expected)
{
    fixture f;
    set_up(&f, order);
    for (int i = 0; i < WAITERS; i++) {
        filchi_eventcount_prepare(&f.ec, &f.waiters[i], 3);
    }
    assert_int_equal(word_of(&f), 3 * WAITERS);
    for (int i = 0; i < WAITERS; i++) {
        assert_true(filchi_eventcount_wake_one(&f.ec, (uint64_t)-3, 0));
        assert_int_equal(woken_one(&f), expected[i]);
        assert_true(filchi_eventcount_wait(&f.ec, &f.waiters[expected[i]], INT64_MAX, 0));
        filchi_waiter_init(&f.waiters[expected[i]], &f.parkers[expected[i]]);
    }
    assert_int_equal(word_of(&f), 0);
    assert_false(filchi_eventcount_wake_one(&f.ec, (uint64_t)-3, 0));
    assert_int_equal(word_of(&f), 0);
    tear_down(&f);
}

static void wake_one__several_wait__newest_or_oldest(void **state)
{
    (void)state;
    expect_wake_order(FILCHI_WAKE_NEWEST, (const int[]){ 3, 2, 1, 0 });
    expect_wake_order(FILCHI_WAKE_OLDEST, (const int[]){ 0, 1, 2, 3 });
}

static void wake_one__word_has_an_excluding_bit__wakes_nobody(void **state)
{
    fixture f;
    (void)state;
    set_up(&f, FILCHI_WAKE_OLDEST);
    filchi_eventcount_prepare(&f.ec, &f.waiters[0], 1);
    (void)filchi_add_seq_cst_u64(&f.word, 0x100);
    assert_false(filchi_eventcount_wake_one(&f.ec, 0x1000, 0x300));
    assert_int_equal(word_of(&f), 0x101);
    assert_int_equal(woken_one(&f), -1);
    assert_true(filchi_eventcount_wake_one(&f.ec, 0x1000 - 1, 0x200));
    assert_int_equal(word_of(&f), 0x1100);
    assert_int_equal(woken_one(&f), 0);
    assert_true(filchi_eventcount_wait(&f.ec, &f.waiters[0], INT64_MAX, 0));
    tear_down(&f);
}

static void cancel__before_and_after_a_wake__says_who_was_first(void **state)
{
    fixture f;
    (void)state;
    set_up(&f, FILCHI_WAKE_OLDEST);
    filchi_eventcount_prepare(&f.ec, &f.waiters[0], 5);
    assert_true(filchi_eventcount_cancel(&f.ec, &f.waiters[0], (uint64_t)-5));
    assert_int_equal(word_of(&f), 0);
    assert_false(filchi_eventcount_wake_one(&f.ec, 7, 0));
    filchi_eventcount_prepare(&f.ec, &f.waiters[0], 5);
    assert_true(filchi_eventcount_wake_one(&f.ec, 2, 0));
    assert_false(filchi_eventcount_cancel(&f.ec, &f.waiters[0], (uint64_t)-5));
    assert_int_equal(word_of(&f), 7);
    assert_false(filchi_park(&f.parkers[0], 0)); /* the token of the wake is gone */
    tear_down(&f);
}

static void wait__deadline_passes__has_left(void **state)
{
    fixture f;
    (void)state;
    set_up(&f, FILCHI_WAKE_OLDEST);
    for (int i = 0; i < 10; i++) {
        int64_t deadline = filchi_clock_ns() + 200000;
        filchi_eventcount_prepare(&f.ec, &f.waiters[0], 1);
        assert_false(filchi_eventcount_wait(&f.ec, &f.waiters[0], deadline, (uint64_t)-1));
        assert_true(filchi_clock_ns() >= deadline);
        assert_int_equal(word_of(&f), 0);
        assert_false(filchi_eventcount_wake_one(&f.ec, 9, 0));
    }
    tear_down(&f);
}

static void wait__a_token_left_over__waits_for_its_own(void **state)
{
    fixture f;
    (void)state;
    set_up(&f, FILCHI_WAKE_OLDEST);
    filchi_eventcount_prepare(&f.ec, &f.waiters[0], 1);
    filchi_unpark(&f.parkers[0]);
    assert_false(
        filchi_eventcount_wait(&f.ec, &f.waiters[0], filchi_clock_ns() + 300000, (uint64_t)-1));
    assert_int_equal(word_of(&f), 0);
    tear_down(&f);
}

static void wake_all__several_wait__everybody(void **state)
{
    fixture f;
    (void)state;
    set_up(&f, FILCHI_WAKE_NEWEST);
    for (int i = 0; i < WAITERS; i++) {
        filchi_eventcount_prepare(&f.ec, &f.waiters[i], 1);
    }
    filchi_eventcount_wake_all(&f.ec, (uint64_t)-1);
    assert_int_equal(word_of(&f), 0);
    for (int i = 0; i < WAITERS; i++) {
        assert_true(filchi_waiter_woken(&f.waiters[i]));
        assert_true(filchi_eventcount_wait(&f.ec, &f.waiters[i], INT64_MAX, 0));
    }
    tear_down(&f);
}

/* Consumers that register, look and sleep; producers that add, look at the word and wake. One
 * wake-up lost, and the last items are never taken. */
typedef struct market {
    filchi_atomic_u64 word;
    filchi_eventcount ec;
    filchi_atomic_u64 items;
    filchi_atomic_u32 closed;
    atomic_size_t taken;
    size_t per_producer;
} market;

static bool take_item(market *m)
{
    uint64_t items = filchi_load_seq_cst_u64(&m->items);
    while (items != 0) {
        if (filchi_cas_relaxed_u64(&m->items, &items, items - 1)) {
            atomic_fetch_add(&m->taken, 1);
            return true;
        }
    }
    return false;
}

static void *consume(void *arg)
{
    market *m = arg;
    filchi_parker parker;
    filchi_waiter waiter;
    TEST_CHECK(filchi_parker_init(&parker));
    filchi_waiter_init(&waiter, &parker);
    for (;;) {
        if (take_item(m)) {
            continue;
        }
        if (filchi_load_seq_cst_u32(&m->closed) != 0) {
            break;
        }
        filchi_eventcount_prepare(&m->ec, &waiter, 1);
        if (filchi_load_seq_cst_u64(&m->items) != 0 || filchi_load_seq_cst_u32(&m->closed) != 0) {
            (void)filchi_eventcount_cancel(&m->ec, &waiter, (uint64_t)-1);
        } else {
            (void)filchi_eventcount_wait(&m->ec, &waiter, INT64_MAX, (uint64_t)-1);
        }
    }
    filchi_parker_destroy(&parker);
    return NULL;
}

static void *produce(void *arg)
{
    market *m = arg;
    test_rng rng = test_rng_make((uint64_t)(uintptr_t)&rng);
    for (size_t i = 0; i < m->per_producer; i++) {
        (void)filchi_add_seq_cst_u64(&m->items, 1);
        if (filchi_load_seq_cst_u64(&m->word) != 0) {
            (void)filchi_eventcount_wake_one(&m->ec, (uint64_t)-1, 0);
        }
        if (test_rng_below(&rng, 4) == 0) {
            /* Alone: nobody's next item helps this one out of the queue. */
            while (filchi_load_seq_cst_u64(&m->items) != 0) {
                sched_yield();
            }
            test_spin_ns(test_rng_below(&rng, 3000));
        }
    }
    return NULL;
}

static void wait__producers_and_consumers__no_wake_up_is_lost(void **state)
{
    enum { CONSUMERS = 3, PRODUCERS = 2 };
    market m;
    pthread_t consumers[CONSUMERS];
    pthread_t producers[PRODUCERS];
    (void)state;
    memset(&m, 0, sizeof(m));
    m.per_producer = test_count(4000, 1000);
    assert_true(filchi_eventcount_init(&m.ec, &m.word, FILCHI_WAKE_NEWEST));
    for (int i = 0; i < CONSUMERS; i++) {
        test_thread_start(&consumers[i], consume, &m);
    }
    for (int i = 0; i < PRODUCERS; i++) {
        test_thread_start(&producers[i], produce, &m);
    }
    for (int i = 0; i < PRODUCERS; i++) {
        test_thread_join(producers[i]);
    }
    filchi_store_seq_cst_u32(&m.closed, 1);
    filchi_eventcount_wake_all(&m.ec, (uint64_t)-1);
    for (int i = 0; i < CONSUMERS; i++) {
        test_thread_join(consumers[i]);
    }
    assert_int_equal(atomic_load(&m.taken), PRODUCERS * m.per_producer);
    assert_int_equal(filchi_load_seq_cst_u64(&m.word), 0);
    filchi_eventcount_destroy(&m.ec);
    test_assert_clean();
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(wake_one__several_wait__newest_or_oldest),
        cmocka_unit_test(wake_one__word_has_an_excluding_bit__wakes_nobody),
        cmocka_unit_test(cancel__before_and_after_a_wake__says_who_was_first),
        cmocka_unit_test(wait__deadline_passes__has_left),
        cmocka_unit_test(wait__a_token_left_over__waits_for_its_own),
        cmocka_unit_test(wake_all__several_wait__everybody),
        cmocka_unit_test(wait__producers_and_consumers__no_wake_up_is_lost),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
