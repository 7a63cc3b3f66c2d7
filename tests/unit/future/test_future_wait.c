/* SPDX-License-Identifier: MIT */
/* Tasks that wait for futures: what a waiting worker runs, and that it never waits for itself. */
#include "futures.h"

/* Waits in workers. */

static filch_status sum_tree(filch_cx *cx, void *data, void *result)
{
    const unsigned depth = *(unsigned *)data;
    const unsigned below = depth - 1;
    filch_future *halves[2];
    int values[2] = { 0, 0 };
    if (depth == 0) {
        *(int *)result = 1;
        return FILCH_OK;
    }
    for (int i = 0; i < 2; i++) {
        TEST_CHECK(filch_async(filch_cx_pool(cx), sum_tree, &below, sizeof(below), sizeof(int),
                               NULL, &halves[i]) == FILCH_OK);
    }
    for (int i = 0; i < 2; i++) {
        TEST_CHECK(wait_int(halves[i], &values[i]) == FILCH_OK);
        filch_future_release(halves[i]);
    }
    *(int *)result = values[0] + values[1];
    return FILCH_OK;
}

static void wait__tree_of_tasks__ends_at_any_number_of_workers(void **state)
{
    static const unsigned worker_counts[] = { 1, 2, 4 };
    const unsigned depth = 9;
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        int value = 0;
        filch_future *top = NULL;
        filch_pool *pool = test_pool_make(worker_counts[w]);
        assert_int_equal(filch_async(pool, sum_tree, &depth, sizeof(depth), sizeof(int), NULL,
                                     &top),
                         FILCH_OK);
        assert_int_equal(wait_int(top, &value), FILCH_OK);
        assert_int_equal(value, 1 << depth);
        filch_future_release(top);
        test_pool_close(pool);
    }
}

/* With one worker: what a composition needs is found below it, whatever lies between. */
static void wait_for_composed(filch_cx *cx, void *arg)
{
    filch_pool *pool = filch_cx_pool(cx);
    filch_future *inputs[3];
    filch_future *all = NULL;
    filch_future *any = NULL;
    filch_promise *never = NULL;
    int value = 0;
    (void)arg;
    filch_future *first = start(pool, 2, NULL);
    inputs[0] = then(first, pool, NULL);
    inputs[1] = start(pool, 3, NULL);
    inputs[2] = then(inputs[1], pool, NULL);
    TEST_CHECK(filch_when_all(inputs, 3, NULL, &all) == FILCH_OK);
    filch_future *last = NULL;
    TEST_CHECK(filch_future_then(all, pool, next, NULL, 0, sizeof(int), NULL, &last) == FILCH_OK);
    TEST_CHECK(filch_future_wait(all, FILCH_FOREVER, NULL, NULL, 0) == FILCH_OK);
    TEST_CHECK(wait_int(last, &value) == FILCH_OK && value == FILCH_OK); /* `all` has no value */
    TEST_CHECK(filch_future_read(inputs[0], &value, sizeof(value)) == FILCH_OK && value == 5);
    filch_future_release(inputs[0]);
    TEST_CHECK(filch_promise_create(sizeof(int), NULL, &never, &inputs[0]) == FILCH_OK);
    filch_future *fresh = start(pool, 4, NULL);
    filch_future *either[2] = { inputs[0], fresh };
    TEST_CHECK(filch_when_any(either, 2, NULL, &any) == FILCH_OK);
    TEST_CHECK(filch_future_wait(any, FILCH_FOREVER, NULL, NULL, 0) == FILCH_OK);
    TEST_CHECK(filch_promise_drop(never) == FILCH_OK);
    for (int i = 0; i < 3; i++) {
        filch_future_release(inputs[i]);
    }
    filch_future_release(first);
    filch_future_release(fresh);
    filch_future_release(all);
    filch_future_release(any);
    filch_future_release(last);
}

static void wait__composed_with_one_worker__no_deadlock(void **state)
{
    (void)state;
    filch_pool *pool = test_pool_make(1);
    test_pool_run(pool, wait_for_composed, NULL);
    test_pool_close(pool);
}

/* The only worker sleeps in a wait when what it waits for becomes a task of its pool. */
typedef struct sleeper {
    filch_future *result;
    atomic_uint in;
    int value;
} sleeper;

static void sleep_in(filch_cx *cx, void *arg)
{
    sleeper *s = arg;
    (void)cx;
    atomic_fetch_add(&s->in, 1);
    TEST_CHECK(wait_int(s->result, &s->value) == FILCH_OK);
}

static void wait__becomes_a_task_meanwhile__the_sleeper_runs_it(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        sleeper s = { 0 };
        filch_promise *promise = NULL;
        filch_future *input = NULL;
        const int value = i;
        filch_pool *pool = test_pool_make(1);
        assert_int_equal(filch_promise_create(sizeof(int), NULL, &promise, &input), FILCH_OK);
        filch_future *middle = then(input, pool, NULL);
        s.result = then(middle, pool, NULL);
        assert_int_equal(filch_post(pool, sleep_in, &s, 0, NULL), FILCH_OK);
        test_await(&s.in, 1);
        if (i % 2 == 0) {
            test_spin_ns(200000); /* mostly it sleeps by now */
        }
        assert_int_equal(filch_promise_set(promise, &value, sizeof(value)), FILCH_OK);
        assert_int_equal(filch_promise_drop(promise), FILCH_OK);
        assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
        assert_int_equal(s.value, i + 2);
        filch_future_release(input);
        filch_future_release(middle);
        filch_future_release(s.result);
        test_pool_close(pool);
    }
}

