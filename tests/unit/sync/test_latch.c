/* SPDX-License-Identifier: MIT */
/* The one-shot latch: set before, during and after the wait; and whoever waits may free it at once,
 * since setting it is the setter's last touch. */
#include "support/test.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sync/latch.h"

static void latch__set_first__wait_returns_and_register_is_refused(void **state)
{
    filchi_latch latch;
    filchi_parker parker;
    (void)state;
    assert_true(filchi_parker_init(&parker));
    filchi_latch_init(&latch);
    assert_false(filchi_latch_is_set(&latch));
    filchi_latch_set(&latch);
    assert_true(filchi_latch_is_set(&latch));
    assert_false(filchi_latch_register(&latch, &parker));
    filchi_latch_wait(&latch, &parker);
    assert_false(filchi_park(&parker, 0)); /* no token was sent */
    filchi_parker_destroy(&parker);
}

static void latch__registered_then_set__one_token(void **state)
{
    filchi_latch latch;
    filchi_parker parker;
    (void)state;
    assert_true(filchi_parker_init(&parker));
    filchi_latch_init(&latch);
    assert_true(filchi_latch_register(&latch, &parker));
    assert_false(filchi_latch_is_set(&latch));
    assert_false(filchi_park(&parker, 0));
    filchi_latch_set(&latch);
    assert_true(filchi_latch_is_set(&latch));
    assert_true(filchi_park(&parker, INT64_MAX));
    assert_false(filchi_park(&parker, 0));
    assert_false(filchi_latch_unregister(&latch, &parker));
    filchi_parker_destroy(&parker);
}

static void latch__registration_taken_back__set_sends_no_token(void **state)
{
    filchi_latch latch;
    filchi_parker parker;
    (void)state;
    assert_true(filchi_parker_init(&parker));
    filchi_latch_init(&latch);
    for (int i = 0; i < 3; i++) {
        assert_true(filchi_latch_register(&latch, &parker));
        assert_true(filchi_latch_unregister(&latch, &parker));
        assert_false(filchi_latch_is_set(&latch));
    }
    filchi_latch_set(&latch);
    assert_false(filchi_park(&parker, 0));
    filchi_parker_destroy(&parker);
}

/* Waiter and setter at the same time; latch and parker die right after the wait. */
typedef struct one_shot {
    filchi_latch latch;
    filchi_parker parker;
    uint64_t result; /* plain: written before the set */
} one_shot;

typedef struct shooter {
    _Atomic(one_shot *) next;
    size_t rounds;
} shooter;

static void *set_each(void *arg)
{
    shooter *s = arg;
    test_rng rng = test_rng_make(1);
    for (size_t i = 0; i < s->rounds; i++) {
        one_shot *shot = NULL;
        while ((shot = atomic_exchange(&s->next, NULL)) == NULL) {
            sched_yield();
        }
        test_spin_ns(test_rng_below(&rng, (i % 8 == 0) ? 40000 : 2000));
        shot->result = i + 1;
        filchi_latch_set(&shot->latch);
    }
    return NULL;
}

static void latch__freed_right_after_the_wait__setter_is_done_with_it(void **state)
{
    shooter s = { NULL, test_count(4000, 1000) };
    pthread_t thread;
    (void)state;
    test_thread_start(&thread, set_each, &s);
    for (size_t i = 0; i < s.rounds; i++) {
        one_shot *shot = malloc(sizeof(*shot));
        assert_non_null(shot);
        assert_true(filchi_parker_init(&shot->parker));
        filchi_latch_init(&shot->latch);
        shot->result = 0;
        atomic_store(&s.next, shot);
        filchi_latch_wait(&shot->latch, &shot->parker);
        assert_int_equal(shot->result, i + 1);
        filchi_parker_destroy(&shot->parker);
        memset(shot, 0xDD, sizeof(*shot));
        free(shot);
    }
    test_thread_join(thread);
}

/* A waiter that looks, registers, leaves and comes back while the setter is at it. */
static void latch__registered_and_left_in_a_race__never_missed(void **state)
{
    shooter s = { NULL, test_count(4000, 1000) };
    pthread_t thread;
    filchi_parker parker;
    size_t refused = 0;
    (void)state;
    assert_true(filchi_parker_init(&parker));
    test_thread_start(&thread, set_each, &s);
    for (size_t i = 0; i < s.rounds; i++) {
        one_shot shot;
        filchi_latch_init(&shot.latch);
        shot.result = 0;
        atomic_store(&s.next, &shot);
        while (!filchi_latch_is_set(&shot.latch)) {
            if (filchi_latch_register(&shot.latch, &parker) &&
                !filchi_latch_unregister(&shot.latch, &parker)) {
                assert_true(filchi_park(&parker, INT64_MAX)); /* the token is on its way */
                refused++;
            }
        }
        assert_int_equal(shot.result, i + 1);
        assert_false(filchi_park(&parker, 0));
    }
    test_thread_join(thread);
    printf("%zu of %zu sets came between registering and leaving\n", refused, s.rounds);
    filchi_parker_destroy(&parker);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(latch__set_first__wait_returns_and_register_is_refused),
        cmocka_unit_test(latch__registered_then_set__one_token),
        cmocka_unit_test(latch__registration_taken_back__set_sends_no_token),
        cmocka_unit_test(latch__freed_right_after_the_wait__setter_is_done_with_it),
        cmocka_unit_test(latch__registered_and_left_in_a_race__never_missed),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
