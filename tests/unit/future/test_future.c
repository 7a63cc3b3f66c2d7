/* SPDX-License-Identifier: MIT */
/* Promises and their futures: the end, reads, waits, references, and what misuse gets. */
#include "support/pool.h"

#include <string.h>

#include "support/alloc.h"
#include "support/child.h"

typedef struct pair {
    filch_promise *promise;
    filch_future *future;
} pair;

static pair make(size_t bytes, const filch_allocator *allocator)
{
    pair p = { NULL, NULL };
    assert_int_equal(filch_promise_create(bytes, allocator, &p.promise, &p.future), FILCH_OK);
    return p;
}

static void done(pair p)
{
    assert_int_equal(filch_promise_drop(p.promise), FILCH_OK);
    filch_future_release(p.future);
}

static void set__any_width__the_value_comes_out(void **state)
{
    static const size_t widths[] = { 0, 1, 3, 8, 16, 17, 4096 };
    (void)state;
    for (size_t w = 0; w < TEST_CASES(widths); w++) {
        test_allocator allocator;
        unsigned char in[4096];
        unsigned char out[4097];
        const size_t bytes = widths[w];
        test_allocator_init(&allocator);
        memset(in, (int)(w + 1), sizeof(in));
        memset(out, 0xee, sizeof(out));
        pair p = make(bytes, &allocator.hooks);
        assert_int_equal(filch_future_ready(p.future), 0);
        assert_int_equal(filch_future_read(p.future, out, bytes), FILCH_E_TIMEOUT);
        assert_int_equal(out[0], 0xee);
        assert_int_equal(filch_promise_set(p.promise, bytes != 0 ? in : NULL, bytes), FILCH_OK);
        assert_int_equal(filch_future_ready(p.future), 1);
        assert_int_equal(filch_future_read(p.future, out, bytes), FILCH_OK);
        assert_memory_equal(out, in, bytes);
        assert_int_equal(out[bytes], 0xee);
        assert_int_equal(filch_future_wait(p.future, FILCH_NOW, NULL, out, bytes), FILCH_OK);
        assert_int_equal(filch_future_read(p.future, NULL, 0), FILCH_OK);
        done(p);
        test_allocator_assert_balanced(&allocator);
    }
}

static void set__twice_or_after_a_failure__the_first_counts(void **state)
{
    int value = 5;
    (void)state;
    pair p = make(sizeof(value), NULL);
    assert_int_equal(filch_promise_set(p.promise, &value, sizeof(value)), FILCH_OK);
    value = 6;
    assert_int_equal(filch_promise_set(p.promise, &value, sizeof(value)), FILCH_E_SET);
    assert_int_equal(filch_promise_fail(p.promise, FILCH_E_FULL), FILCH_E_SET);
    assert_int_equal(filch_future_read(p.future, &value, sizeof(value)), FILCH_OK);
    assert_int_equal(value, 5);
    done(p);
    p = make(sizeof(value), NULL);
    assert_int_equal(filch_promise_fail(p.promise, FILCH_E_FULL), FILCH_OK);
    assert_int_equal(filch_promise_set(p.promise, &value, sizeof(value)), FILCH_E_SET);
    assert_int_equal(filch_future_read(p.future, &value, sizeof(value)), FILCH_E_FULL);
    assert_int_equal(value, 5);
    done(p);
}

static void drop__unset__ends_as_dropped(void **state)
{
    int value = 1;
    (void)state;
    pair p = make(sizeof(value), NULL);
    assert_int_equal(filch_promise_drop(p.promise), FILCH_OK);
    assert_int_equal(filch_future_wait(p.future, FILCH_FOREVER, NULL, &value, sizeof(value)),
                     FILCH_E_DROPPED);
    assert_int_equal(value, 1);
    /* the future keeps the memory, so that this much is defined */
    assert_int_equal(filch_promise_set(p.promise, &value, sizeof(value)), FILCH_E_SET);
    filch_future_release(p.future);
    assert_int_equal(filch_promise_drop(NULL), FILCH_OK);
}

static void set__nobody_reads__nothing_leaks(void **state)
{
    test_allocator allocator;
    int value = 1;
    (void)state;
    test_allocator_init(&allocator);
    pair p = make(sizeof(value), &allocator.hooks);
    filch_future_release(p.future);
    assert_int_equal(filch_promise_set(p.promise, &value, sizeof(value)), FILCH_OK);
    assert_int_equal(filch_promise_drop(p.promise), FILCH_OK);
    test_allocator_assert_balanced(&allocator);
    p = make(sizeof(value), &allocator.hooks);
    assert_ptr_equal(filch_future_retain(p.future), p.future);
    filch_future_release(p.future);
    done(p);
    test_allocator_assert_balanced(&allocator);
    assert_null(filch_future_retain(NULL));
    filch_future_release(NULL);
}

