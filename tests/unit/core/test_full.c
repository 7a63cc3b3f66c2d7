/* SPDX-License-Identifier: MIT */
/* A full queue: the bound is exact, each way to meet it does what task.h says, and every task is
 * counted once. */
#include "support/held.h"

enum { MOST_WORKERS = 2, MANY = 100, EIGHT = 8 };

static void hold_full(held *h, unsigned workers, size_t queue_tasks, filch_full full)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = workers;
    config.queue_tasks = queue_tasks;
    config.full = full;
    hold_as(h, &config);
}

static void expect_sums(filch_pool *pool)
{
    const filch_stats s = test_pool_stats(pool);
    assert_int_equal(s.accepted,
                     s.total.tasks_run + s.queue_run + s.total.tasks_cancelled + s.queue_dropped);
    assert_int_equal(s.queue_depth, 0);
    assert_int_equal(s.pending, 0);
}

static atomic_uint runs;
static unsigned order[MANY];
static unsigned ended[MANY];
static unsigned ended_count;
static pthread_t ended_on;

static void run_it(filch_cx *cx, void *arg)
{
    (void)cx;
    order[atomic_fetch_add(&runs, 1)] = (unsigned)(uintptr_t)arg;
}

static void note_end(void *arg, filch_end how)
{
    if (how == FILCH_DROPPED) {
        ended[ended_count++] = (unsigned)(uintptr_t)arg;
        ended_on = pthread_self();
    }
}

static void begin(void)
{
    atomic_store(&runs, 0);
    ended_count = 0;
}

static filch_status post(filch_pool *pool, size_t number, filch_full full, filch_time until)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.end = note_end;
    options.full = full;
    options.until = until;
    return filch_post(pool, run_it, (void *)number, 0, &options);
}

static void capacity__any_number__accepts_exactly_that(void **state)
{
    static const size_t sizes[] = { 1, 2, 3, 4, 5, 7, 8, 33 };
    (void)state;
    for (size_t s = 0; s < TEST_CASES(sizes); s++) {
        held h;
        begin();
        hold_full(&h, MOST_WORKERS, sizes[s], FILCH_FULL_REJECT);
        for (size_t i = 0; i < sizes[s]; i++) {
            assert_int_equal(test_pool_stats(h.pool).queue_depth, i);
            assert_int_equal(post(h.pool, i, FILCH_FULL_DEFAULT, 0), FILCH_OK);
        }
        assert_int_equal(post(h.pool, 99, FILCH_FULL_DEFAULT, 0), FILCH_E_FULL);
        assert_int_equal(post(h.pool, 99, FILCH_FULL_BLOCK, 1), FILCH_E_TIMEOUT);
        const filch_stats stats = test_pool_stats(h.pool);
        assert_int_equal(stats.queue_tasks, sizes[s]);
        assert_int_equal(stats.queue_depth, sizes[s]);
        assert_int_equal(stats.queue_high, sizes[s]);
        assert_int_equal(stats.queue_rejected, 2);
        assert_int_equal(stats.queue_waits, 1);
        assert_int_equal(stats.refused, 2);
        let_go(&h);
        assert_int_equal(atomic_load(&runs), sizes[s]);
        expect_sums(h.pool);
        test_pool_close(h.pool);
    }
}

/* The workers are held, or the pool is paused. */
static void hundred_into_eight(held *h)
{
    begin();
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(post(h->pool, i, FILCH_FULL_DEFAULT, 0), FILCH_OK);
        assert_int_equal(ended_count, i < EIGHT ? 0 : i + 1 - EIGHT);
    }
    assert_int_equal(test_pool_stats(h->pool).queue_dropped, MANY - EIGHT);
    assert_true(pthread_equal(ended_on, pthread_self()));
    for (unsigned i = 0; i < MANY - EIGHT; i++) {
        assert_int_equal(ended[i], i);
    }
    assert_int_equal(atomic_load(&runs), 0);
}

