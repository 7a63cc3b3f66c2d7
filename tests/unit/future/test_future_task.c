/* SPDX-License-Identifier: MIT */
/* Futures that tasks end: results, continuations, cancels, full queues, and pools
 * that close. */
#include "futures.h"

#include <sched.h>

#include "support/alloc.h"
#include "support/child.h"

static void async__value_or_failure__and_its_end_once(void **state)
{
    int value = 0;
    (void)state;
    filch_pool *pool = test_pool_make(2);
    const filch_submit_options options = with_end();
    filch_future *good = start(pool, 7, &options);
    filch_future *bad = start(pool, -7, &options);
    assert_int_equal(wait_int(good, &value), FILCH_OK);
    assert_int_equal(value, 49);
    assert_int_equal(wait_int(bad, &value), FILCH_E_INVALID);
    assert_int_equal(value, 49);
    expect_ends(2, 0);
    filch_future_release(good);
    filch_future_release(bad);
    test_pool_close(pool);
}

static void then__chain__each_sees_how_the_last_ended(void **state)
{
    int value = 0;
    (void)state;
    filch_pool *pool = test_pool_make(2);
    filch_future *bad = start(pool, -3, NULL);
    filch_future *one = then(bad, pool, NULL);
    filch_future *two = then(one, pool, NULL);
    filch_future_release(bad);
    filch_future_release(one);
    assert_int_equal(wait_int(two, &value), FILCH_OK);
    assert_int_equal(value, (int)FILCH_E_INVALID + 1);
    filch_future_release(two);
    test_pool_close(pool);
}

/* A thousand continuations of one promise into a queue for four, by a thread and by a task. */
enum { MANY = 1000 };

typedef struct many {
    filch_promise *promise;
    filch_future *inputs;
    filch_future *results[MANY];
} many;

static void many_make(many *m, filch_pool *pool)
{
    assert_int_equal(filch_promise_create(sizeof(int), NULL, &m->promise, &m->inputs), FILCH_OK);
    for (int i = 0; i < MANY; i++) {
        m->results[i] = then(m->inputs, pool, NULL);
    }
    filch_future_release(m->inputs);
}

static void many_set(filch_cx *cx, void *arg)
{
    many *m = arg;
    const int value = 5;
    (void)cx;
    TEST_CHECK(filch_promise_set(m->promise, &value, sizeof(value)) == FILCH_OK);
    TEST_CHECK(filch_promise_drop(m->promise) == FILCH_OK);
}

static void many_expect(many *m)
{
    for (int i = 0; i < MANY; i++) {
        int value = 0;
        assert_int_equal(wait_int(m->results[i], &value), FILCH_OK);
        assert_int_equal(value, 6);
        filch_future_release(m->results[i]);
    }
}

static void then__more_than_the_queue_holds__the_setter_does_not_wait(void **state)
{
    static many m;
    held h;
    (void)state;
    hold(&h, 1, 4);
    many_make(&m, h.pool);
    many_set(NULL, &m); /* the only worker is held */
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(filch_future_ready(m.results[i]), 0);
    }
    let_go(&h);
    many_expect(&m);
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = 1;
    config.own_tasks = 4;
    filch_pool *pool = test_pool_make_as(&config);
    many_make(&m, pool);
    test_pool_run(pool, many_set, &m);
    many_expect(&m);
    test_pool_close(pool);
    test_pool_close(h.pool);
}

/* Cancels, drops, closed pools. */

static void stop__before_the_start__cancelled_and_cleaned_up_once(void **state)
{
    held h;
    int value = 1;
    filch_promise *promise = NULL;
    filch_future *input = NULL;
    (void)state;
    hold(&h, 1, 16);
    filch_submit_options options = with_end();
    assert_int_equal(filch_token_create(NULL, NULL, &options.stop), FILCH_OK);
    filch_future *task = start(h.pool, 3, &options);
    assert_int_equal(filch_promise_create(sizeof(int), NULL, &promise, &input), FILCH_OK);
    filch_future *more = then(input, h.pool, &options);
    assert_int_equal(filch_promise_set(promise, &value, sizeof(value)), FILCH_OK);
    assert_int_equal(filch_token_stop(options.stop), FILCH_OK);
    let_go(&h);
    assert_int_equal(wait_int(task, &value), FILCH_E_CANCELLED);
    assert_int_equal(wait_int(more, &value), FILCH_E_CANCELLED);
    expect_ends(0, 2);
    assert_int_equal(filch_token_destroy(options.stop), FILCH_OK);
    assert_int_equal(filch_promise_drop(promise), FILCH_OK);
    filch_future_release(task);
    filch_future_release(more);
    filch_future_release(input);
    test_pool_close(h.pool);
}