/* What a helper runs is isolated, has its own label and token, and is counted once. */
static filch_status look_around(filch_cx *cx, void *data, void *result)
{
    const char *label = filch_label(cx);
    (void)data;
    *(bool *)result = label != NULL && strcmp(label, "mine") == 0 && filch_stopped(cx) == 0;
    return FILCH_OK;
}

static filch_status wait_for_self(filch_cx *cx, void *data, void *result)
{
    filch_future **own = data;
    (void)cx;
    (void)result;
    return filch_future_wait(*own, FILCH_FOREVER, NULL, NULL, 0);
}

static void help_with_label(filch_cx *cx, void *arg)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    filch_future *future = NULL;
    filch_future *self = NULL;
    bool right = false;
    (void)arg;
    options.label = "mine";
    TEST_CHECK(filch_token_create(NULL, NULL, &options.stop) == FILCH_OK);
    TEST_CHECK(filch_async(filch_cx_pool(cx), look_around, NULL, 0, sizeof(bool), &options,
                           &future) == FILCH_OK);
    TEST_CHECK(filch_future_wait(future, FILCH_FOREVER, NULL, &right, sizeof(right)) == FILCH_OK);
    TEST_CHECK(right);
    filch_future_release(future);
    /* the entry still lies in the queue */
    TEST_CHECK(filch_token_destroy(options.stop) == FILCH_OK);
    TEST_CHECK(filch_async(filch_cx_pool(cx), wait_for_self, &self, 0, 0, NULL, &self) == FILCH_OK);
    TEST_CHECK(filch_future_wait(self, FILCH_FOREVER, NULL, NULL, 0) == FILCH_E_ON_WORKER);
    filch_future_release(self);
}

static void help__label_token_self__as_in_the_queue(void **state)
{
    (void)state;
    filch_pool *pool = test_pool_make(1);
    test_pool_run(pool, help_with_label, NULL);
    test_pool_close(pool);
}

/* What is beyond the bounds of the search is left to others, and here there are none: 20 levels. */
static void wait_deep(filch_cx *cx, void *arg)
{
    filch_future *at = start(filch_cx_pool(cx), 2, NULL);
    (void)arg;
    for (int i = 0; i < 20; i++) {
        filch_future *above = NULL;
        filch_future *twice[2] = { at, at };
        TEST_CHECK(filch_when_all(twice, 2, NULL, &above) == FILCH_OK);
        filch_future_release(at);
        at = above;
    }
    TEST_CHECK(filch_future_wait(at, filch_time_after_ms(5), NULL, NULL, 0) == FILCH_E_TIMEOUT);
    filch_future_release(at);
}

static void wait__deeper_than_the_search__is_left_to_others(void **state)
{
    (void)state;
    filch_pool *pool = test_pool_make(1);
    test_pool_run(pool, wait_deep, NULL);
    test_pool_close(pool);
}

/* A worker that waits while its pool is cancelled ends what it claims without running it. */
static void wait_while_cancelled(filch_cx *cx, void *arg)
{
    held *h = arg;
    int value = 0;
    const filch_submit_options options = with_end();
    filch_future *future = start(filch_cx_pool(cx), 3, &options);
    atomic_fetch_add(&h->in, 1);
    test_await(&h->open, 1);
    TEST_CHECK(wait_int(future, &value) == FILCH_E_CANCELLED);
    filch_future_release(future);
}

static void help__pool_cancelled__ends_it_without_running(void **state)
{
    held h = { 0 };
    (void)state;
    filch_pool *pool = test_pool_make(1);
    assert_int_equal(filch_post(pool, wait_while_cancelled, &h, 0, NULL), FILCH_OK);
    test_await(&h.in, 1);
    assert_int_equal(filch_pool_shutdown(pool, FILCH_CANCEL, FILCH_NOW, NULL), FILCH_E_TIMEOUT);
    atomic_store(&h.open, 1);
    assert_int_equal(filch_pool_destroy(pool), FILCH_OK);
    expect_ends(0, 1);
    test_assert_clean();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wait__tree_of_tasks__ends_at_any_number_of_workers),
        cmocka_unit_test(wait__composed_with_one_worker__no_deadlock),
        cmocka_unit_test(wait__becomes_a_task_meanwhile__the_sleeper_runs_it),
        cmocka_unit_test(help__label_token_self__as_in_the_queue),
        cmocka_unit_test(wait__deeper_than_the_search__is_left_to_others),
        cmocka_unit_test(help__pool_cancelled__ends_it_without_running),
    };
    test_begin(120);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
