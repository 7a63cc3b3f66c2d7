/* SPDX-License-Identifier: MIT */
/* The edges of the contracts: who may wait for a pool, what a loop's body is protected from, what
 * is counted as refused, what starves, what a helping wait may use of the stack. Each case stands
 * for a fault that was there once. */
#include "support/pool.h"

#include "support/alloc.h"
#include "support/child.h"

#include <string.h>

static void nop(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
}

static uintptr_t nop_word(filch_cx *cx, uintptr_t word)
{
    (void)cx;
    return word;
}

/* All calls that wait for the pool, from inside it. */
static void check_cannot_wait(filch_pool *pool)
{
    TEST_CHECK(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_E_ON_WORKER);
    TEST_CHECK(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, NULL) == FILCH_E_ON_WORKER);
    TEST_CHECK(filch_pool_destroy(pool) == FILCH_E_ON_WORKER);
}

static void wait_in_body(filch_cx *cx, void *ctx, filch_range range)
{
    (void)cx;
    (void)range;
    check_cannot_wait(ctx);
}

static void guest__waits_for_its_own_pool__status(void **state)
{
    filch_pool *pool = test_pool_make(2);
    (void)state;
    assert_int_equal(filch_for_on(pool, 8, wait_in_body, pool, NULL), FILCH_OK);
    test_pool_close(pool);
}

static void hook_that_waits(void *arg, unsigned worker)
{
    filch_pool *pool = atomic_load((filch_pool * _Atomic *)arg);
    (void)worker;
    if (pool != NULL) {
        check_cannot_wait(pool);
    }
}

static void hook__waits_for_its_own_pool__status(void **state)
{
    filch_pool *_Atomic pool = NULL;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    config.workers = 2;
    config.on_stop = hook_that_waits;
    config.hook_arg = (void *)&pool;
    atomic_store(&pool, test_pool_make_as(&config));
    /* the last hook runs while destroy joins: the pool is there until then */
    test_pool_close(atomic_load(&pool));
}

static void refused__loops_are_not_tasks__not_counted(void **state)
{
    filch_pool *pool = test_pool_make(1);
    filch_shutdown_report report;
    (void)state;
    assert_int_equal(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, NULL), FILCH_OK);
    assert_int_equal(filch_for_on(pool, 8, wait_in_body, pool, NULL), FILCH_E_CLOSED);
    assert_int_equal(filch_post(pool, nop, NULL, 0, NULL), FILCH_E_CLOSED);
    assert_int_equal(filch_run(pool, nop, NULL), FILCH_E_CLOSED);
    assert_int_equal(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, &report), FILCH_OK);
    assert_int_equal(report.refused, 2);
    assert_int_equal(report.accepted, 0);
    assert_int_equal(filch_pool_destroy(pool), FILCH_OK);
}

/* A worker of one pool is the guest of another. */
typedef struct two_pools {
    filch_pool *home;
    filch_pool *away;
    atomic_uint stage;
    _Atomic(bool) in_body; /* of the thread that is the guest: only that one sets it */
    pthread_t guest;
    atomic_uint intruders;
    atomic_uint bait;
} two_pools;

static uintptr_t intruder(filch_cx *cx, uintptr_t arg)
{
    two_pools *t = (two_pools *)arg;
    (void)cx;
    if (atomic_load(&t->in_body) && pthread_equal(pthread_self(), t->guest)) {
        atomic_fetch_add(&t->intruders, 1);
    }
    atomic_fetch_add(&t->bait, 1);
    return 0;
}

static uintptr_t until_bait_is_gone(filch_cx *cx, uintptr_t arg)
{
    two_pools *t = (two_pools *)arg;
    (void)cx;
    atomic_store(&t->stage, 2); /* stolen: the join of the guest has to wait from now on */
    test_await(&t->bait, 8);
    return 0;
}

static void join_at_home(filch_cx *cx, void *arg)
{
    two_pools *t = arg;
    filch_fork_handle handle;
    filch_fork(cx, &handle, until_bait_is_gone, (uintptr_t)t);
    test_await(&t->stage, 2);
    (void)filch_join(cx, &handle);
}

static void body_away(filch_cx *cx, void *ctx, filch_range range)
{
    two_pools *t = ctx;
    (void)cx;
    if (range.lo == 0 && filch_here() != NULL && filch_cx_pool(filch_here()) == t->home) {
        t->guest = pthread_self();
        atomic_store(&t->in_body, true);
        atomic_store(&t->stage, 1);
        TEST_CHECK(filch_run(t->home, join_at_home, t) == FILCH_OK);
        atomic_store(&t->in_body, false);
    }
}

static void go_away(filch_cx *cx, void *arg)
{
    two_pools *t = arg;
    (void)cx;
    TEST_CHECK(filch_for_on(t->away, 1, body_away, t, NULL) == FILCH_OK);
}

