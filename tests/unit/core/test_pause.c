/* SPDX-License-Identifier: MIT */
/* Pools that pause: no detached task begins, what runs goes on with its forks, and nothing is lost. */
#include "support/pool.h"

#include <filch/parallel.h>
#include <sched.h>

#include "core/pool.h"
#include "support/child.h"

typedef struct pausing {
    filch_pool *pool;
    atomic_bool paused;
    atomic_uint begun;
    atomic_uint go;
    atomic_uint ran;
} pausing;

/* What was posted during the pause must not begin before its end. */
static void insist_on_no_pause(filch_cx *cx, void *arg)
{
    pausing *p = arg;
    (void)cx;
    TEST_CHECK(!atomic_load(&p->paused));
    atomic_fetch_add(&p->ran, 1);
}

static void pause__posts_wait_for_the_resume(void **state)
{
    const size_t rounds = test_count(20000, 1000);
    pausing p = { .pool = test_pool_make(3) };
    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        assert_int_equal(filch_pool_pause(p.pool), FILCH_OK);
        atomic_store(&p.paused, true);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(filch_post(p.pool, insist_on_no_pause, &p, 0, NULL), FILCH_OK);
        }
        if (round % 64 == 0) {
            (void)sched_yield();
            assert_int_equal(atomic_load(&p.ran), 3 * round);
            assert_int_equal(filch_pool_wait_quiet(p.pool, FILCH_NOW), FILCH_E_TIMEOUT);
        }
        atomic_store(&p.paused, false);
        assert_int_equal(filch_pool_resume(p.pool), FILCH_OK);
        assert_int_equal(filch_pool_wait_quiet(p.pool, FILCH_FOREVER), FILCH_OK);
    }
    assert_int_equal(atomic_load(&p.ran), 3 * rounds);
    test_pool_close(p.pool);
}

static void pause_and_work(filch_cx *cx, void *arg)
{
    pausing *p = arg;
    TEST_CHECK(filch_pool_pause(p->pool) == FILCH_OK);
    atomic_store(&p->paused, true);
    TEST_CHECK(filch_post(p->pool, insist_on_no_pause, p, 0, NULL) == FILCH_OK);
    TEST_CHECK(test_fork_tree(cx, 15) == 610);
    atomic_store(&p->begun, 1);
    test_await(&p->go, 1);
    TEST_CHECK(atomic_load(&p->ran) == 0);
    atomic_store(&p->paused, false);
    TEST_CHECK(filch_pool_resume(p->pool) == FILCH_OK);
}

