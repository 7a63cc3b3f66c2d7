/* SPDX-License-Identifier: MIT */
/* Parking, in both forms (built with the futex and with the condition variable): a parker holds at
 * most one token, a park waits for it or for its deadline, and what the unparker wrote is seen. */
#include "support/test.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "plat/plat.h"

static int64_t in_ms(int64_t ms)
{
    return filchi_clock_ns() + ms * 1000000;
}

static void park__token_is_there__returns_at_once_and_takes_it(void **state)
{
    filchi_parker parker;
    (void)state;
    assert_true(filchi_parker_init(&parker));
    for (int i = 0; i < 100; i++) {
        filchi_unpark(&parker);
        assert_true(filchi_park(&parker, (i % 2 == 0) ? INT64_MAX : in_ms(1000)));
        assert_false(filchi_park(&parker, 0));
    }
    filchi_parker_destroy(&parker);
}

static void unpark__twice__one_token(void **state)
{
    filchi_parker parker;
    (void)state;
    assert_true(filchi_parker_init(&parker));
    filchi_unpark(&parker);
    filchi_unpark(&parker);
    filchi_unpark(&parker);
    assert_true(filchi_park(&parker, INT64_MAX));
    assert_false(filchi_park(&parker, in_ms(1)));
    assert_false(filchi_park(&parker, filchi_clock_ns()));
    filchi_parker_destroy(&parker);
}

static void park__deadline_in_the_past__looks_once(void **state)
{
    static const int64_t past[] = { 0, 1, -1, INT64_MIN, 1000 };
    filchi_parker parker;
    (void)state;
    assert_true(filchi_parker_init(&parker));
    for (size_t i = 0; i < TEST_CASES(past); i++) {
        assert_false(filchi_park(&parker, past[i]));
        filchi_unpark(&parker);
        assert_true(filchi_park(&parker, past[i]));
    }
    filchi_parker_destroy(&parker);
}

static void park__deadline__never_early_and_errno_kept(void **state)
{
    filchi_parker parker;
    (void)state;
    assert_true(filchi_parker_init(&parker));
    for (int i = 0; i < 20; i++) {
        int64_t deadline = filchi_clock_ns() + 300000 * (i + 1);
        errno = 4711;
        assert_false(filchi_park(&parker, deadline));
        assert_int_equal(errno, 4711);
        assert_true(filchi_clock_ns() >= deadline);
    }
    filchi_parker_destroy(&parker);
}

/* Two threads hand a plain word to and fro. */
typedef struct ping_pong {
    filchi_parker a;
    filchi_parker b;
    size_t rounds;
    uint64_t word; /* plain: ordered by the tokens alone */
} ping_pong;

static void *pong(void *arg)
{
    ping_pong *p = arg;
    for (size_t i = 0; i < p->rounds; i++) {
        bool got = filchi_park(&p->b, INT64_MAX);
        TEST_CHECK(got);
        TEST_CHECK(p->word == 2 * i + 1);
        p->word++;
        filchi_unpark(&p->a);
    }
    return NULL;
}

static void park__two_threads__each_token_carries_what_was_written(void **state)
{
    ping_pong p = { .rounds = test_count(20000, 5000) };
    pthread_t thread;
    (void)state;
    assert_true(filchi_parker_init(&p.a));
    assert_true(filchi_parker_init(&p.b));
    test_thread_start(&thread, pong, &p);
    for (size_t i = 0; i < p.rounds; i++) {
        p.word++;
        filchi_unpark(&p.b);
        assert_true(filchi_park(&p.a, INT64_MAX));
        assert_int_equal(p.word, 2 * i + 2);
    }
    test_thread_join(thread);
    filchi_parker_destroy(&p.a);
    filchi_parker_destroy(&p.b);
    test_assert_clean();
}

/* The parked thread frees the parker as soon as it has the token: the unparker must not touch it
 * afterwards (ASan and TSan see it). */
typedef struct hand_over {
    _Atomic(filchi_parker *) parker;
    size_t rounds;
} hand_over;

static void *unpark_each(void *arg)
{
    hand_over *h = arg;
    for (size_t i = 0; i < h->rounds; i++) {
        filchi_parker *parker = NULL;
        while ((parker = atomic_exchange(&h->parker, NULL)) == NULL) {
            sched_yield();
        }
        filchi_unpark(parker);
    }
    return NULL;
}