static void newest_eight_run(held *h)
{
    assert_int_equal(filch_pool_wait_quiet(h->pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(atomic_load(&runs), EIGHT);
    for (unsigned i = 0; i < EIGHT; i++) {
        assert_int_equal(order[i], MANY - EIGHT + i); /* one worker: in the order of the queue */
    }
    expect_sums(h->pool);
    filch_shutdown_report report;
    assert_int_equal(filch_pool_shutdown(h->pool, FILCH_DRAIN, FILCH_FOREVER, &report), FILCH_OK);
    assert_int_equal(report.dropped, MANY - EIGHT);
    assert_int_equal(report.accepted, report.ran + report.dropped);
    test_pool_close(h->pool);
}

static void drop_oldest__hundred_into_eight__newest_stay_and_rest_ends_in_order(void **state)
{
    held h;
    (void)state;
    hold_full(&h, 1, EIGHT, FILCH_FULL_DROP_OLDEST);
    hundred_into_eight(&h);
    let_go(&h);
    newest_eight_run(&h);
}

static void drop_oldest__hundred_into_eight_paused__newest_stay_and_rest_ends_in_order(void **state)
{
    held h;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    config.workers = 1;
    config.queue_tasks = EIGHT;
    config.full = FILCH_FULL_DROP_OLDEST;
    h.pool = test_pool_make_as(&config);
    assert_int_equal(filch_pool_pause(h.pool), FILCH_OK);
    hundred_into_eight(&h);
    assert_int_equal(filch_pool_resume(h.pool), FILCH_OK);
    newest_eight_run(&h);
}

/* Eight wait, of which one worker takes some as a batch, and then is held by the first of them. */
static void drop_oldest__from_a_batch__oldest_first(void **state)
{
    held h;
    held inner = { 0 };
    (void)state;
    begin();
    hold_full(&h, 1, EIGHT, FILCH_FULL_DROP_OLDEST);
    assert_int_equal(filch_post(h.pool, hold_one, &inner, 0, NULL), FILCH_OK);
    for (size_t i = 0; i + 1 < EIGHT; i++) {
        assert_int_equal(post(h.pool, i, FILCH_FULL_DEFAULT, 0), FILCH_OK);
    }
    atomic_store(&h.open, 1);
    test_await(&inner.in, 1); /* the rest of the batch lies with the worker */
    assert_int_equal(test_pool_stats(h.pool).queue_depth, EIGHT - 1);
    for (size_t i = EIGHT - 1; i < 20; i++) {
        assert_int_equal(post(h.pool, i, FILCH_FULL_DEFAULT, 0), FILCH_OK);
    }
    assert_int_equal(ended_count, 20 - EIGHT);
    for (unsigned i = 0; i < ended_count; i++) {
        assert_int_equal(ended[i], i);
    }
    atomic_store(&inner.open, 1);
    let_go(&h);
    assert_int_equal(atomic_load(&runs), EIGHT);
    expect_sums(h.pool);
    test_pool_close(h.pool);
}

static void end_posts(void *arg, filch_end how)
{
    held *h = arg;
    if (how == FILCH_DROPPED) { /* its place is free */
        TEST_CHECK(filch_post(h->pool, run_it, NULL, 0, NULL) == FILCH_OK);
        filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
        options.until = 1;
        TEST_CHECK(filch_post(h->pool, run_it, NULL, 0, &options) == FILCH_E_TIMEOUT);
    }
}

static void drop_oldest__end_that_posts__waits_and_drops_nothing(void **state)
{
    held h;
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    (void)state;
    begin();
    hold_full(&h, 1, 1, FILCH_FULL_DROP_OLDEST);
    options.end = end_posts;
    assert_int_equal(filch_post(h.pool, run_it, &h, 0, &options), FILCH_OK);
    assert_int_equal(filch_post(h.pool, run_it, NULL, 0, NULL), FILCH_OK); /* drops two */
    assert_int_equal(test_pool_stats(h.pool).queue_dropped, 2);
    let_go(&h);
    expect_sums(h.pool);
    test_pool_close(h.pool);
    test_assert_clean();
}

static pthread_t ran_on;

static void run_here_alone(filch_cx *cx, void *arg)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    (void)arg;
    ran_on = pthread_self();
    TEST_CHECK(filch_label(cx) != NULL && strcmp(filch_label(cx), "here") == 0);
    options.until = 1; /* it is inside already: no task in a task */
    TEST_CHECK(filch_post(filch_cx_pool(cx), run_it, NULL, 0, &options) == FILCH_E_TIMEOUT);
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    filch_spawn(cx, &scope, test_count_task, &runs);
    filch_scope_end(cx, &scope);
}

static void run__full__runs_in_the_caller(void **state)
{
    held h;
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    (void)state;
    begin();
    hold_full(&h, MOST_WORKERS, 2, FILCH_FULL_RUN);
    options.label = "here";
    options.end = note_end;
    assert_int_equal(post(h.pool, 0, FILCH_FULL_DEFAULT, 0), FILCH_OK);
    assert_int_equal(post(h.pool, 1, FILCH_FULL_DEFAULT, 0), FILCH_OK);
    assert_int_equal(filch_post(h.pool, run_here_alone, NULL, 0, &options), FILCH_OK);
    assert_true(pthread_equal(ran_on, pthread_self()));
    assert_int_equal(atomic_load(&runs), 1);
    assert_int_equal(test_pool_stats(h.pool).queue_run, 1);
    let_go(&h);
    expect_sums(h.pool);
    test_pool_close(h.pool);
    test_assert_clean();
}

/* Tasks that post to their own full pool. */
static void third(filch_cx *cx, void *arg)
{
    (void)cx;
    atomic_fetch_add((atomic_uint *)arg, 1);
}

static void second(filch_cx *cx, void *arg)
{
    for (int i = 0; i < 3; i++) {
        TEST_CHECK(filch_post(filch_cx_pool(cx), third, arg, 0, NULL) == FILCH_OK);
    }
    third(cx, arg);
}

static void first(filch_cx *cx, void *arg)
{
    for (int i = 0; i < 3; i++) {
        TEST_CHECK(filch_post(filch_cx_pool(cx), second, arg, 0, NULL) == FILCH_OK);
    }
    third(cx, arg);
}

static void block__tasks_post_to_their_own_full_pool__all_run(void **state)
{
    static const size_t own[] = { 0, 1, 2 };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(own); i++) {
        atomic_uint count = 0;
        filch_pool_config config = FILCH_POOL_CONFIG_INIT;
        config.workers = 2;
        config.queue_tasks = 4;
        config.own_tasks = own[i];
        filch_pool *pool = test_pool_make_as(&config);
        for (int root = 0; root < 100; root++) {
            assert_int_equal(filch_post(pool, first, &count, 0, NULL), FILCH_OK);
        }
        assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
        assert_int_equal(atomic_load(&count), 1300);
        assert_int_equal(test_pool_stats(pool).total.tasks_inline != 0, own[i] == 1 || own[i] == 2);
        expect_sums(pool);
        test_pool_close(pool);
    }
    test_assert_clean();
}