static void pause__by_a_task__its_forks_go_on(void **state)
{
    pausing p = { .pool = test_pool_make(2) };
    (void)state;
    assert_int_equal(filch_post(p.pool, pause_and_work, &p, 0, NULL), FILCH_OK);
    test_await(&p.begun, 1);
    assert_int_equal(filch_post(p.pool, insist_on_no_pause, &p, 0, NULL), FILCH_OK);
    atomic_store(&p.go, 1);
    assert_int_equal(filch_pool_wait_quiet(p.pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(atomic_load(&p.ran), 2);
    test_pool_close(p.pool);
}

static void call_in_child(void *pool)
{
    TEST_CHILD_CHECK(filch_pool_pause(pool) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_pool_resume(pool) == FILCH_E_FORKED);
}

static void pause__twice__two_resumes_end_it(void **state)
{
    pausing p = { .pool = test_pool_make(1) };
    (void)state;
    assert_int_equal(filch_pool_pause(NULL), FILCH_E_INVALID);
    assert_int_equal(filch_pool_resume(p.pool), FILCH_E_INVALID);
    test_assert_child_ok(call_in_child, p.pool);
    assert_int_equal(filch_pool_pause(p.pool), FILCH_OK);
    assert_int_equal(filch_pool_pause(p.pool), FILCH_OK);
    atomic_store(&p.paused, true);
    assert_int_equal(filch_post(p.pool, insist_on_no_pause, &p, 0, NULL), FILCH_OK);
    assert_int_equal(filch_pool_resume(p.pool), FILCH_OK);
    assert_int_equal(filch_pool_wait_quiet(p.pool, FILCH_NOW), FILCH_E_TIMEOUT);
    atomic_store(&p.paused, false);
    assert_int_equal(filch_pool_resume(p.pool), FILCH_OK);
    test_pool_close(p.pool);
}

static void shutdown__while_paused__ends_the_pause(void **state)
{
    static const filch_shutdown_mode modes[] = { FILCH_DRAIN, FILCH_CANCEL };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        pausing p = { .pool = test_pool_make(2) };
        filch_shutdown_report report;
        assert_int_equal(filch_pool_pause(p.pool), FILCH_OK);
        for (int j = 0; j < 10; j++) {
            assert_int_equal(filch_post(p.pool, insist_on_no_pause, &p, 0, NULL), FILCH_OK);
        }
        assert_int_equal(filch_pool_shutdown(p.pool, modes[i], FILCH_FOREVER, &report), FILCH_OK);
        assert_int_equal(report.accepted, 10);
        assert_int_equal(modes[i] == FILCH_DRAIN ? report.ran : report.cancelled, 10);
        assert_int_equal(filch_pool_pause(p.pool), FILCH_E_CLOSED);
        assert_int_equal(filch_pool_resume(p.pool), FILCH_E_CLOSED);
        test_pool_close(p.pool);
    }
}

static void pause__of_one_pool__another_goes_on(void **state)
{
    atomic_uint ran = 0;
    const unsigned tasks = (unsigned)test_count(20000, 2000);
    filch_pool *held = test_pool_make(2);
    filch_pool *free_one = test_pool_make(2);
    (void)state;
    assert_int_equal(filch_pool_pause(held), FILCH_OK);
    for (unsigned i = 0; i < tasks; i++) {
        assert_int_equal(filch_post(free_one, test_count_task, &ran, 0, NULL), FILCH_OK);
    }
    assert_int_equal(filch_pool_wait_quiet(free_one, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(atomic_load(&ran), tasks);
    test_pool_close(held); /* its pause and all */
    test_pool_close(free_one);
}

/* The first of a batch pauses the pool, and does not end before the others have run. */
static void pause_and_stay(filch_cx *cx, void *arg)
{
    pausing *p = arg;
    (void)cx;
    TEST_CHECK(filch_pool_pause(p->pool) == FILCH_OK);
    atomic_store(&p->paused, true);
    test_await(&p->ran, 7);
}

static void wait_for_go(filch_cx *cx, void *arg)
{
    pausing *p = arg;
    (void)cx;
    atomic_fetch_add(&p->begun, 1);
    test_await(&p->go, 1);
}

static void wait_for_pause(filch_cx *cx, void *arg)
{
    pausing *p = arg;
    (void)cx;
    atomic_fetch_add(&p->begun, 1);
    while (!atomic_load(&p->paused)) {
        (void)sched_yield();
    }
}

/* Both workers are held, and eight tasks wait, of which the one that goes on first takes five. */
static void pause__in_a_batch__worker_sleeps_and_others_run_the_rest(void **state)
{
    pausing p = { .pool = test_pool_make(2) };
    (void)state;
    assert_int_equal(filch_post(p.pool, wait_for_go, &p, 0, NULL), FILCH_OK);
    assert_int_equal(filch_post(p.pool, wait_for_pause, &p, 0, NULL), FILCH_OK);
    test_await(&p.begun, 2);
    assert_int_equal(filch_post(p.pool, pause_and_stay, &p, 0, NULL), FILCH_OK);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(filch_post(p.pool, insist_on_no_pause, &p, 0, NULL), FILCH_OK);
    }
    const uint64_t parks = test_pool_stats(p.pool).total.parks;
    atomic_store(&p.go, 1);
    while (test_pool_stats(p.pool).total.parks == parks) { /* else it spins */
        (void)sched_yield();
    }
    assert_int_equal(atomic_load(&p.ran), 0);
    atomic_store(&p.paused, false);
    assert_int_equal(filch_pool_resume(p.pool), FILCH_OK);
    assert_int_equal(filch_pool_wait_quiet(p.pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(atomic_load(&p.ran), 7);
    test_pool_close(p.pool);
}

static void pause__full_queue__nothing_runs_in_the_caller(void **state)
{
    pausing p = { 0 };
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    config.workers = 1;
    config.queue_tasks = 2;
    config.full = FILCH_FULL_RUN;
    p.pool = test_pool_make_as(&config);
    assert_int_equal(filch_pool_pause(p.pool), FILCH_OK);
    atomic_store(&p.paused, true);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(filch_post(p.pool, insist_on_no_pause, &p, 0, NULL), FILCH_OK);
    }
    assert_int_equal(filch_post(p.pool, insist_on_no_pause, &p, 0, NULL), FILCH_E_FULL);
    assert_int_equal(test_pool_stats(p.pool).queue_rejected, 1);
    assert_int_equal(test_pool_stats(p.pool).queue_run, 0);
    atomic_store(&p.paused, false);
    assert_int_equal(filch_pool_resume(p.pool), FILCH_OK);
    assert_int_equal(filch_pool_wait_quiet(p.pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(atomic_load(&p.ran), 2);
    test_pool_close(p.pool);
}

/* The deque has room for one: the next one would run inside its post, where nobody could resume. */
static void post_while_paused(filch_cx *cx, void *arg)
{
    pausing *p = arg;
    (void)cx;
    TEST_CHECK(filch_pool_pause(p->pool) == FILCH_OK);
    atomic_store(&p->paused, true);
    TEST_CHECK(filch_post(p->pool, insist_on_no_pause, p, 0, NULL) == FILCH_OK);
    TEST_CHECK(filch_post(p->pool, insist_on_no_pause, p, 0, NULL) == FILCH_E_FULL);
    TEST_CHECK(atomic_load(&p->ran) == 0);
    atomic_store(&p->paused, false);
    TEST_CHECK(filch_pool_resume(p->pool) == FILCH_OK);
    TEST_CHECK(filch_post(p->pool, insist_on_no_pause, p, 0, NULL) == FILCH_OK);
    TEST_CHECK(atomic_load(&p->ran) == 1);
}

static void pause__full_deque__nothing_runs_inside_a_post(void **state)
{
    pausing p = { 0 };
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    config.workers = 1;
    config.own_tasks = 1;
    p.pool = test_pool_make_as(&config);
    assert_int_equal(filch_post(p.pool, post_while_paused, &p, 0, NULL), FILCH_OK);
    assert_int_equal(filch_pool_wait_quiet(p.pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(atomic_load(&p.ran), 2);
    test_pool_close(p.pool);
}

static void sum_part(filch_cx *cx, void *ctx, filch_range range)
{
    (void)cx;
    atomic_fetch_add((atomic_uint *)ctx, (unsigned)(range.hi - range.lo));
}

static void pause__loops_and_their_helpers_go_on(void **state)
{
    atomic_uint sum = 0;
    filch_pool *pool = test_pool_make(2);
    (void)state;
    assert_int_equal(filch_pool_pause(pool), FILCH_OK);
    const uint64_t joined = test_pool_stats(pool).total.loops_joined;
    unsigned loops = 0;
    while (test_pool_stats(pool).total.loops_joined == joined) { /* a paused worker comes */
        assert_int_equal(filch_for_on(pool, 10000, sum_part, &sum, NULL), FILCH_OK);
        loops++;
    }
    assert_int_equal(atomic_load(&sum), 10000 * loops);
    test_pool_close(pool);
}

typedef struct holder {
    filchi_worker worker;
    atomic_uint over;
} holder;

static void *begin_a_task(void *arg)
{
    holder *h = arg;
    filchi_pool_hold(&h->worker, (filchi_work){ filchi_job_run, NULL });
    atomic_store(&h->over, 1);
    return NULL;
}

/* A worker that had taken a task before the pause, and is about to start it: a thread plays it. */
static void pause__a_task_in_hand__is_held(void **state)
{
    static holder h;
    pthread_t thread;
    filch_pool *pool = test_pool_make(1);
    (void)state;
    h.worker.lane.pool = pool;
    TEST_CHECK(filchi_parker_init(&h.worker.parker));
    filchi_waiter_init(&h.worker.waiter, &h.worker.parker);
    filchi_timesheet_begin(&h.worker.time, FILCHI_BUSY, filchi_now());
    filchi_pool_hold(&h.worker, (filchi_work){ filchi_job_run, NULL }); /* not paused: at once */
    assert_int_equal(filch_pool_pause(pool), FILCH_OK);
    test_thread_start(&thread, begin_a_task, &h);
    for (uint32_t turn = 0; filchi_load_relaxed_u64(&pool->resting_workers) == 0; turn++) {
        filchi_thread_yield(turn);
    }
    assert_int_equal(atomic_load(&h.over), 0);
    assert_int_equal(filch_pool_resume(pool), FILCH_OK);
    test_thread_join(thread);
    assert_int_equal(atomic_load(&h.over), 1);
    assert_int_equal(filchi_load_relaxed_u64(&pool->resting_workers), 0);
    filchi_parker_destroy(&h.worker.parker);
    test_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(pause__posts_wait_for_the_resume),
        cmocka_unit_test(pause__by_a_task__its_forks_go_on),
        cmocka_unit_test(pause__twice__two_resumes_end_it),
        cmocka_unit_test(shutdown__while_paused__ends_the_pause),
        cmocka_unit_test(pause__of_one_pool__another_goes_on),
        cmocka_unit_test(pause__in_a_batch__worker_sleeps_and_others_run_the_rest),
        cmocka_unit_test(pause__full_queue__nothing_runs_in_the_caller),
        cmocka_unit_test(pause__full_deque__nothing_runs_inside_a_post),
        cmocka_unit_test(pause__loops_and_their_helpers_go_on),
        cmocka_unit_test(pause__a_task_in_hand__is_held),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