static void unpark__parker_freed_at_once__not_touched_again(void **state)
{
    hand_over h = { NULL, test_count(20000, 5000) };
    pthread_t thread;
    (void)state;
    test_thread_start(&thread, unpark_each, &h);
    for (size_t i = 0; i < h.rounds; i++) {
        filchi_parker *parker = malloc(sizeof(*parker));
        assert_non_null(parker);
        assert_true(filchi_parker_init(parker));
        atomic_store(&h.parker, parker);
        assert_true(filchi_park(parker, INT64_MAX));
        filchi_parker_destroy(parker);
        memset(parker, 0xDD, sizeof(*parker));
        free(parker);
    }
    test_thread_join(thread);
}

/* Deadlines that race with tokens: each token is taken exactly once, now or by the next park. */
static void *unpark_slowly(void *arg)
{
    ping_pong *p = arg;
    test_rng rng = test_rng_make(5);
    for (size_t i = 0; i < p->rounds; i++) {
        (void)filchi_park(&p->b, INT64_MAX);
        test_spin_ns(test_rng_below(&rng, 60000));
        filchi_unpark(&p->a);
    }
    return NULL;
}

static void park__deadline_races_with_the_token__token_is_not_lost(void **state)
{
    ping_pong p = { .rounds = test_count(3000, 500) };
    test_rng rng = test_rng_make(6);
    pthread_t thread;
    size_t late = 0;
    (void)state;
    assert_true(filchi_parker_init(&p.a));
    assert_true(filchi_parker_init(&p.b));
    test_thread_start(&thread, unpark_slowly, &p);
    for (size_t i = 0; i < p.rounds; i++) {
        filchi_unpark(&p.b);
        if (!filchi_park(&p.a, filchi_clock_ns() + (int64_t)test_rng_below(&rng, 60000))) {
            late++;
            assert_true(filchi_park(&p.a, INT64_MAX));
        }
        assert_false(filchi_park(&p.a, 0));
    }
    test_thread_join(thread);
    assert_true(test_is_short() || (late > 0 && late < p.rounds));
    filchi_parker_destroy(&p.a);
    filchi_parker_destroy(&p.b);
}

/* A signal wakes the system call, not the park. */
static void ignore_signal(int signal_number)
{
    (void)signal_number;
}

static pthread_t parked_thread;

static void *signal_then_unpark(void *arg)
{
    for (int i = 0; i < 50; i++) {
        pthread_kill(parked_thread, SIGUSR2);
        test_spin_ns(20000);
    }
    atomic_store((atomic_uint *)((void **)arg)[1], 1);
    filchi_unpark(((void **)arg)[0]);
    return NULL;
}

static void park__signals_while_parked__waits_on(void **state)
{
    struct sigaction action;
    filchi_parker parker;
    pthread_t thread;
    atomic_uint unparked = 0;
    void *arg[2] = { &parker, &unparked };
    (void)state;
    memset(&action, 0, sizeof(action));
    action.sa_handler = ignore_signal;
    sigaction(SIGUSR2, &action, NULL);
    assert_true(filchi_parker_init(&parker));
    parked_thread = pthread_self();
    test_thread_start(&thread, signal_then_unpark, arg);
    assert_true(filchi_park(&parker, INT64_MAX));
    assert_int_equal(atomic_load(&unparked), 1);
    test_thread_join(thread);
    filchi_parker_destroy(&parker);
}

static void backend__of_this_build__one_of_two(void **state)
{
    const char *name = filchi_park_backend();
    const char *expected = getenv("FILCH_TEST_PARK");
    (void)state;
    assert_true(strcmp(name, "futex") == 0 || strcmp(name, "condvar") == 0);
    if (expected != NULL) {
        assert_string_equal(name, expected);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(park__token_is_there__returns_at_once_and_takes_it),
        cmocka_unit_test(unpark__twice__one_token),
        cmocka_unit_test(park__deadline_in_the_past__looks_once),
        cmocka_unit_test(park__deadline__never_early_and_errno_kept),
        cmocka_unit_test(park__two_threads__each_token_carries_what_was_written),
        cmocka_unit_test(unpark__parker_freed_at_once__not_touched_again),
        cmocka_unit_test(park__deadline_races_with_the_token__token_is_not_lost),
        cmocka_unit_test(park__signals_while_parked__waits_on),
        cmocka_unit_test(backend__of_this_build__one_of_two),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