/* Two pools, both full, whose workers post to each other. */
typedef struct across {
    held *other;
    atomic_int status;
} across;

static void post_across(filch_cx *cx, void *arg)
{
    across *a = arg;
    (void)cx;
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.full = FILCH_FULL_BLOCK;
    options.until = filch_time_after_ms(5);
    atomic_store(&a->status, filch_post(a->other->pool, test_count_task, &runs, 0, &options));
}

static void block__two_full_pools_that_post_to_each_other__deadline_ends_it(void **state)
{
    held a;
    held b;
    (void)state;
    begin();
    hold_full(&a, 1, 1, FILCH_FULL_REJECT);
    hold_full(&b, 1, 1, FILCH_FULL_REJECT);
    across to_b = { &b, 0 };
    across to_a = { &a, 0 };
    assert_int_equal(filch_post(a.pool, post_across, &to_b, 0, NULL), FILCH_OK);
    assert_int_equal(filch_post(b.pool, post_across, &to_a, 0, NULL), FILCH_OK);
    /* b stays held and full, so that a's worker waits in vain */
    let_go(&a);
    assert_int_equal(atomic_load(&to_b.status), FILCH_E_TIMEOUT);
    let_go(&b);
    assert_int_equal(atomic_load(&to_a.status), FILCH_OK);
    assert_int_equal(filch_pool_wait_quiet(a.pool, FILCH_FOREVER), FILCH_OK);
    test_pool_close(a.pool);
    test_pool_close(b.pool);
}

static void submit_many__prefix_is_accepted(void **state)
{
    static filch_task tasks[MANY];
    filch_task *pointers[MANY];
    held h;
    size_t accepted = 77;
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    (void)state;
    begin();
    for (size_t i = 0; i < MANY; i++) {
        tasks[i] = (filch_task)FILCH_TASK_INIT(run_it, (void *)i);
        pointers[i] = &tasks[i];
    }
    hold_full(&h, 1, 50, FILCH_FULL_REJECT);
    pointers[3] = NULL;
    assert_int_equal(filch_submit_many(h.pool, pointers, MANY, NULL, &accepted), FILCH_E_INVALID);
    assert_int_equal(filch_submit_many(h.pool, NULL, 1, NULL, &accepted), FILCH_E_INVALID);
    assert_int_equal(accepted, 77);
    pointers[3] = &tasks[3];
    assert_int_equal(filch_submit_many(h.pool, NULL, 0, NULL, &accepted), FILCH_OK);
    assert_int_equal(accepted, 0);
    assert_int_equal(filch_submit_many(h.pool, pointers, MANY, NULL, &accepted), FILCH_E_FULL);
    assert_int_equal(accepted, 50);
    assert_int_equal(test_pool_stats(h.pool).refused, 50);
    assert_int_equal(test_pool_stats(h.pool).queue_depth, 50);
    options.full = FILCH_FULL_DROP_OLDEST;
    assert_int_equal(filch_submit_many(h.pool, pointers + 50, 50, &options, NULL), FILCH_OK);
    assert_int_equal(test_pool_stats(h.pool).queue_dropped, 50);
    let_go(&h);
    assert_int_equal(atomic_load(&runs), 50);
    for (unsigned i = 0; i < 50; i++) {
        assert_int_equal(order[i], 50 + i);
    }
    expect_sums(h.pool);
    assert_int_equal(filch_pool_shutdown(h.pool, FILCH_DRAIN, FILCH_FOREVER, NULL), FILCH_OK);
    assert_int_equal(filch_submit_many(h.pool, pointers, MANY, NULL, &accepted), FILCH_E_CLOSED);
    assert_int_equal(accepted, 0);
    assert_int_equal(test_pool_stats(h.pool).refused, 150);
    test_pool_close(h.pool);
}

