/* SPDX-License-Identifier: MIT */
/* Groups that are full, groups beside others, and groups of a pool that is shut down. */
#include "groups.h"

/* Room. */

static filch_status post_full(held *h, filch_group *group, filch_full full, filch_time until,
                              filch_token *stop)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.group = group;
    options.end = note_end;
    options.full = full;
    options.until = until;
    options.stop = stop;
    return filch_post(h->pool, run_it, NULL, 0, &options);
}

static void full__each_policy__as_the_header_says(void **state)
{
    enum { ROOM = 5 };
    held h;
    filch_token *token = NULL;
    (void)state;
    begin();
    hold(&h, 2, ROOM);
    filch_group *group = make_group(h.pool, 0);
    filch_group *other = make_group(h.pool, 0);
    for (int i = 0; i < ROOM; i++) {
        assert_int_equal(post_full(&h, group, FILCH_FULL_REJECT, 0, NULL), FILCH_OK);
    }
    assert_int_equal(filch_token_create(NULL, NULL, &token), FILCH_OK);
    assert_int_equal(filch_token_stop(token), FILCH_OK);
    assert_int_equal(post_full(&h, group, FILCH_FULL_REJECT, 0, NULL), FILCH_E_FULL);
    assert_int_equal(post_full(&h, group, FILCH_FULL_BLOCK, 1, NULL), FILCH_E_TIMEOUT);
    assert_int_equal(post_full(&h, group, FILCH_FULL_BLOCK, 0, token), FILCH_E_STOPPED);
    assert_int_equal(test_pool_stats(h.pool).queue_rejected, 3);
    assert_int_equal(test_pool_stats(h.pool).refused, 3);
    assert_int_equal(post_full(&h, group, FILCH_FULL_RUN, 0, NULL), FILCH_OK);
    assert_int_equal(atomic_load(&runs), 1);
    assert_int_equal(test_pool_stats(h.pool).queue_run, 1);
    assert_int_equal(post_full(&h, group, FILCH_FULL_DROP_OLDEST, 0, NULL), FILCH_OK);
    assert_int_equal(atomic_load(&ends[FILCH_DROPPED]), 1);
    assert_int_equal(test_pool_stats(h.pool).queue_dropped, 1);
    assert_int_equal(post_full(&h, other, FILCH_FULL_REJECT, 0, NULL), FILCH_OK); /* its own room */
    atomic_store(&h.open, 1);
    assert_int_equal(wait_for(group), FILCH_E_CANCELLED); /* one was dropped */
    assert_int_equal(wait_for(other), FILCH_OK);
    assert_int_equal(atomic_load(&runs), ROOM + 2);
    destroy_group(group);
    destroy_group(other);
    assert_int_equal(filch_token_destroy(token), FILCH_OK);
    let_go_and_close(&h);
}

typedef struct blocked {
    held *h;
    filch_group *group;
    filch_token *token;
    filch_status status;
} blocked;

static void *post_blocked(void *arg)
{
    blocked *b = arg;
    b->status = post_full(b->h, b->group, FILCH_FULL_BLOCK, 0, b->token);
    return NULL;
}

/* Those who wait for room in a group: one gets it, the others leave with its cancel or their token. */
static void full__posts_that_wait__room_stop_or_cancel_ends_it(void **state)
{
    enum { ENDS = 3 };
    static const filch_status expected[ENDS] = { FILCH_OK, FILCH_E_STOPPED, FILCH_E_CANCELLED };
    (void)state;
    for (int end = 0; end < ENDS; end++) {
        held h;
        pthread_t thread;
        filch_token *token = NULL;
        begin();
        hold(&h, 1, 1);
        assert_int_equal(filch_token_create(NULL, NULL, &token), FILCH_OK);
        filch_group *group = make_group(h.pool, 0);
        assert_int_equal(post_full(&h, group, FILCH_FULL_REJECT, 0, NULL), FILCH_OK);
        blocked b = { &h, group, token, FILCH_E_ABI };
        test_thread_start(&thread, post_blocked, &b);
        while (test_pool_stats(h.pool).queue_waits == 0) {}
        if (end == 0) {
            atomic_store(&h.open, 1);
        } else if (end == 1) {
            assert_int_equal(filch_token_stop(token), FILCH_OK);
        } else {
            assert_int_equal(filch_group_cancel(group, NULL), FILCH_OK);
        }
        test_thread_join(thread);
        assert_int_equal(b.status, expected[end]);
        atomic_store(&h.open, 1);
        (void)wait_for(group);
        assert_int_equal(atomic_load(&runs), end == 0 ? 2 : end == 1 ? 1 : 0);
        destroy_group(group);
        assert_int_equal(filch_token_destroy(token), FILCH_OK);
        let_go_and_close(&h);
    }
}