static void pass(filch_time time)
{
    while (filch_time_now() <= time) {
        sched_yield();
    }
}

static void wait_late(filch_cx *cx, void *arg)
{
    filch_submit_options options = *(const filch_submit_options *)arg;
    int value = 0;
    options.start_by = filch_time_after_ms(20);
    filch_future *future = start(filch_cx_pool(cx), 3, &options);
    pass(options.start_by);
    TEST_CHECK(wait_int(future, &value) == FILCH_E_TIMEOUT);
    filch_future_release(future);
}

static void start_by__has_passed__ends_as_late(void **state)
{
    held h;
    int value = 0;
    (void)state;
    hold(&h, 1, 16);
    filch_submit_options options = with_end();
    options.start_by = filch_time_after_ms(20);
    filch_future *task = start(h.pool, 3, &options);
    filch_future *more = then(task, h.pool, &options);
    pass(options.start_by);
    let_go(&h);
    assert_int_equal(wait_int(task, &value), FILCH_E_TIMEOUT);
    assert_int_equal(wait_int(more, &value), FILCH_E_TIMEOUT);
    expect_ends(0, 2);
    test_pool_run(h.pool, wait_late, &options); /* the helper is late */
    expect_ends(0, 3);
    filch_future_release(task);
    filch_future_release(more);
    test_pool_close(h.pool);
}

static void drop_oldest__a_future_s_task__dropped(void **state)
{
    held h;
    int value = 0;
    (void)state;
    hold(&h, 1, 1);
    filch_submit_options options = with_end();
    options.full = FILCH_FULL_DROP_OLDEST;
    filch_future *old = start(h.pool, 3, &options);
    filch_future *new = start(h.pool, 4, &options);
    assert_int_equal(wait_int(old, &value), FILCH_E_DROPPED);
    expect_ends(0, 1);
    options.full = FILCH_FULL_REJECT;
    filch_future *none = NULL;
    assert_int_equal(filch_async(h.pool, square, &value, sizeof(value), sizeof(value), &options,
                                 &none),
                     FILCH_E_FULL);
    assert_null(none);
    let_go(&h);
    assert_int_equal(wait_int(new, &value), FILCH_OK);
    assert_int_equal(value, 16);
    expect_ends(1, 1);
    filch_future_release(old);
    filch_future_release(new);
    test_pool_close(h.pool);
}

static void run_inside__full_queue__the_caller_ends_it(void **state)
{
    held h;
    int value = 0;
    (void)state;
    hold(&h, 1, 1);
    filch_submit_options options = with_end();
    options.full = FILCH_FULL_RUN;
    filch_future *waits = start(h.pool, 3, &options);
    filch_future *inside = start(h.pool, 5, &options);
    assert_int_equal(filch_future_read(inside, &value, sizeof(value)), FILCH_OK);
    assert_int_equal(value, 25);
    let_go(&h);
    assert_int_equal(wait_int(waits, &value), FILCH_OK);
    expect_ends(2, 0);
    filch_future_release(waits);
    filch_future_release(inside);
    test_pool_close(h.pool);
}

