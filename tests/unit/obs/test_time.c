/* SPDX-License-Identifier: MIT */
/* What workers spend their time on. Clock readings are compared with one another only: while a
 * worker is held in one activity that one grows by what the clock says, to the nanosecond, and the
 * other two stand still. */
#include "support/pool.h"

#include <sched.h>

#include "base/fault.h"

enum { SPAN_NS = 10000000, WORKERS_MAX = 8 };

static const unsigned sizes[] = { 1, 2, WORKERS_MAX };

typedef enum activity { BUSY, SEARCHING, PARKED, RESTING, ACTIVITIES } activity;

static uint64_t spent(const filch_worker_stats *stats, activity which)
{
    const uint64_t all[] = { stats->busy_ns, stats->searching_ns, stats->parked_ns,
                             stats->resting_ns };
    return all[which];
}

/* Only this one went on between two readings, for that long at least. */
static bool was_at(const filch_worker_stats *a, const filch_worker_stats *b, activity at,
                   uint64_t least_ns)
{
    bool right = true;
    for (int i = 0; i < ACTIVITIES; i++) {
        const uint64_t ns = spent(b, (activity)i) - spent(a, (activity)i);
        right = right && (i == (int)at ? ns >= least_ns : ns == 0);
    }
    return right;
}

/* Over a span of which worker i did nothing but expected[i]. The worker's figures are read before
 * those of the pool at the start of the span, and after them at its end, so that they cover it. */
static bool were_at(filch_pool *pool, const activity *expected)
{
    filch_worker_stats before[WORKERS_MAX];
    filch_worker_stats after[WORKERS_MAX];
    const unsigned workers = filch_pool_max_workers(pool);
    for (unsigned i = 0; i < workers; i++) {
        assert_int_equal(filch_stats_read_worker(pool, i, &before[i]), FILCH_OK);
    }
    const uint64_t began = test_pool_stats(pool).wall_ns;
    uint64_t ended = began;
    while (ended - began < SPAN_NS) {
        (void)sched_yield();
        ended = test_pool_stats(pool).wall_ns;
    }
    bool all = true;
    for (unsigned i = 0; i < workers; i++) {
        assert_int_equal(filch_stats_read_worker(pool, i, &after[i]), FILCH_OK);
        all = all && was_at(&before[i], &after[i], expected[i], ended - began);
    }
    return all;
}

/* They get there sooner or later, and then stay; the watchdog ends it if they never do. */
static bool get_and_stay_at(filch_pool *pool, const activity *expected)
{
    while (!were_at(pool, expected)) {}
    return were_at(pool, expected);
}

/* A worker whose thread has not begun yet is parked as well, but does not stay so. */
static void await_first_parks(filch_pool *pool)
{
    for (unsigned i = 0; i < filch_pool_workers(pool); i++) {
        filch_worker_stats stats = { 0 };
        while (stats.parks == 0) {
            (void)sched_yield();
            assert_int_equal(filch_stats_read_worker(pool, i, &stats), FILCH_OK);
        }
    }
}

static void time__nothing_to_do__parked(void **state)
{
    static const activity parked[] = { PARKED, PARKED, PARKED, PARKED,
                                       PARKED, PARKED, PARKED, PARKED };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(sizes); i++) {
        filch_pool *pool = test_pool_make(sizes[i]);
        await_first_parks(pool);
        assert_true(get_and_stay_at(pool, parked));
        test_pool_close(pool);
    }
}

typedef struct held {
    atomic_uint began;
    atomic_uint release;
    unsigned worker; /* of the task at the root */
    filch_fn *wait;  /* what it does, then it says so and is held again */
    atomic_uint after;
    atomic_uint end;
} held;

static void hold(filch_cx *cx, void *arg)
{
    held *h = *(held *const *)arg;
    (void)cx;
    atomic_fetch_add(&h->began, 1);
    test_await(&h->release, 1);
}