static void lay_bait(filch_cx *cx, void *arg)
{
    two_pools *t = arg;
    filch_fork_handle handles[8];
    test_await(&t->stage, 2);
    for (int i = 0; i < 8; i++) {
        filch_fork(cx, &handles[i], intruder, (uintptr_t)t);
    }
    for (int i = 7; i >= 0; i--) {
        (void)filch_join(cx, &handles[i]);
    }
}

static void guest__of_another_pool__own_lane_is_isolated(void **state)
{
    two_pools t;
    (void)state;
    memset(&t, 0, sizeof(t));
    t.home = test_pool_make(3);
    t.away = test_pool_make(1);
    assert_int_equal(filch_post(t.home, go_away, &t, 0, NULL), FILCH_OK);
    test_await(&t.stage, 1);
    assert_int_equal(filch_post(t.home, lay_bait, &t, 0, NULL), FILCH_OK);
    test_pool_close(t.home);
    test_pool_close(t.away);
    assert_int_equal(atomic_load(&t.intruders), 0);
}

/* A post that finds no room may run its task in place, but not inside a loop's body. */
typedef struct cramped {
    test_allocator memory;
    filch_pool *pool;
    atomic_uint full;
    atomic_uint ran_inside;
    atomic_bool inside;
} cramped;

static void see_inside(filch_cx *cx, void *arg)
{
    cramped *c = arg;
    (void)cx;
    if (atomic_load(&c->inside)) {
        atomic_fetch_add(&c->ran_inside, 1);
    }
}

static void post_without_memory(filch_cx *cx, void *ctx, filch_range range)
{
    cramped *c = ctx;
    (void)cx;
    (void)range;
    atomic_store(&c->inside, true);
    if (filch_post(c->pool, see_inside, c, 0, NULL) == FILCH_E_FULL) {
        atomic_fetch_add(&c->full, 1);
    }
    atomic_store(&c->inside, false);
}

static void loop_without_memory(filch_cx *cx, void *arg)
{
    cramped *c = arg;
    test_allocator_fail(&c->memory, 1, true);
    TEST_CHECK(filch_for(cx, 4, post_without_memory, c, NULL) == FILCH_OK);
    /* outside of a loop the same post runs its task at once */
    TEST_CHECK(filch_post(c->pool, see_inside, c, 0, NULL) == FILCH_OK);
    test_allocator_fail(&c->memory, 0, false);
}

static void post__in_a_loop_without_room__full_not_inline(void **state)
{
    cramped c;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    memset(&c, 0, sizeof(c));
    test_allocator_init(&c.memory);
    config.workers = 1;
    config.allocator = &c.memory.hooks;
    c.pool = test_pool_make_as(&config);
    test_pool_run(c.pool, loop_without_memory, &c);
    assert_int_equal(test_pool_stats(c.pool).total.tasks_inline, 1);
    assert_int_equal(test_pool_stats(c.pool).refused, 4);
    test_pool_close(c.pool);
    assert_int_equal(atomic_load(&c.full), 4);
    assert_int_equal(atomic_load(&c.ran_inside), 0);
    test_allocator_assert_balanced(&c.memory);
}

/* A task that posts itself until an older task has run. */
typedef struct poll_task {
    atomic_bool ran;
    atomic_uint polls;
} poll_task;

static void set_ran(filch_cx *cx, void *arg)
{
    (void)cx;
    atomic_store(&((poll_task *)arg)->ran, true);
}

static void poll_again(filch_cx *cx, void *arg)
{
    poll_task *p = arg;
    if (!atomic_load(&p->ran) && atomic_fetch_add(&p->polls, 1) < 10000) {
        TEST_CHECK(filch_post(filch_cx_pool(cx), poll_again, p, 0, NULL) == FILCH_OK);
    }
}

static void begin_polling(filch_cx *cx, void *arg)
{
    TEST_CHECK(filch_post(filch_cx_pool(cx), set_ran, arg, 0, NULL) == FILCH_OK);
    TEST_CHECK(filch_post(filch_cx_pool(cx), poll_again, arg, 0, NULL) == FILCH_OK);
}

static void own_tasks__newest_first_for_ever__oldest_is_not_starved(void **state)
{
    poll_task p = { false, 0 };
    filch_pool *pool = test_pool_make(1);
    (void)state;
    assert_int_equal(filch_post(pool, begin_polling, &p, 0, NULL), FILCH_OK);
    test_pool_close(pool);
    assert_true(atomic_load(&p.ran));
    assert_true(atomic_load(&p.polls) < 200);
}

/* A waiting join helps while half of the stack is left, and not below: what it would steal may need
 * as much as it has used itself. */
enum { STACK_BYTES = 4 << 20, FRAME_BYTES = 16 << 10, BAIT = 8 };

typedef struct deep_wait {
    size_t eighths; /* of the stack in use when the join waits */
    bool must_help; /* the thief holds its task until the waiting worker has helped */
    atomic_uint stolen;
    atomic_uint bait_taken;
    atomic_uint helped;
    pthread_t waiter;
} deep_wait;

