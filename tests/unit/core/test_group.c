/* SPDX-License-Identifier: MIT */
/* Groups: who runs their tasks, how they end, and what the calls say. */
#include "groups.h"

#include "support/child.h"

static const unsigned worker_counts[] = { 1, 2, 4 };

/* Waits in tasks. */

typedef struct level {
    unsigned depth;
    atomic_uint *leaves;
} level;

static void three_children(filch_cx *cx, void *arg)
{
    const level *l = arg;
    const level below = { l->depth - 1, l->leaves };
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    if (l->depth == 0) {
        atomic_fetch_add(l->leaves, 1);
        return;
    }
    options.group = make_group(filch_cx_pool(cx), 0);
    for (int i = 0; i < 3; i++) {
        TEST_CHECK(filch_post(filch_cx_pool(cx), three_children, &below, sizeof(below), &options) ==
                   FILCH_OK);
    }
    TEST_CHECK(wait_for(options.group) == FILCH_OK);
    destroy_group(options.group);
}

static void wait__in_tasks_ten_deep__ends_at_any_number_of_workers(void **state)
{
    const unsigned depth = test_count(10, 6) >= 10 ? 10 : 6;
    unsigned expected = 1;
    (void)state;
    for (unsigned d = 0; d < depth; d++) {
        expected *= 3;
    }
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        atomic_uint leaves = 0;
        level top = { depth, &leaves };
        filch_pool *pool = test_pool_make(worker_counts[w]);
        test_pool_run(pool, three_children, &top);
        assert_int_equal(atomic_load(&leaves), expected);
        expect_sums(pool);
        test_pool_close(pool);
    }
}

/* One worker; what else it could run lies before, between and after the tasks of the group. */
typedef struct mixed {
    filch_group *other;
    atomic_uint others;
    atomic_uint ours;
    atomic_bool waiting;
} mixed;

static void ours(filch_cx *cx, void *arg)
{
    mixed *m = arg;
    (void)cx;
    TEST_CHECK(atomic_load(&m->waiting));
    atomic_fetch_add(&m->ours, 1);
}

static void others(filch_cx *cx, void *arg)
{
    mixed *m = arg;
    (void)cx;
    TEST_CHECK(!atomic_load(&m->waiting));
    atomic_fetch_add(&m->others, 1);
}

static void wait_among_others(filch_cx *cx, void *arg)
{
    mixed *m = arg;
    filch_pool *pool = filch_cx_pool(cx);
    filch_group *group = make_group(pool, 0);
    for (int i = 0; i < 20; i++) {
        TEST_CHECK(post(i % 2 == 0 ? NULL : m->other, pool, others, m) == FILCH_OK);
        TEST_CHECK(post(group, pool, ours, m) == FILCH_OK);
    }
    atomic_store(&m->waiting, true);
    TEST_CHECK(wait_for(group) == FILCH_OK);
    TEST_CHECK(atomic_load(&m->ours) == 20 && atomic_load(&m->others) == 0);
    atomic_store(&m->waiting, false);
    destroy_group(group);
}

static void wait__one_worker_with_other_work__runs_its_group_only(void **state)
{
    mixed m = { 0 };
    (void)state;
    filch_pool *pool = test_pool_make(1);
    m.other = make_group(pool, 0);
    test_pool_run(pool, wait_among_others, &m);
    assert_int_equal(wait_for(m.other), FILCH_OK);
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(atomic_load(&m.others), 20);
    destroy_group(m.other);
    test_pool_close(pool);
    test_assert_clean();
}

/* A worker that sleeps in a wait is woken by a task that comes later, from outside. */
typedef struct fed {
    filch_group *group;
    atomic_uint begun;
    atomic_uint ended;
} fed;

static void wait_inside(filch_cx *cx, void *arg)
{
    fed *f = arg;
    (void)cx;
    atomic_store(&f->begun, 1);
    TEST_CHECK(filch_group_wait(f->group, FILCH_FOREVER, NULL, NULL) == FILCH_OK);
    atomic_store(&f->ended, 1);
}