static void time__a_task_on_each_worker__busy(void **state)
{
    static const activity busy[WORKERS_MAX] = { BUSY };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(sizes); i++) {
        held h = { .began = 0 };
        held *const arg = &h;
        filch_pool *pool = test_pool_make(sizes[i]);
        for (unsigned k = 0; k < sizes[i]; k++) {
            assert_int_equal(filch_post(pool, hold, &arg, sizeof(arg), NULL), FILCH_OK);
        }
        test_await(&h.began, sizes[i]);
        const bool right = were_at(pool, busy);
        atomic_store(&h.release, 1);
        test_pool_close(pool);
        assert_true(right);
    }
}

/* Two workers: one has what the root began, the other a piece of it that is held until released. */

static uintptr_t held_fork(filch_cx *cx, uintptr_t arg)
{
    held *h = (held *)arg;
    (void)cx;
    atomic_fetch_add(&h->began, 1);
    test_await(&h->release, 1);
    return 0;
}

static void join_what_is_held(filch_cx *cx, void *arg)
{
    held *h = arg;
    filch_fork_handle fork;
    filch_fork(cx, &fork, held_fork, (uintptr_t)h);
    test_await(&h->began, 1); /* by a thief */
    (void)filch_join(cx, &fork);
}

static void held_child(filch_cx *cx, void *arg)
{
    (void)held_fork(cx, (uintptr_t)arg);
}

static void end_scope_of_what_is_held(filch_cx *cx, void *arg)
{
    held *h = arg;
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    filch_spawn(cx, &scope, held_child, h);
    test_await(&h->began, 1);
    filch_scope_end(cx, &scope);
}

static void held_unless_first(filch_cx *cx, void *ctx, filch_range range)
{
    held *h = ctx;
    if (range.slot != 0) {
        (void)held_fork(cx, (uintptr_t)h);
    } else {
        test_await(&h->began, 1);
    }
}

static void loop_of_what_is_held(filch_cx *cx, void *arg)
{
    held *h = arg;
    const filch_loop options = { .size = sizeof(options), .grain = 1 };
    TEST_CHECK(filch_for(cx, 2, held_unless_first, h, &options) == FILCH_OK);
}

/* A join inside a loop's body waits alone: it may not help. */
static void join_in_a_loop(filch_cx *cx, void *ctx, filch_range range)
{
    (void)range;
    join_what_is_held(cx, ctx);
}

static void isolated_join_of_what_is_held(filch_cx *cx, void *arg)
{
    TEST_CHECK(filch_for(cx, 1, join_in_a_loop, arg, NULL) == FILCH_OK);
}

static uint64_t searching_ns(filch_cx *cx)
{
    filch_worker_stats stats = { 0 };
    TEST_CHECK(filch_stats_read_worker(filch_cx_pool(cx), filch_cx_worker(cx), &stats) == FILCH_OK);
    return stats.searching_ns;
}

static void wait_and_hold(filch_cx *cx, void *arg)
{
    held *h = *(held *const *)arg;
    h->worker = filch_cx_worker(cx);
    const uint64_t searched = searching_ns(cx);
    h->wait(cx, h);
    TEST_CHECK(searching_ns(cx) > searched); /* before it slept */
    atomic_fetch_add(&h->after, 1);
    test_await(&h->end, 1);
}

static void time__waits_for_a_thief__parked_then_busy(void **state)
{
    static filch_fn *const waits[] = { join_what_is_held, end_scope_of_what_is_held,
                                       loop_of_what_is_held, isolated_join_of_what_is_held };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(waits); i++) {
        held h = { .wait = waits[i] };
        held *const arg = &h;
        filch_pool *pool = test_pool_make(2);
        assert_int_equal(filch_post(pool, wait_and_hold, &arg, sizeof(arg), NULL), FILCH_OK);
        test_await(&h.began, 1);
        activity expected[2] = { BUSY, BUSY };
        expected[h.worker] = PARKED;
        const bool waiting = get_and_stay_at(pool, expected);
        atomic_store(&h.release, 1);
        test_await(&h.after, 1);
        expected[h.worker] = BUSY;
        expected[1 - h.worker] = PARKED;
        const bool going_on = get_and_stay_at(pool, expected);
        atomic_store(&h.end, 1);
        test_pool_close(pool);
        assert_true(waiting && going_on);
    }
}