static uintptr_t hold(filch_cx *cx, uintptr_t arg)
{
    deep_wait *d = (deep_wait *)arg;
    (void)cx;
    atomic_store(&d->stolen, 1);
    test_await(&d->bait_taken, BAIT);
    if (d->must_help) {
        test_await(&d->helped, 1);
    }
    return 0;
}

static uintptr_t bait(filch_cx *cx, uintptr_t arg)
{
    deep_wait *d = (deep_wait *)arg;
    (void)cx;
    if (pthread_equal(pthread_self(), d->waiter)) {
        atomic_fetch_add(&d->helped, 1);
    } else if (d->must_help) {
        test_await(&d->helped, 1);
    }
    atomic_fetch_add(&d->bait_taken, 1);
    return 0;
}

static void wait_here(filch_cx *cx, deep_wait *d)
{
    filch_fork_handle handle;
    filch_fork(cx, &handle, hold, (uintptr_t)d);
    test_await(&d->stolen, 1);
    (void)filch_join(cx, &handle);
}

static unsigned descend(filch_cx *cx, deep_wait *d, size_t left_bytes)
{
    volatile unsigned char frame[FRAME_BYTES];
    const size_t at = left_bytes % FRAME_BYTES; /* not a constant: the frame keeps its size */
    frame[at] = 1;
    if (left_bytes > FRAME_BYTES) {
        const unsigned below = descend(cx, d, left_bytes - FRAME_BYTES);
        return below + frame[at]; /* read afterwards, or the calls would share one frame */
    }
    wait_here(cx, d);
    return frame[at];
}

static void wait_deep(filch_cx *cx, void *arg)
{
    deep_wait *d = arg;
    pthread_attr_t attr;
    void *low = NULL;
    size_t bytes = 0;
    d->waiter = pthread_self();
    /* the stack may be larger than what was asked for: libc keeps some */
    TEST_CHECK(pthread_getattr_np(pthread_self(), &attr) == 0);
    TEST_CHECK(pthread_attr_getstack(&attr, &low, &bytes) == 0);
    (void)pthread_attr_destroy(&attr);
    (void)descend(cx, d, bytes / 8 * d->eighths);
}

static void offer_bait(filch_cx *cx, void *arg)
{
    deep_wait *d = arg;
    filch_fork_handle handles[BAIT];
    test_await(&d->stolen, 1);
    for (int i = 0; i < BAIT; i++) {
        filch_fork(cx, &handles[i], bait, (uintptr_t)d);
    }
    for (int i = BAIT - 1; i >= 0; i--) {
        (void)filch_join(cx, &handles[i]);
    }
}

static unsigned helped_at(size_t eighths, bool must_help)
{
    deep_wait d;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    memset(&d, 0, sizeof(d));
    d.eighths = eighths;
    d.must_help = must_help;
    config.workers = 3;
    config.stack_bytes = STACK_BYTES;
    filch_pool *pool = test_pool_make_as(&config);
    assert_int_equal(filch_post(pool, wait_deep, &d, 0, NULL), FILCH_OK);
    assert_int_equal(filch_post(pool, offer_bait, &d, 0, NULL), FILCH_OK);
    test_pool_close(pool);
    return atomic_load(&d.helped);
}

static void help__below_half_of_the_stack__not_any_more(void **state)
{
    (void)state;
    assert_true(helped_at(1, true) >= 1);
    for (int round = 0; round < 20; round++) {
        assert_int_equal(helped_at(5, false), 0);
    }
}

static void leave_fork_open(filch_cx *cx, void *arg)
{
    /* the handle outlives the call, so that only the rule is broken */
    filch_fork(cx, arg, nop_word, 1);
}

static void leave_scope_open(filch_cx *cx, void *arg)
{
    filch_scope_begin(cx, arg);
}

static void run_in_child(void *arg)
{
    static filch_fork_handle handle;
    static filch_scope scope;
    filch_pool *pool = test_pool_make(1);
    const bool fork = *(bool *)arg;
    (void)filch_run(pool, fork ? leave_fork_open : leave_scope_open,
                    fork ? (void *)&handle : (void *)&scope);
}

static void task__returns_with_a_fork_or_scope_open__aborts(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        bool fork = i == 0;
        test_assert_child_aborts(run_in_child, &fork, "joins its forks and ends its scopes");
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(guest__waits_for_its_own_pool__status),
        cmocka_unit_test(hook__waits_for_its_own_pool__status),
        cmocka_unit_test(refused__loops_are_not_tasks__not_counted),
        cmocka_unit_test(guest__of_another_pool__own_lane_is_isolated),
        cmocka_unit_test(post__in_a_loop_without_room__full_not_inline),
        cmocka_unit_test(own_tasks__newest_first_for_ever__oldest_is_not_starved),
        cmocka_unit_test(help__below_half_of_the_stack__not_any_more),
        cmocka_unit_test(task__returns_with_a_fork_or_scope_open__aborts),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