static void create__no_memory__says_so(void **state)
{
    test_allocator allocator;
    pair p = { NULL, NULL };
    (void)state;
    test_allocator_init(&allocator);
    test_allocator_fail(&allocator, 1, false);
    assert_int_equal(filch_promise_create(8, &allocator.hooks, &p.promise, &p.future),
                     FILCH_E_NOMEM);
    assert_int_equal(filch_promise_create(SIZE_MAX, NULL, &p.promise, &p.future), FILCH_E_NOMEM);
    test_allocator_fail(&allocator, 1, false);
    pair in = make(1, NULL);
    filch_future *all = NULL;
    assert_int_equal(filch_when_all(&in.future, 1, &allocator.hooks, &all), FILCH_E_NOMEM);
    assert_int_equal(filch_when_all(&in.future, SIZE_MAX / 16, NULL, &all), FILCH_E_NOMEM);
    done(in);
    assert_null(p.promise);
    assert_null(p.future);
    assert_null(all);
    test_allocator_assert_balanced(&allocator);
}

static void *never_called(void *ctx, size_t bytes, size_t align)
{
    (void)ctx;
    (void)bytes;
    (void)align;
    TEST_FAIL("half an allocator was used");
    return NULL;
}

static void misuse__each_call__a_status(void **state)
{
    filch_allocator broken = { NULL, NULL, NULL }; /* half of it, below */
    filch_future *out = NULL;
    filch_future *none = NULL;
    long value = 3;
    size_t index = 7;
    pair p = make(sizeof(value), NULL);
    (void)state;
    broken.alloc = never_called;
    assert_int_equal(filch_promise_create(1, &broken, &p.promise, &p.future), FILCH_E_INVALID);
    assert_int_equal(filch_promise_create(1, NULL, NULL, &p.future), FILCH_E_INVALID);
    assert_int_equal(filch_promise_create(1, NULL, &p.promise, NULL), FILCH_E_INVALID);
    assert_int_equal(filch_promise_set(NULL, &value, sizeof(value)), FILCH_E_INVALID);
    assert_int_equal(filch_promise_set(p.promise, &value, 1), FILCH_E_INVALID);
    assert_int_equal(filch_promise_set(p.promise, NULL, sizeof(value)), FILCH_E_INVALID);
    assert_int_equal(filch_promise_fail(NULL, FILCH_E_FULL), FILCH_E_INVALID);
    assert_int_equal(filch_promise_fail(p.promise, FILCH_OK), FILCH_E_INVALID);
    assert_int_equal(filch_future_ready(NULL), 0);
    assert_int_equal(filch_future_ready(p.future), 0);
    assert_int_equal(filch_future_read(NULL, NULL, 0), FILCH_E_INVALID);
    assert_int_equal(filch_future_read(p.future, &value, 1), FILCH_E_INVALID);
    assert_int_equal(filch_future_read(p.future, NULL, 1), FILCH_E_INVALID);
    assert_int_equal(filch_future_wait(NULL, FILCH_NOW, NULL, NULL, 0), FILCH_E_INVALID);
    assert_int_equal(filch_future_wait(p.future, FILCH_NOW, NULL, &value, 1), FILCH_E_INVALID);
    assert_int_equal(filch_future_index(NULL, &index), FILCH_E_INVALID);
    assert_int_equal(filch_future_index(p.future, &index), FILCH_E_INVALID);
    assert_int_equal(filch_when_all(NULL, 1, NULL, &out), FILCH_E_INVALID);
    assert_int_equal(filch_when_all(&none, 1, NULL, &out), FILCH_E_INVALID);
    assert_int_equal(filch_when_all(&p.future, 1, NULL, NULL), FILCH_E_INVALID);
    assert_int_equal(filch_when_all(&p.future, 1, &broken, &out), FILCH_E_INVALID);
    assert_int_equal(filch_when_any(NULL, 0, NULL, &out), FILCH_E_INVALID);
    assert_null(out);
    assert_int_equal(index, 7);
    done(p);
}

static void drop_twice(void *arg)
{
    filch_promise *promise;
    filch_future *future;
    (void)arg;
    TEST_CHILD_CHECK(filch_promise_create(1, NULL, &promise, &future) == FILCH_OK);
    TEST_CHILD_CHECK(filch_promise_drop(promise) == FILCH_OK);
    TEST_CHILD_CHECK(filch_promise_drop(promise) == FILCH_E_INVALID);
    TEST_CHILD_CHECK(filch_future_read(future, NULL, 0) == FILCH_E_DROPPED);
    filch_future_release(future);
}

static void drop__twice__a_status_or_an_abort(void **state)
{
    (void)state;
#if defined(FILCH_DEBUG)
    test_assert_child_aborts(drop_twice, NULL, "a promise is not used after it was dropped");
#else
    test_assert_child_ok(drop_twice, NULL);
#endif
}