/* A thief is held in the middle of a steal. */
static bool hold_thief(void *ctx, filchi_point point)
{
    held *h = ctx;
    if (point == FILCHI_AT_STEAL_READ && atomic_load(&h->after) != 0) {
        atomic_fetch_add(&h->began, 1);
        test_await(&h->release, 1);
    }
    return false;
}

static uintptr_t nothing(filch_cx *cx, uintptr_t arg)
{
    (void)cx;
    return arg;
}

static void fork_and_hold(filch_cx *cx, void *arg)
{
    held *h = *(held *const *)arg;
    filch_fork_handle fork;
    h->worker = filch_cx_worker(cx);
    filch_fork(cx, &fork, nothing, 0);
    test_await(&h->release, 1);
    (void)filch_join(cx, &fork);
}

static void time__in_the_middle_of_a_steal__searching(void **state)
{
    held h = { .after = 1 };
    held *const arg = &h;
    (void)state;
    filchi_points_set(hold_thief, &h);
    filch_pool *pool = test_pool_make(2);
    await_first_parks(pool); /* both are woken then, and search */
    assert_int_equal(filch_post(pool, fork_and_hold, &arg, sizeof(arg), NULL), FILCH_OK);
    test_await(&h.began, 1);
    activity expected[2] = { SEARCHING, SEARCHING };
    expected[h.worker] = BUSY;
    const bool right = were_at(pool, expected);
    atomic_store(&h.release, 1);
    test_pool_close(pool);
    filchi_points_set(NULL, NULL);
    assert_true(right);
}

/* The child makes work when it is told to, for its parent, which sleeps in the join. */
static uintptr_t fork_when_told(filch_cx *cx, uintptr_t arg)
{
    held *h = (held *)arg;
    filch_fork_handle fork;
    h->worker = filch_cx_worker(cx);
    atomic_fetch_add(&h->began, 1);
    test_await(&h->after, 1);
    filch_fork(cx, &fork, nothing, 0);
    test_await(&h->release, 1);
    return filch_join(cx, &fork);
}

static void join_the_child(filch_cx *cx, void *arg)
{
    held *h = *(held *const *)arg;
    filch_fork_handle fork;
    filch_fork(cx, &fork, fork_when_told, (uintptr_t)h);
    test_await(&h->began, 1);
    (void)filch_join(cx, &fork);
}

static void time__woken_in_a_join__searching(void **state)
{
    held h = { .began = 0 };
    held *const arg = &h;
    (void)state;
    filchi_points_set(hold_thief, &h);
    filch_pool *pool = test_pool_make(2);
    assert_int_equal(filch_post(pool, join_the_child, &arg, sizeof(arg), NULL), FILCH_OK);
    test_await(&h.began, 1);
    activity expected[2] = { PARKED, PARKED };
    expected[h.worker] = BUSY;
    const bool waiting = get_and_stay_at(pool, expected);
    atomic_store(&h.after, 1);
    test_await(&h.began, 2);
    expected[1 - h.worker] = SEARCHING;
    const bool woken = were_at(pool, expected);
    atomic_store(&h.release, 1);
    test_pool_close(pool);
    filchi_points_set(NULL, NULL);
    assert_true(waiting && woken);
}

/* A join helps: it waits for a fork that is held, and is held itself in a fork that it took. */

typedef struct helping {
    held first;
    held second;
} helping;

static void join_both(filch_cx *cx, void *arg)
{
    helping *h = *(helping *const *)arg;
    filch_fork_handle fork;
    h->first.worker = filch_cx_worker(cx);
    filch_fork(cx, &fork, held_fork, (uintptr_t)&h->first);
    test_await(&h->first.began, 1);
    (void)filch_join(cx, &fork); /* and steal the second */
}

/* On the third worker, which makes something to steal. */
static void offer_second(filch_cx *cx, void *arg)
{
    helping *h = *(helping *const *)arg;
    filch_fork_handle fork;
    h->second.worker = filch_cx_worker(cx);
    filch_fork(cx, &fork, held_fork, (uintptr_t)&h->second);
    test_await(&h->second.began, 1);
    test_await(&h->second.release, 1);
    (void)filch_join(cx, &fork);
}