typedef struct own_many {
    filch_task tasks[MANY];
    filch_task *pointers[MANY];
} own_many;

static void submit_many_inside(filch_cx *cx, void *arg)
{
    own_many *m = arg;
    size_t accepted = 0;
    TEST_CHECK(filch_submit_many(filch_cx_pool(cx), m->pointers, MANY, NULL, &accepted) ==
               FILCH_OK);
    TEST_CHECK(accepted == MANY);
}

static void submit_many__from_a_task__all_run(void **state)
{
    static own_many m;
    filch_pool *pool = test_pool_make(2);
    (void)state;
    begin();
    for (size_t i = 0; i < MANY; i++) {
        m.tasks[i] = (filch_task)FILCH_TASK_INIT(run_it, (void *)i);
        m.pointers[i] = &m.tasks[i];
    }
    test_pool_run(pool, submit_many_inside, &m);
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(atomic_load(&runs), MANY);
    expect_sums(pool);
    test_pool_close(pool);
    test_assert_clean();
}

static void waits__only_with_the_flag__as_many_as_were_started(void **state)
{
    filch_lengths waits = FILCH_LENGTHS_INIT;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_pool *pool = test_pool_make(1);
    (void)state;
    begin();
    assert_int_equal(filch_stats_read_waits(pool, &waits), FILCH_E_INVALID);
    test_pool_close(pool);
    config.workers = 2;
    config.flags = FILCH_POOL_TIME_QUEUE;
    pool = test_pool_make_as(&config);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(post(pool, i, FILCH_FULL_DEFAULT, 0), FILCH_OK);
    }
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(filch_stats_read_waits(pool, &waits), FILCH_OK);
    assert_int_equal(waits.tasks, MANY);
    assert_true(waits.sum_ns > 0);
    test_pool_close(pool);
}

static void queue_capacity__formula(void **state)
{
    (void)state;
    assert_int_equal(filch_queue_capacity(100, 1000, 2, 10000), 20);
    assert_int_equal(filch_queue_capacity(10, 1000, 2, 10000), 10);
    assert_int_equal(filch_queue_capacity(10, 0, 2, 10000), 10);
    assert_int_equal(filch_queue_capacity(10, 1000, 4, 500), 2);
    assert_int_equal(filch_queue_capacity(10, 1000, 0, 3000), 3);
    assert_int_equal(filch_queue_capacity(10, 1000, 1, 0), 1);
    assert_int_equal(filch_queue_capacity(0, 0, 0, 0), 1);
    assert_int_equal(filch_queue_capacity(SIZE_MAX, 1, UINT32_MAX, UINT64_MAX),
                     FILCH_MAX_QUEUE_TASKS);
    assert_int_equal(filch_queue_capacity(50, UINT64_MAX, 4096, UINT64_MAX - 1), 1);
}

static void options__unknown_policy__invalid(void **state)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_pool *pool = test_pool_make(1);
    (void)state;
    assert_int_equal(post(pool, 0, (filch_full)5, 0), FILCH_E_INVALID);
    test_pool_close(pool);
    config.full = (filch_full)5;
    assert_int_equal(filch_pool_create(&config, &pool), FILCH_E_INVALID);
    config.full = FILCH_FULL_DEFAULT;
    config.own_tasks = FILCH_MAX_OWN_TASKS + 1;
    assert_int_equal(filch_pool_create(&config, &pool), FILCH_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(capacity__any_number__accepts_exactly_that),
        cmocka_unit_test(drop_oldest__hundred_into_eight__newest_stay_and_rest_ends_in_order),
        cmocka_unit_test(
            drop_oldest__hundred_into_eight_paused__newest_stay_and_rest_ends_in_order),
        cmocka_unit_test(drop_oldest__from_a_batch__oldest_first),
        cmocka_unit_test(drop_oldest__end_that_posts__waits_and_drops_nothing),
        cmocka_unit_test(run__full__runs_in_the_caller),
        cmocka_unit_test(block__tasks_post_to_their_own_full_pool__all_run),
        cmocka_unit_test(block__two_full_pools_that_post_to_each_other__deadline_ends_it),
        cmocka_unit_test(submit_many__prefix_is_accepted),
        cmocka_unit_test(submit_many__from_a_task__all_run),
        cmocka_unit_test(waits__only_with_the_flag__as_many_as_were_started),
        cmocka_unit_test(queue_capacity__formula),
        cmocka_unit_test(options__unknown_policy__invalid),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