static void wait__one_worker_sleeps_and_a_task_comes__runs_it(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        held h;
        fed f = { 0 };
        begin();
        hold(&h, 1, 8);
        filch_pool *two = test_pool_make(1);
        f.group = make_group(two, 0);
        assert_int_equal(post(f.group, two, hold_one, &h), FILCH_OK);
        test_await(&h.in, 2); /* the only worker of `two` is held in a task of the group */
        assert_int_equal(filch_post(two, wait_inside, &f, 0, NULL), FILCH_OK);
        assert_int_equal(post(f.group, two, run_it, NULL), FILCH_OK);
        atomic_store(&h.open, 1);
        assert_int_equal(filch_pool_wait_quiet(two, FILCH_FOREVER), FILCH_OK);
        assert_int_equal(atomic_load(&runs), 1);
        assert_int_equal(atomic_load(&f.ended), 1);
        destroy_group(f.group);
        test_pool_close(two);
        let_go_and_close(&h);
    }
}

/* Failures. */

static void fail_with(filch_cx *cx, void *arg)
{
    TEST_CHECK(filch_fail(cx, (filch_status)(intptr_t)arg) == FILCH_OK);
    TEST_CHECK(filch_fail(cx, FILCH_E_INVALID) == FILCH_OK); /* the first call counts */
}

static void wait__tasks_fail__first_failure_of_each_round(void **state)
{
    (void)state;
    begin();
    filch_pool *pool = test_pool_make(1);
    filch_group *group = make_group(pool, 0);
    assert_int_equal(wait_for(group), FILCH_OK); /* nothing was ever posted */
    assert_int_equal(post(group, pool, run_it, NULL), FILCH_OK);
    assert_int_equal(post(group, pool, fail_with, (void *)(intptr_t)FILCH_E_FULL), FILCH_OK);
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(post(group, pool, fail_with, (void *)(intptr_t)FILCH_E_CLOSED), FILCH_OK);
    assert_int_equal(wait_for(group), FILCH_E_FULL);
    assert_int_equal(wait_for(group), FILCH_E_FULL); /* still that round */
    assert_int_equal(post(group, pool, run_it, NULL), FILCH_OK);
    assert_int_equal(wait_for(group), FILCH_OK);
    assert_int_equal(atomic_load(&runs), 2);
    destroy_group(group);
    test_pool_close(pool);
}

static void fail_without_group(filch_cx *cx, void *arg)
{
    (void)arg;
    TEST_CHECK(filch_fail(cx, FILCH_E_FULL) == FILCH_E_INVALID);
    TEST_CHECK(filch_fail(cx, FILCH_OK) == FILCH_E_INVALID);
    TEST_CHECK(!filch_stopped(cx));
}

static void fail__no_task_of_a_group__invalid(void **state)
{
    (void)state;
    filch_pool *pool = test_pool_make(1);
    test_pool_run(pool, fail_without_group, NULL);
    assert_int_equal(filch_fail(NULL, FILCH_E_FULL), FILCH_E_INVALID);
    test_pool_close(pool);
    test_assert_clean();
}

typedef struct siblings {
    filch_group *group;
    atomic_uint begun;
    atomic_uint stopped;
} siblings;

static void run_until_cancelled(filch_cx *cx, void *arg)
{
    siblings *s = arg;
    atomic_fetch_add(&s->begun, 1);
    while (!filch_stopped(cx)) {}
    TEST_CHECK(post(s->group, filch_cx_pool(cx), run_it, NULL) == FILCH_E_CANCELLED);
    atomic_fetch_add(&s->stopped, 1);
}

static void fail_when_sibling_runs(filch_cx *cx, void *arg)
{
    siblings *s = arg;
    test_await(&s->begun, 1);
    TEST_CHECK(filch_fail(cx, FILCH_E_SYSTEM) == FILCH_OK);
}