static void time__helps_in_a_join__busy(void **state)
{
    static const activity busy[WORKERS_MAX] = { BUSY };
    helping h = { .first = { .began = 0 } };
    helping *const arg = &h;
    (void)state;
    filch_pool *pool = test_pool_make(3);
    assert_int_equal(filch_post(pool, join_both, &arg, sizeof(arg), NULL), FILCH_OK);
    test_await(&h.first.began, 1);
    assert_int_equal(filch_post(pool, offer_second, &arg, sizeof(arg), NULL), FILCH_OK);
    test_await(&h.second.began, 1); /* by the one that joins: the other two are held */
    const bool right = were_at(pool, busy);
    atomic_store(&h.second.release, 1);
    atomic_store(&h.first.release, 1);
    test_pool_close(pool);
    assert_true(right);
}

/* Off duty, with a thread and without one. */
static void time__pool_resized__resting(void **state)
{
    static const activity at_first[] = { PARKED, PARKED, RESTING };
    static const activity smaller[] = { PARKED, RESTING, RESTING };
    static const activity larger[] = { PARKED, PARKED, PARKED };
    held h = { .began = 0 };
    held *const arg = &h;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    config.workers = 2;
    config.max_workers = 3;
    filch_pool *pool = test_pool_make_as(&config);
    await_first_parks(pool);
    assert_true(get_and_stay_at(pool, at_first));
    assert_int_equal(filch_post(pool, hold, &arg, sizeof(arg), NULL), FILCH_OK);
    assert_int_equal(filch_post(pool, hold, &arg, sizeof(arg), NULL), FILCH_OK);
    test_await(&h.began, 2);
    assert_int_equal(filch_pool_resize(pool, 1), FILCH_OK);
    atomic_store(&h.release, 1);
    assert_true(get_and_stay_at(pool, smaller));
    assert_int_equal(filch_pool_resize(pool, 3), FILCH_OK);
    assert_true(get_and_stay_at(pool, larger));
    test_pool_close(pool);
}

/* Hooks are the user's code. */
static void hold_hook(void *arg, unsigned worker)
{
    held *h = arg;
    h->worker = worker;
    atomic_fetch_add(&h->began, 1);
    test_await(&h->release, 1);
}

static void *shut_down(void *arg)
{
    TEST_CHECK(filch_pool_shutdown(arg, FILCH_DRAIN, FILCH_FOREVER, NULL) == FILCH_OK);
    return NULL;
}

static void time__in_a_hook__busy(void **state)
{
    static const activity busy[WORKERS_MAX] = { BUSY };
    (void)state;
    for (int stop = 0; stop < 2; stop++) {
        held h = { .began = 0 };
        filch_pool_config config = FILCH_POOL_CONFIG_INIT;
        pthread_t thread;
        config.workers = 1;
        config.hook_arg = &h;
        *(stop != 0 ? &config.on_stop : &config.on_start) = hold_hook;
        filch_pool *pool = test_pool_make_as(&config);
        if (stop != 0) {
            test_thread_start(&thread, shut_down, pool);
        }
        test_await(&h.began, 1);
        const bool right = were_at(pool, busy);
        atomic_store(&h.release, 1);
        if (stop != 0) {
            test_thread_join(thread);
        }
        test_pool_close(pool);
        assert_true(right);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(time__nothing_to_do__parked),
        cmocka_unit_test(time__a_task_on_each_worker__busy),
        cmocka_unit_test(time__waits_for_a_thief__parked_then_busy),
        cmocka_unit_test(time__in_the_middle_of_a_steal__searching),
        cmocka_unit_test(time__woken_in_a_join__searching),
        cmocka_unit_test(time__helps_in_a_join__busy),
        cmocka_unit_test(time__pool_resized__resting),
        cmocka_unit_test(time__in_a_hook__busy),
    };
    test_begin(200);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
