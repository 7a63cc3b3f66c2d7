/* SPDX-License-Identifier: MIT */
/* Every status there is comes out of some call, and each has a text of its own. */
#include "support/pool.h"

#include <string.h>

#include "support/alloc.h"
#include "support/child.h"

static const filch_status all_statuses[] = { FILCH_OK,          FILCH_E_INVALID,   FILCH_E_NOMEM,
                                             FILCH_E_THREAD,    FILCH_E_CLOSED,    FILCH_E_FULL,
                                             FILCH_E_TIMEOUT,   FILCH_E_ON_WORKER, FILCH_E_BUSY,
                                             FILCH_E_CANCELLED, FILCH_E_FORKED,    FILCH_E_SYSTEM,
                                             FILCH_E_STOPPED,   FILCH_E_DROPPED,   FILCH_E_SET };

static void strerror__each_status__a_clause_of_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_CASES(all_statuses); i++) {
        const char *text = filch_strerror(all_statuses[i]);
        assert_non_null(text);
        assert_true(strlen(text) >= 2 && strlen(text) < 100);
        assert_int_not_equal(text[strlen(text) - 1], '.');
        assert_null(strchr(text, '\n'));
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(text, filch_strerror(all_statuses[k]));
        }
    }
}

static void strerror__unknown_status__still_a_text(void **state)
{
    static const int unknown[] = { 1, 7, 1000, -12, -16, -1000, INT32_MAX, INT32_MIN };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(unknown); i++) {
        const char *text = filch_strerror((filch_status)unknown[i]);
        assert_non_null(text);
        assert_true(strlen(text) >= 2);
        for (size_t k = 0; k < TEST_CASES(all_statuses); k++) {
            assert_string_not_equal(text, filch_strerror(all_statuses[k]));
        }
    }
}

static void version__of_the_library__that_of_the_header(void **state)
{
    (void)state;
    assert_string_equal(filch_version(), FILCH_VERSION_STRING);
}

static void time__after_a_duration__saturates(void **state)
{
    (void)state;
    filch_time now = filch_time_now();
    assert_true(now > 0);
    assert_true(filch_time_now() >= now);
    assert_true(filch_time_after_ns(0) >= now);
    assert_true(filch_time_after_ns(1000) >= now + 1000);
    assert_true(filch_time_after_ms(3) >= now + 3000000);
    assert_true(filch_time_after_ms(3) < now + INT64_C(3600000000000));
    assert_true(filch_time_after_ns(UINT64_MAX) == FILCH_FOREVER);
    assert_true(filch_time_after_ns((uint64_t)INT64_MAX) == FILCH_FOREVER);
    assert_true(filch_time_after_ms(UINT64_MAX) == FILCH_FOREVER);
    assert_true(filch_time_after_ms(UINT64_MAX / 1000000 + 1) == FILCH_FOREVER);
    assert_true(filch_time_after_ms((uint64_t)INT64_MAX / 1000000) == FILCH_FOREVER);
}

/* One call for each status. */
typedef struct held {
    filch_pool *pool;
    atomic_uint begun;
    atomic_uint go;
    filch_status in_task;
} held;

static void hold(filch_cx *cx, void *arg)
{
    held *h = arg;
    (void)cx;
    atomic_store(&h->begun, 1);
    test_await(&h->go, 1);
}

static void wait_inside(filch_cx *cx, void *arg)
{
    held *h = arg;
    (void)cx;
    h->in_task = filch_pool_wait_quiet(h->pool, FILCH_NOW);
}

static void *run_second(void *arg)
{
    held *h = arg;
    TEST_CHECK(filch_run(h->pool, wait_inside, h) == FILCH_E_CANCELLED);
    return NULL;
}

static void *shut_down(void *arg)
{
    held *h = arg;
    TEST_CHECK(filch_pool_shutdown(h->pool, FILCH_CANCEL, FILCH_FOREVER, NULL) == FILCH_OK);
    return NULL;
}

static void use_parents_pool(void *arg)
{
    held *h = arg;
    TEST_CHILD_CHECK(filch_run(h->pool, wait_inside, h) == FILCH_E_FORKED);
}

static void expect_life_cycle_statuses(void)
{
    held h = { .pool = test_pool_make(1) };
    pthread_t runner;
    pthread_t closer;
    atomic_uint asked = 0;
    assert_int_equal(filch_run(h.pool, wait_inside, &h), FILCH_OK);
    assert_int_equal(h.in_task, FILCH_E_ON_WORKER);
    assert_int_equal(filch_run(h.pool, NULL, NULL), FILCH_E_INVALID);
    test_assert_child_ok(use_parents_pool, &h);
    assert_int_equal(filch_post(h.pool, hold, &h, 0, NULL), FILCH_OK);
    test_await(&h.begun, 1);
    assert_int_equal(filch_pool_wait_quiet(h.pool, FILCH_NOW), FILCH_E_TIMEOUT);
    uint64_t accepted = test_pool_stats(h.pool).accepted;
    test_thread_start(&runner, run_second, &h);
    while (test_pool_stats(h.pool).accepted == accepted) {}
    test_thread_start(&closer, shut_down, &h);
    /* A loop of one runs on the caller, so that this finds out without a worker. */
    while (filch_for_on(h.pool, 1, test_count_range, &asked, NULL) != FILCH_E_CLOSED) {}
    /* A shutdown takes its lock before it closes the pool, so it is still held here. */
    assert_int_equal(filch_pool_shutdown(h.pool, FILCH_CANCEL, FILCH_NOW, NULL), FILCH_E_BUSY);
    atomic_store(&h.go, 1);
    test_thread_join(runner);
    test_thread_join(closer);
    test_pool_close(h.pool);
}

static void expect_deque_statuses(void)
{
    test_allocator memory;
    filch_deque *deque = NULL;
    filch_item item = { 1, 2 };
    test_allocator_init(&memory);
    test_allocator_fail(&memory, 1, false);
    assert_int_equal(filch_deque_create(1, 1, &memory.hooks, &deque), FILCH_E_NOMEM);
    assert_int_equal(filch_deque_create(1, 1, &memory.hooks, &deque), FILCH_OK);
    assert_int_equal(filch_deque_push(deque, item), FILCH_OK);
    assert_int_equal(filch_deque_push(deque, item), FILCH_E_FULL);
    filch_deque_destroy(deque);
}

static void status__each_of_them__comes_from_a_call(void **state)
{
    (void)state;
    expect_life_cycle_statuses();
    expect_deque_statuses();
    /* FILCH_E_THREAD needs a thread that does not start: fault/fault_thread.c. FILCH_E_STOPPED comes
     * with tokens: test_stop.c. */
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(strerror__each_status__a_clause_of_its_own),
        cmocka_unit_test(strerror__unknown_status__still_a_text),
        cmocka_unit_test(version__of_the_library__that_of_the_header),
        cmocka_unit_test(time__after_a_duration__saturates),
        cmocka_unit_test(status__each_of_them__comes_from_a_call),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