static void shutdown__cancels__futures_end_and_later_ones_as_closed(void **state)
{
    held h;
    int value = 0;
    filch_promise *promise = NULL;
    filch_future *input = NULL;
    filch_future *none = NULL;
    (void)state;
    hold(&h, 1, 16);
    const filch_submit_options options = with_end();
    filch_future *task = start(h.pool, 3, &options);
    assert_int_equal(filch_promise_create(sizeof(int), NULL, &promise, &input), FILCH_OK);
    filch_future *late = then(input, h.pool, &options);
    filch_future *later = then(late, h.pool, &options);
    assert_int_equal(filch_pool_shutdown(h.pool, FILCH_CANCEL, FILCH_NOW, NULL), FILCH_E_TIMEOUT);
    atomic_store(&h.open, 1);
    assert_int_equal(filch_pool_shutdown(h.pool, FILCH_CANCEL, FILCH_FOREVER, NULL), FILCH_OK);
    assert_int_equal(wait_int(task, &value), FILCH_E_CANCELLED);
    assert_int_equal(filch_pool_destroy(h.pool), FILCH_E_BUSY);
    assert_int_equal(filch_future_ready(late), 0);
    assert_int_equal(filch_promise_drop(promise), FILCH_OK);
    assert_int_equal(wait_int(late, &value), FILCH_E_CLOSED);
    assert_int_equal(wait_int(later, &value), FILCH_E_CLOSED);
    expect_ends(0, 3);
    assert_int_equal(filch_async(h.pool, square, &value, sizeof(value), sizeof(value), &options,
                                 &none),
                     FILCH_E_CLOSED);
    expect_ends(0, 3);
    filch_future *at_once = then(later, h.pool, &options);
    assert_int_equal(wait_int(at_once, &value), FILCH_E_CLOSED);
    assert_int_equal(filch_pool_destroy(h.pool), FILCH_OK);
    filch_future_release(task);
    filch_future_release(late);
    filch_future_release(later);
    filch_future_release(at_once);
    filch_future_release(input);
    test_assert_clean();
}

/* A long chain into a closed pool: no stack is used for it. */
static void closed__chain_of_many__ends_without_recursion(void **state)
{
    const size_t length = test_count(100000, 20000);
    int value = 0;
    filch_promise *promise = NULL;
    filch_future *at = NULL;
    (void)state;
    filch_pool *pool = test_pool_make(1);
    assert_int_equal(filch_promise_create(sizeof(int), NULL, &promise, &at), FILCH_OK);
    const filch_submit_options options = with_end();
    for (size_t i = 0; i < length; i++) {
        filch_future *above = then(at, pool, &options);
        filch_future_release(at);
        at = above;
    }
    assert_int_equal(filch_pool_destroy(pool), FILCH_E_BUSY);
    assert_int_equal(filch_promise_drop(promise), FILCH_OK);
    assert_int_equal(wait_int(at, &value), FILCH_E_CLOSED);
    expect_ends(0, (unsigned)length);
    assert_int_equal(filch_pool_destroy(pool), FILCH_OK);
    filch_future_release(at);
}

/* Memory and misuse. */

static void memory__fails_at_each_call__nothing_is_lost(void **state)
{
    test_allocator allocator;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    int value = 3;
    filch_future *none = NULL;
    (void)state;
    test_allocator_init(&allocator);
    config.workers = 1;
    config.allocator = &allocator.hooks;
    filch_pool *pool = test_pool_make_as(&config);
    const filch_submit_options options = with_end();
    filch_future *task = start(pool, 3, &options);
    assert_int_equal(wait_int(task, &value), FILCH_OK);
    test_allocator_fail(&allocator, 1, true);
    assert_int_equal(filch_async(pool, square, &value, sizeof(value), sizeof(value), &options,
                                 &none),
                     FILCH_E_NOMEM);
    assert_int_equal(filch_future_then(task, pool, next, NULL, 0, sizeof(value), &options, &none),
                     FILCH_E_NOMEM);
    assert_int_equal(wait_int(task, &value), FILCH_OK);
    test_allocator_fail(&allocator, 0, false);
    assert_int_equal(filch_async(pool, square, &value, SIZE_MAX / 2, sizeof(value), &options,
                                 &none),
                     FILCH_E_NOMEM);
    assert_null(none);
    expect_ends(1, 0);
    filch_future *kept = then(task, pool, NULL);
    filch_future_release(task);
    assert_int_equal(wait_int(kept, &value), FILCH_OK);
    assert_int_equal(value, 10);
    test_pool_close(pool);
    filch_future_release(kept); /* a future may outlive its pool */
    test_allocator_assert_balanced(&allocator);
}