static void fail__fail_fast__rest_is_cancelled_and_running_ones_see_it(void **state)
{
    siblings s = { 0 };
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    held h;
    (void)state;
    begin();
    hold(&h, 2, 64);
    s.group = make_group(h.pool, FILCH_GROUP_FAIL_FAST);
    options.group = s.group;
    options.end = note_end;
    assert_int_equal(filch_post(h.pool, run_until_cancelled, &s, 0, &options), FILCH_OK);
    assert_int_equal(filch_post(h.pool, fail_when_sibling_runs, &s, 0, &options), FILCH_OK);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(filch_post(h.pool, run_it, NULL, 0, &options), FILCH_OK);
    }
    atomic_store(&h.open, 1);
    assert_int_equal(wait_for(s.group), FILCH_E_SYSTEM);
    assert_int_equal(atomic_load(&s.stopped), 1);
    assert_int_equal(atomic_load(&runs), 0);
    assert_int_equal(atomic_load(&ends[FILCH_RAN]), 2);
    assert_int_equal(atomic_load(&ends[FILCH_CANCELLED]), 20);
    assert_int_equal(post(s.group, h.pool, run_it, NULL), FILCH_OK); /* the next round */
    assert_int_equal(wait_for(s.group), FILCH_OK);
    destroy_group(s.group);
    let_go_and_close(&h);
    test_assert_clean();
}

/* Cancelling. */

static void cancel__none_has_started__all_end_before_it_returns(void **state)
{
    held h;
    size_t cancelled = 0;
    (void)state;
    begin();
    hold(&h, 1, THOUSAND);
    filch_group *group = make_group(h.pool, 0);
    submit_thousand(h.pool, group);
    assert_int_equal(filch_group_destroy(group), FILCH_E_BUSY);
    assert_int_equal(filch_group_cancel(group, &cancelled), FILCH_OK);
    assert_int_equal(cancelled, THOUSAND);
    assert_int_equal(atomic_load(&ends[FILCH_CANCELLED]), THOUSAND); /* the worker is held still */
    assert_int_equal(post(group, h.pool, run_it, NULL), FILCH_E_CANCELLED);
    assert_int_equal(wait_for(group), FILCH_E_CANCELLED);
    assert_int_equal(post(group, h.pool, run_it, NULL), FILCH_OK);
    assert_int_equal(filch_group_cancel(group, NULL), FILCH_OK);
    assert_int_equal(test_pool_stats(h.pool).total.tasks_cancelled, THOUSAND + 1);
    assert_int_equal(wait_for(group), FILCH_E_CANCELLED);
    destroy_group(group);
    let_go_and_close(&h);
    assert_int_equal(atomic_load(&runs), 0);
}

static void cancel_inside(filch_cx *cx, void *arg)
{
    size_t cancelled = 0;
    (void)cx;
    TEST_CHECK(filch_group_cancel(arg, &cancelled) == FILCH_OK);
    atomic_fetch_add(&runs, (unsigned)cancelled);
}

static void cancel__while_workers_take__each_ends_once(void **state)
{
    const size_t rounds = test_count(300, 40);
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        filch_pool_config config = FILCH_POOL_CONFIG_INIT;
        config.workers = worker_counts[w];
        filch_pool *pool = test_pool_make_as(&config);
        filch_group *group = make_group(pool, 0);
        for (size_t i = 0; i < rounds; i++) {
            size_t cancelled = 0;
            begin();
            submit_thousand(pool, group);
            if (i % 2 == 0) {
                assert_int_equal(filch_group_cancel(group, &cancelled), FILCH_OK);
            } else { /* what it cancels it adds to the runs */
                assert_int_equal(filch_run(pool, cancel_inside, group), FILCH_OK);
            }
            (void)wait_for(group);
            assert_int_equal(atomic_load(&runs) + cancelled, THOUSAND);
            assert_int_equal(atomic_load(&ends[FILCH_RAN]) + atomic_load(&ends[FILCH_CANCELLED]),
                             THOUSAND);
        }
        destroy_group(group);
        expect_sums(pool);
        test_pool_close(pool);
    }
}

/* Waits that end otherwise. */

typedef struct stoppable {
    filch_group *group;
    filch_token *token;
    filch_time until;
    atomic_int status;
    atomic_uint begun;
} stoppable;

static void wait_with_token(filch_cx *cx, void *arg)
{
    stoppable *s = arg;
    filch_status first = FILCH_E_ABI;
    (void)cx;
    atomic_store(&s->begun, 1);
    atomic_store(&s->status, filch_group_wait(s->group, s->until, s->token, &first));
    TEST_CHECK(first == FILCH_E_ABI); /* on failure untouched */
}

