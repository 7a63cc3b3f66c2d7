/* SPDX-License-Identifier: MIT */
/* The deque with delays inside a steal: between the read of the slot and the CAS, so that the owner
 * grows, wraps and pops meanwhile, and right after the CAS, so that a slot read too late has been
 * written again. Needs the library with its hooks. */
#include "support/test.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fault.h"
#include "support/thieves.h"

enum { THIEVES = 3, BURST = 64, DELAY_NS = 5000 };

typedef struct delays {
    atomic_uint_fast64_t number;
    atomic_size_t reads;
    atomic_size_t wins;
    bool after_read;
    bool after_win;
} delays;

static bool delay_steal(void *ctx, filchi_point point)
{
    delays *d = ctx;
    if (point != FILCHI_AT_STEAL_READ && point != FILCHI_AT_STEAL_WON) {
        return false;
    }
    uint64_t x = test_mix(test_seed() + atomic_fetch_add(&d->number, 1));
    if (point == FILCHI_AT_STEAL_READ && d->after_read) {
        atomic_fetch_add_explicit(&d->reads, 1, memory_order_relaxed);
        if ((x & 7U) == 0) {
            sched_yield();
        } else {
            test_spin_ns((x >> 8) % DELAY_NS);
        }
    }
    if (point == FILCHI_AT_STEAL_WON && d->after_win) {
        atomic_fetch_add_explicit(&d->wins, 1, memory_order_relaxed);
        sched_yield();
    }
    return false;
}

/* Items that live on the heap and are freed by whoever gets them: ASan sees a second hand-out, its
 * leak check a lost one. */
#define MAGIC UINT64_C(0xfeedfacecafe0001)

typedef struct parcel {
    uint64_t magic;
    uintptr_t id;
} parcel;

typedef struct post_office {
    atomic_uchar *delivered;
    uintptr_t newest[TEST_THIEVES_MAX][16];
    size_t count;
} post_office;

static filch_item parcel_send(uintptr_t id)
{
    parcel *p = malloc(sizeof(*p));
    assert_non_null(p);
    p->magic = MAGIC;
    p->id = id;
    filch_item item = { (uintptr_t)p, id };
    return item;
}

static void parcel_receive(post_office *office, filch_item item)
{
    parcel *p = (parcel *)item.first;
    uintptr_t id = item.second;
    bool known = p != NULL && id < office->count;
    TEST_CHECK(known);
    /* The count is looked at before the parcel: a second hand-out would read freed memory. */
    if (!known || atomic_fetch_add(&office->delivered[id], 1) != 0) {
        TEST_FAIL("handed out twice");
        return;
    }
    TEST_CHECK(p->magic == MAGIC && p->id == id);
    p->magic = 0;
    free(p);
}

static void thief_receives(void *ctx, unsigned thief, filch_item item)
{
    post_office *office = ctx;
    TEST_CHECK(item.second >= office->newest[thief][0]);
    office->newest[thief][0] = item.second + 1;
    parcel_receive(office, item);
}

/* One life of a deque that starts with two slots: every burst at its beginning makes it grow. */
static void parcel_round(size_t ids, uint64_t stream)
{
    post_office office = { calloc(ids, sizeof(atomic_uchar)), { { 0 } }, ids };
    filch_deque *deque = NULL;
    test_thieves team;
    test_rng rng = test_rng_make(stream);
    filch_item item;
    uintptr_t id = 0;

    assert_non_null(office.delivered);
    assert_int_equal(filch_deque_create(2, 1 << 16, NULL, &deque), FILCH_OK);
    test_thieves_start(&team, deque, THIEVES, thief_receives, &office);
    while (id < ids) {
        size_t push = 1 + test_rng_below(&rng, BURST);
        size_t pop = 1 + test_rng_below(&rng, BURST);
        for (size_t i = 0; i < push && id < ids; i++) {
            TEST_CHECK(filch_deque_push(deque, parcel_send(id++)) == FILCH_OK);
        }
        for (size_t i = 0; i < pop && filch_deque_pop(deque, &item) == 1; i++) {
            parcel_receive(&office, item);
        }
    }
    while (filch_deque_pop(deque, &item) == 1) {
        parcel_receive(&office, item);
    }
    test_thieves_stop(&team);
    filch_deque_destroy(deque);
    size_t missing = 0;
    for (size_t i = 0; i < ids; i++) {
        missing += (atomic_load(&office.delivered[i]) == 0);
    }
    free(office.delivered);
    assert_int_equal(missing, 0);
    test_assert_clean();
}