typedef struct own_room {
    filch_group *group;
    filch_status status[3];
} own_room;

static void post_three(filch_cx *cx, void *arg)
{
    own_room *o = arg;
    for (int i = 0; i < 3; i++) {
        o->status[i] = post(o->group, filch_cx_pool(cx), run_it, NULL);
    }
}

static void full__a_workers_own_posts__run_inside_unless_in_a_task_of_a_group(void **state)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    begin();
    config.workers = 1;
    config.own_tasks = 2;
    filch_pool *pool = test_pool_make_as(&config);
    own_room plain = { .group = make_group(pool, 0) };
    test_pool_run(pool, post_three, &plain);
    assert_int_equal(plain.status[2], FILCH_OK);
    assert_int_equal(wait_for(plain.group), FILCH_OK);
    assert_int_equal(atomic_load(&runs), 3);
    assert_int_equal(test_pool_stats(pool).total.tasks_inline, 1);
    assert_int_equal(post(plain.group, pool, post_three, &plain), FILCH_OK);
    assert_int_equal(wait_for(plain.group), FILCH_OK);
    assert_int_equal(plain.status[1], FILCH_OK);
    assert_int_equal(plain.status[2], FILCH_E_FULL);
    assert_int_equal(atomic_load(&runs), 5);
    destroy_group(plain.group);
    expect_sums(pool);
    test_pool_close(pool);
}

static void shutdown__cancel_with_groups__each_ends_and_the_report_agrees(void **state)
{
    held h;
    filch_shutdown_report report;
    (void)state;
    begin();
    hold(&h, 1, THOUSAND);
    filch_group *group = make_group(h.pool, 0);
    submit_thousand(h.pool, group);
    assert_int_equal(filch_pool_shutdown(h.pool, FILCH_CANCEL, FILCH_NOW, NULL), FILCH_E_TIMEOUT);
    atomic_store(&h.open, 1);
    assert_int_equal(filch_pool_shutdown(h.pool, FILCH_CANCEL, FILCH_FOREVER, &report), FILCH_OK);
    assert_int_equal(report.accepted, THOUSAND + 1);
    assert_int_equal(report.cancelled, THOUSAND);
    assert_int_equal(atomic_load(&ends[FILCH_CANCELLED]), THOUSAND);
    assert_int_equal(wait_for(group), FILCH_E_CANCELLED);
    destroy_group(group);
    test_pool_close(h.pool);
}

/* Neither the queue nor a group waits for the end of the other. */
typedef struct endless {
    filch_group *group;
    atomic_uint ended;
} endless;

static void post_again(filch_cx *cx, void *arg)
{
    endless *f = arg;
    if (atomic_load(&f->ended) == 0) {
        TEST_CHECK(post(f->group, filch_cx_pool(cx), post_again, f) == FILCH_OK);
    }
}

static void end_it(filch_cx *cx, void *arg)
{
    (void)cx;
    atomic_store((atomic_uint *)arg, 1);
}

static void turns__a_group_that_never_ends__others_come_too(void **state)
{
    (void)state;
    for (int grouped = 0; grouped < 3; grouped++) {
        filch_pool *pool = test_pool_make(1);
        endless f = { .group = grouped != 2 ? make_group(pool, 0) : NULL };
        filch_group *other = make_group(pool, 0);
        assert_int_equal(post(f.group, pool, post_again, &f), FILCH_OK);
        assert_int_equal(post(grouped != 0 ? other : NULL, pool, end_it, &f.ended), FILCH_OK);
        assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
        if (f.group != NULL) {
            destroy_group(f.group);
        }
        destroy_group(other);
        test_pool_close(pool);
    }
}

/* In a paused pool no task of a group begins, but for those that a running task waits for. */
typedef struct paused {
    filch_pool *pool;
    filch_group *group;
} paused;

static void pause_and_wait(filch_cx *cx, void *arg)
{
    paused *p = arg;
    TEST_CHECK(filch_pool_pause(filch_cx_pool(cx)) == FILCH_OK);
    TEST_CHECK(post(NULL, p->pool, run_it, NULL) == FILCH_OK);
    TEST_CHECK(post(p->group, p->pool, run_it, NULL) == FILCH_OK);
    TEST_CHECK(wait_for(p->group) == FILCH_OK);
    TEST_CHECK(atomic_load(&runs) == 1);
}