static void *wait_on_thread(void *arg)
{
    wait_with_token(NULL, arg);
    return NULL;
}

static void wait__stopped_or_late__in_a_thread_and_in_a_task(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        held h;
        pthread_t thread;
        filch_token *token = NULL;
        hold(&h, 1, 8);
        filch_pool *pool = test_pool_make(2);
        filch_group *group = make_group(pool, 0);
        assert_int_equal(filch_token_create(NULL, NULL, &token), FILCH_OK);
        assert_int_equal(post(group, pool, hold_one, &h), FILCH_OK);
        test_await(&h.in, 2);
        const filch_time until = late ? filch_time_after_ms(2) : FILCH_FOREVER;
        stoppable outside = { .group = group, .token = token, .until = until };
        stoppable inside = outside;
        test_thread_start(&thread, wait_on_thread, &outside);
        assert_int_equal(filch_post(pool, wait_with_token, &inside, 0, NULL), FILCH_OK);
        test_await(&inside.begun, 1);
        test_await(&outside.begun, 1);
        if (!late) {
            assert_int_equal(filch_token_stop(token), FILCH_OK);
        }
        test_thread_join(thread);
        while (atomic_load(&inside.status) == FILCH_OK) {}
        assert_int_equal(atomic_load(&outside.status), late ? FILCH_E_TIMEOUT : FILCH_E_STOPPED);
        assert_int_equal(atomic_load(&inside.status), late ? FILCH_E_TIMEOUT : FILCH_E_STOPPED);
        assert_int_equal(filch_group_wait(group, FILCH_NOW, NULL, NULL), FILCH_E_TIMEOUT);
        atomic_store(&h.open, 1);
        assert_int_equal(wait_for(group), FILCH_OK);
        /* when it is over a stopped token does no harm */
        assert_int_equal(filch_group_wait(group, FILCH_NOW, token, NULL), FILCH_OK);
        destroy_group(group);
        test_pool_close(pool);
        assert_int_equal(filch_token_destroy(token), FILCH_OK);
        let_go_and_close(&h);
    }
    test_assert_clean();
}

/* Task 50 of 100 alone, while others run; and it is answered at once afterwards. */
static void wait__for_one_of_many__returns_when_that_one_has_ended(void **state)
{
    held h;
    held last = { 0 };
    (void)state;
    begin();
    hold(&h, 2, 128);
    filch_group *one = make_group(h.pool, 0);
    filch_group *rest = make_group(h.pool, 0);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(post(i == 50 ? one : rest, h.pool, i < 99 ? run_it : hold_one, &last),
                         FILCH_OK);
    }
    assert_int_equal(filch_group_wait(one, filch_time_after_ms(1), NULL, NULL), FILCH_E_TIMEOUT);
    atomic_store(&h.open, 1);
    assert_int_equal(wait_for(one), FILCH_OK);
    assert_int_equal(wait_for(one), FILCH_OK);
    assert_int_equal(filch_group_wait(rest, FILCH_NOW, NULL, NULL), FILCH_E_TIMEOUT);
    atomic_store(&last.open, 1);
    assert_int_equal(wait_for(rest), FILCH_OK);
    assert_int_equal(atomic_load(&runs), 99);
    destroy_group(one);
    destroy_group(rest);
    let_go_and_close(&h);
}

/* Misuse. */

static void wait_for_itself(filch_cx *cx, void *arg)
{
    (void)cx;
    TEST_CHECK(filch_group_wait(arg, FILCH_FOREVER, NULL, NULL) == FILCH_E_ON_WORKER);
}

static void wait_in_loop(filch_cx *cx, void *ctx, filch_range range)
{
    (void)range;
    if (filch_cx_worker(cx) == filch_pool_max_workers(filch_cx_pool(cx))) {
        TEST_CHECK(filch_group_wait(ctx, FILCH_NOW, NULL, NULL) == FILCH_E_ON_WORKER);
    }
}