static void deque__delay_between_read_and_cas__each_item_once(void **state)
{
    delays d = { .after_read = true };
    size_t rounds = test_count(3000, 1000);
    (void)state;
    filchi_points_set(delay_steal, &d);
    for (size_t round = 0; round < rounds; round++) {
        /* Mostly short lives: growth happens at the beginning. */
        parcel_round((round % 50 == 0) ? 20000 : 200, 1000 + round);
    }
    filchi_points_set(NULL, NULL);
    printf("%zu rounds, %zu steals delayed\n", rounds, atomic_load(&d.reads));
    assert_true(atomic_load(&d.reads) > rounds / 50);
}

/* Capacity four, no growth, kept full: the owner writes a slot again as soon as it is free, while
 * the thief that emptied it stands right behind its CAS. The second word is made from the first:
 * an item is never torn. */
typedef struct full_case {
    atomic_uchar *handed_out;
    size_t count;
} full_case;

static void take_whole(full_case *c, filch_item item)
{
    bool whole = item.first < c->count && item.second == (uintptr_t)test_mix(item.first + 77);
    TEST_CHECK(whole);
    if (whole) {
        atomic_fetch_add_explicit(&c->handed_out[item.first], 1, memory_order_relaxed);
    }
}

static void thief_takes_whole(void *ctx, unsigned thief, filch_item item)
{
    (void)thief;
    take_whole(ctx, item);
}

static void keep_full(size_t count, delays *d)
{
    full_case c = { calloc(count, sizeof(atomic_uchar)), count };
    filch_deque *deque = NULL;
    test_thieves team;
    filch_item item;

    assert_non_null(c.handed_out);
    filchi_points_set(delay_steal, d);
    assert_int_equal(filch_deque_create(4, 4, NULL, &deque), FILCH_OK);
    test_thieves_start(&team, deque, 2, thief_takes_whole, &c);
    for (uintptr_t id = 0; id < count; id++) {
        filch_item pushed = { id, (uintptr_t)test_mix(id + 77) };
        while (filch_deque_push(deque, pushed) == FILCH_E_FULL) {
            if (filch_deque_pop(deque, &item) == 1) {
                take_whole(&c, item);
            }
        }
    }
    while (filch_deque_pop(deque, &item) == 1) {
        take_whole(&c, item);
    }
    test_thieves_stop(&team);
    filchi_points_set(NULL, NULL);
    printf("%zu items: %zu stolen\n", count, atomic_load(&team.stolen));
    assert_true(test_is_short() || atomic_load(&team.stolen) > 0);
    filch_deque_destroy(deque);
    size_t wrong = 0;
    for (size_t id = 0; id < count; id++) {
        wrong += (atomic_load(&c.handed_out[id]) != 1);
    }
    free(c.handed_out);
    assert_int_equal(wrong, 0);
    test_assert_clean();
}

static void deque__kept_full_with_yield_after_cas__items_are_whole(void **state)
{
    delays d = { .after_win = true };
    (void)state;
    keep_full(test_count(10000000, 1500000), &d);
    assert_true(test_is_short() || atomic_load(&d.wins) > 0);
}

static void deque__kept_full_with_delay_before_cas__items_are_whole(void **state)
{
    delays d = { .after_read = true };
    (void)state;
    keep_full(test_count(5000000, 1000000), &d);
    assert_true(test_is_short() || atomic_load(&d.reads) > 0);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(deque__delay_between_read_and_cas__each_item_once),
        cmocka_unit_test(deque__kept_full_with_yield_after_cas__items_are_whole),
        cmocka_unit_test(deque__kept_full_with_delay_before_cas__items_are_whole),
    };
    test_begin(300);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