static void misuse__each_call__a_status(void **state)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    filch_future *out = NULL;
    int value = 1;
    (void)state;
    filch_pool *pool = test_pool_make(1);
    filch_future *in = start(pool, 1, NULL);
    assert_int_equal(filch_async(NULL, square, NULL, 0, 0, NULL, &out), FILCH_E_INVALID);
    assert_int_equal(filch_async(pool, NULL, NULL, 0, 0, NULL, &out), FILCH_E_INVALID);
    assert_int_equal(filch_async(pool, square, NULL, 4, 0, NULL, &out), FILCH_E_INVALID);
    assert_int_equal(filch_async(pool, square, NULL, 0, 0, NULL, NULL), FILCH_E_INVALID);
    assert_int_equal(filch_future_then(NULL, pool, next, NULL, 0, 4, NULL, &out), FILCH_E_INVALID);
    assert_int_equal(filch_future_then(in, NULL, next, NULL, 0, 4, NULL, &out), FILCH_E_INVALID);
    assert_int_equal(filch_future_then(in, pool, NULL, NULL, 0, 4, NULL, &out), FILCH_E_INVALID);
    assert_int_equal(filch_future_then(in, pool, next, NULL, 4, 4, NULL, &out), FILCH_E_INVALID);
    assert_int_equal(filch_future_then(in, pool, next, NULL, 0, 4, NULL, NULL), FILCH_E_INVALID);
    options.flags = 1;
    assert_int_equal(filch_async(pool, square, NULL, 0, 0, &options, &out), FILCH_E_INVALID);
    options.flags = 0;
    options.size = 0;
    assert_int_equal(filch_async(pool, square, NULL, 0, 0, &options, &out), FILCH_E_INVALID);
    options.size = sizeof(options);
    options.full = (filch_full)77;
    assert_int_equal(filch_future_then(in, pool, next, NULL, 0, 4, &options, &out),
                     FILCH_E_INVALID);
    options.full = FILCH_FULL_DEFAULT;
    options.reserved[0] = 1;
    assert_int_equal(filch_async(pool, square, NULL, 0, 0, &options, &out), FILCH_E_INVALID);
    options.reserved[0] = 0;
    assert_int_equal(filch_group_create(pool, NULL, &options.group), FILCH_OK);
    assert_int_equal(filch_async(pool, square, NULL, 0, 0, &options, &out), FILCH_E_INVALID);
    assert_int_equal(filch_group_destroy(options.group), FILCH_OK);
    assert_null(out);
    assert_int_equal(wait_int(in, &value), FILCH_OK);
    filch_future_release(in);
    test_pool_close(pool);
}

typedef struct family {
    filch_pool *pool;
    filch_future *future;
} family;

static void in_child(void *arg)
{
    family *f = arg;
    filch_future *out;
    int value;
    TEST_CHILD_CHECK(filch_async(f->pool, square, NULL, 0, 0, NULL, &out) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_future_then(f->future, f->pool, next, NULL, 0, 4, NULL, &out) ==
                     FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_future_read(f->future, &value, sizeof(value)) == FILCH_OK);
    filch_future_release(f->future);
}

static void fork__pools_and_futures_of_the_parent__are_refused(void **state)
{
    int value;
    (void)state;
    filch_pool *pool = test_pool_make(1);
    family f = { pool, start(pool, 6, NULL) };
    assert_int_equal(wait_int(f.future, &value), FILCH_OK);
    test_assert_child_ok(in_child, &f);
    filch_future_release(f.future);
    test_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(async__value_or_failure__and_its_end_once),
        cmocka_unit_test(then__chain__each_sees_how_the_last_ended),
        cmocka_unit_test(then__more_than_the_queue_holds__the_setter_does_not_wait),
        cmocka_unit_test(stop__before_the_start__cancelled_and_cleaned_up_once),
        cmocka_unit_test(start_by__has_passed__ends_as_late),
        cmocka_unit_test(drop_oldest__a_future_s_task__dropped),
        cmocka_unit_test(run_inside__full_queue__the_caller_ends_it),
        cmocka_unit_test(shutdown__cancels__futures_end_and_later_ones_as_closed),
        cmocka_unit_test(closed__chain_of_many__ends_without_recursion),
        cmocka_unit_test(memory__fails_at_each_call__nothing_is_lost),
        cmocka_unit_test(misuse__each_call__a_status),
        cmocka_unit_test(fork__pools_and_futures_of_the_parent__are_refused),
    };
    test_begin(120);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