static void calls__misuse__has_a_status(void **state)
{
    filch_group *group = NULL;
    filch_group_config config = FILCH_GROUP_CONFIG_INIT;
    (void)state;
    filch_pool *pool = test_pool_make(1);
    filch_pool *other = test_pool_make(1);
    assert_int_equal(filch_group_create(NULL, NULL, &group), FILCH_E_INVALID);
    assert_int_equal(filch_group_create(pool, NULL, NULL), FILCH_E_INVALID);
    config.flags = 2;
    assert_int_equal(filch_group_create(pool, &config, &group), FILCH_E_INVALID);
    config = (filch_group_config)FILCH_GROUP_CONFIG_INIT;
    config.size = 1;
    assert_int_equal(filch_group_create(pool, &config, &group), FILCH_E_INVALID);
    for (size_t i = 0; i < TEST_CASES(config.reserved); i++) {
        config = (filch_group_config)FILCH_GROUP_CONFIG_INIT;
        config.reserved[i] = 1;
        assert_int_equal(filch_group_create(pool, &config, &group), FILCH_E_INVALID);
    }
    assert_null(group);
    assert_int_equal(filch_group_wait(NULL, FILCH_NOW, NULL, NULL), FILCH_E_INVALID);
    assert_int_equal(filch_group_cancel(NULL, NULL), FILCH_E_INVALID);
    assert_int_equal(filch_group_destroy(NULL), FILCH_OK);
    group = make_group(pool, 0);
    assert_int_equal(post(group, other, run_it, NULL), FILCH_E_INVALID);
    assert_int_equal(post(group, pool, wait_for_itself, group), FILCH_OK);
    assert_int_equal(wait_for(group), FILCH_OK);
    assert_int_equal(filch_for_on(pool, 100, wait_in_loop, group, NULL), FILCH_OK);
    test_pool_close(other);
    assert_int_equal(filch_pool_destroy(pool), FILCH_E_BUSY);
    assert_int_equal(post(group, pool, run_it, NULL), FILCH_E_CLOSED); /* it is shut down */
    assert_int_equal(wait_for(group), FILCH_OK);
    destroy_group(group);
    assert_int_equal(filch_pool_destroy(pool), FILCH_OK);
    test_assert_clean();
}

static void in_child(void *arg)
{
    filch_group *group = arg;
    TEST_CHILD_CHECK(filch_group_wait(group, FILCH_FOREVER, NULL, NULL) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_group_cancel(group, NULL) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_group_destroy(group) == FILCH_OK);
}

typedef struct of_pool {
    filch_pool *pool;
    filch_group *group;
} of_pool;

static void pool_in_child(void *arg)
{
    of_pool *p = arg;
    filch_group *group = NULL;
    TEST_CHILD_CHECK(filch_group_create(p->pool, NULL, &group) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(post(p->group, p->pool, run_it, NULL) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_pool_destroy(p->pool) == FILCH_OK);
    TEST_CHILD_CHECK(filch_group_destroy(p->group) == FILCH_OK);
}

static void group__after_fork__says_so(void **state)
{
    (void)state;
    of_pool p = { .pool = test_pool_make(1) };
    p.group = make_group(p.pool, 0);
    test_assert_child_ok(in_child, p.group);
    test_assert_child_ok(pool_in_child, &p);
    destroy_group(p.group);
    test_pool_close(p.pool);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(wait__in_tasks_ten_deep__ends_at_any_number_of_workers),
        cmocka_unit_test(wait__one_worker_with_other_work__runs_its_group_only),
        cmocka_unit_test(wait__one_worker_sleeps_and_a_task_comes__runs_it),
        cmocka_unit_test(wait__tasks_fail__first_failure_of_each_round),
        cmocka_unit_test(fail__no_task_of_a_group__invalid),
        cmocka_unit_test(fail__fail_fast__rest_is_cancelled_and_running_ones_see_it),
        cmocka_unit_test(cancel__none_has_started__all_end_before_it_returns),
        cmocka_unit_test(cancel__while_workers_take__each_ends_once),
        cmocka_unit_test(wait__stopped_or_late__in_a_thread_and_in_a_task),
        cmocka_unit_test(wait__for_one_of_many__returns_when_that_one_has_ended),
        cmocka_unit_test(calls__misuse__has_a_status),
        cmocka_unit_test(group__after_fork__says_so),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