/* Waits of foreign threads. */

typedef struct party {
    filch_future *future;
    filch_token *stop;
    atomic_uint in;
    atomic_uint out;
    filch_status status;
    int value;
} party;

static void *wait_there(void *arg)
{
    party *p = arg;
    atomic_fetch_add(&p->in, 1);
    p->status = filch_future_wait(p->future, FILCH_FOREVER, p->stop, &p->value, sizeof(p->value));
    atomic_fetch_add(&p->out, 1);
    return NULL;
}

static void wait__eight_threads__all_get_the_value(void **state)
{
    enum { THREADS = 8 };
    const int value = 42;
    party parties[THREADS] = { 0 };
    pthread_t threads[THREADS];
    (void)state;
    pair p = make(sizeof(value), NULL);
    for (int i = 0; i < THREADS; i++) {
        parties[i].future = p.future;
        test_thread_start(&threads[i], wait_there, &parties[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        test_await(&parties[i].in, 1);
    }
    assert_int_equal(filch_promise_set(p.promise, &value, sizeof(value)), FILCH_OK);
    for (int i = 0; i < THREADS; i++) {
        test_thread_join(threads[i]);
        assert_int_equal(parties[i].status, FILCH_OK);
        assert_int_equal(parties[i].value, 42);
    }
    done(p);
}

static void wait__deadline_or_token__leaves_and_the_future_goes_on(void **state)
{
    party waiting = { 0 };
    pthread_t thread;
    int value = 9;
    (void)state;
    pair p = make(sizeof(value), NULL);
    assert_int_equal(filch_future_wait(p.future, FILCH_NOW, NULL, &value, sizeof(value)),
                     FILCH_E_TIMEOUT);
    assert_int_equal(filch_future_wait(p.future, filch_time_after_ms(2), NULL, &value,
                                       sizeof(value)),
                     FILCH_E_TIMEOUT);
    assert_int_equal(filch_token_create(NULL, NULL, &waiting.stop), FILCH_OK);
    waiting.future = p.future;
    test_thread_start(&thread, wait_there, &waiting);
    test_await(&waiting.in, 1);
    assert_int_equal(filch_token_stop(waiting.stop), FILCH_OK);
    test_thread_join(thread);
    assert_int_equal(waiting.status, FILCH_E_STOPPED);
    assert_int_equal(filch_future_wait(p.future, FILCH_FOREVER, waiting.stop, NULL, 0),
                     FILCH_E_STOPPED);
    assert_int_equal(filch_token_destroy(waiting.stop), FILCH_OK);
    assert_int_equal(filch_promise_set(p.promise, &value, sizeof(value)), FILCH_OK);
    assert_int_equal(filch_future_read(p.future, &value, sizeof(value)), FILCH_OK);
    done(p);
}

/* The last handle goes while somebody waits: the wait has one of its own. */
static void release__somebody_waits__the_wait_ends_well(void **state)
{
    party waiting = { 0 };
    pthread_t thread;
    const int value = 4;
    (void)state;
    pair p = make(sizeof(value), NULL);
    waiting.future = p.future;
    test_thread_start(&thread, wait_there, &waiting);
    test_await(&waiting.in, 1);
    test_spin_ns(100000); /* mostly it sleeps by now */
    assert_int_equal(filch_promise_set(p.promise, &value, sizeof(value)), FILCH_OK);
    assert_int_equal(filch_promise_drop(p.promise), FILCH_OK);
    test_thread_join(thread);
    assert_int_equal(waiting.status, FILCH_OK);
    assert_int_equal(waiting.value, 4);
    filch_future_release(p.future);
}

/* All and any, of promises: no pool. */

static void all__fails_in_two__the_first_in_time_wins(void **state)
{
    enum { INPUTS = 4 };
    pair p[INPUTS];
    filch_future *inputs[INPUTS];
    filch_future *all = NULL;
    size_t index = 99;
    (void)state;
    for (int i = 0; i < INPUTS; i++) {
        p[i] = make(0, NULL);
        inputs[i] = p[i].future;
    }
    assert_int_equal(filch_when_all(inputs, INPUTS, NULL, &all), FILCH_OK);
    assert_int_equal(filch_promise_set(p[0].promise, NULL, 0), FILCH_OK);
    assert_int_equal(filch_promise_fail(p[3].promise, FILCH_E_FULL), FILCH_OK);
    assert_int_equal(filch_promise_fail(p[1].promise, FILCH_E_NOMEM), FILCH_OK);
    assert_int_equal(filch_future_ready(all), 0);
    assert_int_equal(filch_future_index(all, &index), FILCH_E_TIMEOUT);
    assert_int_equal(filch_promise_set(p[2].promise, NULL, 0), FILCH_OK);
    assert_int_equal(filch_future_wait(all, FILCH_FOREVER, NULL, NULL, 0), FILCH_E_FULL);
    assert_int_equal(filch_future_index(all, &index), FILCH_OK);
    assert_int_equal(index, 3);
    filch_future_release(all);
    for (int i = 0; i < INPUTS; i++) {
        done(p[i]);
    }
}

static void all__none_fails_or_none_there__count(void **state)
{
    pair p = make(0, NULL);
    filch_future *twice[2] = { p.future, p.future };
    filch_future *all = NULL;
    size_t index = 99;
    (void)state;
    assert_int_equal(filch_when_all(NULL, 0, NULL, &all), FILCH_OK);
    assert_int_equal(filch_future_read(all, NULL, 0), FILCH_OK);
    assert_int_equal(filch_future_index(all, &index), FILCH_OK);
    assert_int_equal(index, 0);
    filch_future_release(all);
    assert_int_equal(filch_when_all(twice, 2, NULL, &all), FILCH_OK);
    assert_int_equal(filch_promise_set(p.promise, NULL, 0), FILCH_OK);
    assert_int_equal(filch_future_read(all, NULL, 0), FILCH_OK);
    assert_int_equal(filch_future_index(all, &index), FILCH_OK);
    assert_int_equal(index, 2);
    filch_future_release(all);
    done(p);
}

static void any__one_ends__as_that_one_and_memory_goes_with_the_last(void **state)
{
    test_allocator allocator;
    pair p[2];
    filch_future *inputs[2];
    filch_future *any = NULL;
    size_t index = 99;
    (void)state;
    test_allocator_init(&allocator);
    for (int i = 0; i < 2; i++) {
        p[i] = make(0, &allocator.hooks);
        inputs[i] = p[i].future;
    }
    assert_int_equal(filch_when_any(inputs, 2, &allocator.hooks, &any), FILCH_OK);
    assert_int_equal(filch_future_index(any, &index), FILCH_E_TIMEOUT);
    assert_int_equal(filch_promise_fail(p[1].promise, FILCH_E_BUSY), FILCH_OK);
    assert_int_equal(filch_future_read(any, NULL, 0), FILCH_E_BUSY);
    assert_int_equal(filch_future_index(any, &index), FILCH_OK);
    assert_int_equal(index, 1);
    filch_future_release(any);
    assert_int_equal(filch_promise_set(p[0].promise, NULL, 0), FILCH_OK);
    done(p[0]);
    done(p[1]);
    test_allocator_assert_balanced(&allocator);
    /* inputs that have ended already */
    p[0] = make(0, NULL);
    assert_int_equal(filch_promise_drop(p[0].promise), FILCH_OK);
    inputs[0] = inputs[1] = p[0].future;
    assert_int_equal(filch_when_any(inputs, 2, NULL, &any), FILCH_OK);
    assert_int_equal(filch_future_read(any, NULL, 0), FILCH_E_DROPPED);
    assert_int_equal(filch_future_index(any, &index), FILCH_OK);
    assert_int_equal(index, 0);
    filch_future_release(any);
    filch_future_release(p[0].future);
}

static void in_child(void *arg)
{
    pair *p = arg;
    int value = 1;
    filch_future *out;
    TEST_CHILD_CHECK(filch_promise_set(p->promise, &value, sizeof(value)) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_promise_fail(p->promise, FILCH_E_FULL) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_future_wait(p->future, FILCH_FOREVER, NULL, NULL, 0) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_when_all(&p->future, 1, NULL, &out) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_promise_drop(p->promise) == FILCH_OK);
    filch_future_release(p->future);
}

static void fork__futures_of_the_parent__are_refused(void **state)
{
    (void)state;
    pair p = make(sizeof(int), NULL);
    test_assert_child_ok(in_child, &p);
    done(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set__any_width__the_value_comes_out),
        cmocka_unit_test(set__twice_or_after_a_failure__the_first_counts),
        cmocka_unit_test(drop__unset__ends_as_dropped),
        cmocka_unit_test(set__nobody_reads__nothing_leaks),
        cmocka_unit_test(create__no_memory__says_so),
        cmocka_unit_test(misuse__each_call__a_status),
        cmocka_unit_test(drop__twice__a_status_or_an_abort),
        cmocka_unit_test(wait__eight_threads__all_get_the_value),
        cmocka_unit_test(wait__deadline_or_token__leaves_and_the_future_goes_on),
        cmocka_unit_test(release__somebody_waits__the_wait_ends_well),
        cmocka_unit_test(all__fails_in_two__the_first_in_time_wins),
        cmocka_unit_test(all__none_fails_or_none_there__count),
        cmocka_unit_test(any__one_ends__as_that_one_and_memory_goes_with_the_last),
        cmocka_unit_test(fork__futures_of_the_parent__are_refused),
    };
    test_begin(120);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