static void pause__tasks_of_groups__begin_for_who_waits_only(void **state)
{
    (void)state;
    begin();
    paused p = { .pool = test_pool_make(2) };
    p.group = make_group(p.pool, 0);
    test_pool_run(p.pool, pause_and_wait, &p);
    assert_int_equal(post(p.group, p.pool, run_it, NULL), FILCH_OK);
    assert_int_equal(filch_group_wait(p.group, filch_time_after_ms(5), NULL, NULL),
                     FILCH_E_TIMEOUT);
    assert_int_equal(atomic_load(&runs), 1);
    assert_int_equal(filch_pool_resume(p.pool), FILCH_OK);
    assert_int_equal(wait_for(p.group), FILCH_OK);
    assert_int_equal(filch_pool_wait_quiet(p.pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(atomic_load(&runs), 3);
    destroy_group(p.group);
    test_pool_close(p.pool);
    test_assert_clean();
}

typedef struct inside_post {
    held *h;
    filch_group *group;
    atomic_uint late;
} inside_post;

static void post_from_inside(filch_cx *cx, void *ctx, filch_range range)
{
    inside_post *p = ctx;
    (void)cx;
    (void)range;
    for (filch_full full = FILCH_FULL_RUN; full <= FILCH_FULL_DROP_OLDEST; full++) {
        if (post_full(p->h, p->group, full, 1, NULL) == FILCH_E_TIMEOUT) {
            atomic_fetch_add(&p->late, 1);
        }
    }
}

/* A guest of a loop must not run or drop tasks inside its piece: it waits. */
static void full__post_from_inside_the_pool__waits(void **state)
{
    held h;
    (void)state;
    begin();
    hold(&h, 1, 1);
    inside_post p = { .h = &h, .group = make_group(h.pool, 0) };
    assert_int_equal(post_full(&h, p.group, FILCH_FULL_REJECT, 0, NULL), FILCH_OK);
    assert_int_equal(filch_for_on(h.pool, 1, post_from_inside, &p, NULL), FILCH_OK);
    assert_int_equal(atomic_load(&p.late), 2);
    assert_int_equal(atomic_load(&runs), 0);
    atomic_store(&h.open, 1);
    assert_int_equal(wait_for(p.group), FILCH_OK);
    assert_int_equal(atomic_load(&runs), 1);
    destroy_group(p.group);
    let_go_and_close(&h);
}

typedef struct own_post {
    filch_pool *pool;
    filch_group *group;
    atomic_uint in;
    atomic_uint open;
    filch_status status;
} own_post;

static void post_when_let_go(filch_cx *cx, void *arg)
{
    own_post *p = arg;
    (void)cx;
    atomic_fetch_add(&p->in, 1);
    test_await(&p->open, 1);
    p->status = post(p->group, p->pool, run_it, NULL);
}

static void shutdown__cancel__own_posts_to_a_group_are_refused(void **state)
{
    (void)state;
    begin();
    own_post p = { .pool = test_pool_make(1), .status = FILCH_OK };
    p.group = make_group(p.pool, 0);
    assert_int_equal(filch_post(p.pool, post_when_let_go, &p, 0, NULL), FILCH_OK);
    test_await(&p.in, 1);
    assert_int_equal(filch_pool_shutdown(p.pool, FILCH_CANCEL, FILCH_NOW, NULL), FILCH_E_TIMEOUT);
    atomic_store(&p.open, 1);
    assert_int_equal(filch_pool_shutdown(p.pool, FILCH_CANCEL, FILCH_FOREVER, NULL), FILCH_OK);
    assert_int_equal(p.status, FILCH_E_CLOSED);
    assert_int_equal(atomic_load(&runs), 0);
    destroy_group(p.group);
    assert_int_equal(filch_pool_destroy(p.pool), FILCH_OK);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(full__each_policy__as_the_header_says),
        cmocka_unit_test(full__posts_that_wait__room_stop_or_cancel_ends_it),
        cmocka_unit_test(full__a_workers_own_posts__run_inside_unless_in_a_task_of_a_group),
        cmocka_unit_test(shutdown__cancel_with_groups__each_ends_and_the_report_agrees),
        cmocka_unit_test(full__post_from_inside_the_pool__waits),
        cmocka_unit_test(shutdown__cancel__own_posts_to_a_group_are_refused),
        cmocka_unit_test(pause__tasks_of_groups__begin_for_who_waits_only),
        cmocka_unit_test(turns__a_group_that_never_ends__others_come_too),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
