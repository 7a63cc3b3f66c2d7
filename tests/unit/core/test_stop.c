/* SPDX-License-Identifier: MIT */
/* Tokens of tasks and posts: what has not started ends, what runs can ask, what waits for room gives
 * up, and everything is counted. */
#include "support/ends.h"
#include "support/held.h"

enum { BIG = 100 };

static filch_token *make_token(filch_token *parent)
{
    filch_token *token = NULL;
    assert_int_equal(filch_token_create(parent, NULL, &token), FILCH_OK);
    return token;
}

static void destroy_token(filch_token *token)
{
    assert_int_equal(filch_token_destroy(token), FILCH_OK);
}

static filch_submit_options options_with(filch_token *token, filch_end_fn *end)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.stop = token;
    options.end = end;
    return options;
}

static void run_it(filch_cx *cx, void *arg)
{
    (void)arg;
    TEST_CHECK(!filch_stopped(cx));
    atomic_fetch_add(&runs, 1);
}

static void post_all_kinds(filch_pool *pool, filch_task *task, filch_token *token)
{
    static const size_t sizes[] = { 0, 8, 40, 41, 64, BIG };
    unsigned char data[BIG] = { 0 };
    const filch_submit_options options = options_with(token, note_end);
    for (size_t i = 0; i < TEST_CASES(sizes); i++) {
        TEST_CHECK(filch_post(pool, run_it, sizes[i] != 0 ? data : NULL, sizes[i], &options) ==
                   FILCH_OK);
    }
    TEST_CHECK(filch_submit(pool, task, &options) == FILCH_OK);
}

enum { ALL_KINDS = 7 };

static void stop__before_the_start__each_ends_cancelled(void **state)
{
    held h;
    filch_task task = FILCH_TASK_INIT(run_it, NULL);
    filch_task free_task = FILCH_TASK_INIT(run_it, NULL);
    (void)state;
    begin();
    hold(&h, 1, 64);
    filch_token *token = make_token(NULL);
    filch_token *other = make_token(NULL);
    post_all_kinds(h.pool, &task, token);
    post_all_kinds(h.pool, &free_task, other);
    assert_int_equal(filch_token_stop(token), FILCH_OK);
    let_go(&h);
    assert_int_equal(atomic_load(&ends[FILCH_CANCELLED]), ALL_KINDS);
    assert_int_equal(atomic_load(&ends[FILCH_RAN]), ALL_KINDS);
    assert_int_equal(atomic_load(&runs), ALL_KINDS);
    assert_int_equal(test_pool_stats(h.pool).total.tasks_cancelled, ALL_KINDS);
    test_pool_close(h.pool);
    destroy_token(token);
    destroy_token(other);
}

/* From a worker: the tasks lie in its deque while the one that posted them stops the token. */
static void post_and_stop(filch_cx *cx, void *arg)
{
    static filch_task task = FILCH_TASK_INIT(run_it, NULL);
    post_all_kinds(filch_cx_pool(cx), &task, arg);
    TEST_CHECK(filch_token_stop(arg) == FILCH_OK);
    TEST_CHECK(!filch_stopped(cx)); /* it has no token itself */
}

static void stop__own_posts_of_a_worker__each_ends_cancelled(void **state)
{
    (void)state;
    begin();
    filch_pool *pool = test_pool_make(1);
    filch_token *token = make_token(NULL);
    test_pool_run(pool, post_and_stop, token);
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(atomic_load(&ends[FILCH_CANCELLED]), ALL_KINDS);
    assert_int_equal(atomic_load(&runs), 0);
    test_pool_close(pool);
    destroy_token(token);
}

/* A task that runs until it is told to stop; what it runs inside its own posts has no token. */
static void run_until_stopped(filch_cx *cx, void *arg)
{
    atomic_fetch_add((atomic_uint *)arg, 1);
    while (!filch_stopped(cx)) {
        TEST_CHECK(filch_post(filch_cx_pool(cx), run_it, NULL, 0, NULL) == FILCH_OK);
    }
    TEST_CHECK(filch_post(filch_cx_pool(cx), run_it, NULL, 0, NULL) == FILCH_OK);
    TEST_CHECK(filch_stopped(cx));
}

static void stopped__running_task_asks__sees_the_stop_of_a_parent(void **state)
{
    atomic_uint begun = 0;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    begin();
    config.workers = 1;
    config.own_tasks = 1; /* nearly all run inside the post */
    filch_pool *pool = test_pool_make_as(&config);
    filch_token *root = make_token(NULL);
    filch_token *child = make_token(root);
    const filch_submit_options options = options_with(child, note_end);
    assert_int_equal(filch_post(pool, run_until_stopped, &begun, 0, &options), FILCH_OK);
    test_await(&begun, 1);
    assert_int_equal(filch_token_stop(root), FILCH_OK);
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(atomic_load(&ends[FILCH_RAN]), 1); /* it was started: not cancelled */
    test_pool_close(pool);
    destroy_token(child);
    destroy_token(root);
}

/* Full queues. */

typedef struct late_post {
    filch_pool *pool;
    filch_token *token;
    filch_full full;
    filch_status status;
} late_post;

static void *post_late(void *arg)
{
    late_post *p = arg;
    filch_submit_options options = options_with(p->token, note_end);
    options.full = p->full;
    p->status = filch_post(p->pool, run_it, NULL, 0, &options);
    return NULL;
}

static void stop__posts_that_wait_for_room__stopped_and_counted(void **state)
{
    enum { THREADS = 4 };
    held h;
    pthread_t threads[THREADS];
    late_post posts[THREADS];
    (void)state;
    begin();
    hold(&h, 1, 1);
    filch_token *token = make_token(NULL);
    assert_int_equal(filch_post(h.pool, run_it, NULL, 0, NULL), FILCH_OK);
    for (int i = 0; i < THREADS; i++) {
        posts[i] = (late_post){ h.pool, i == 0 ? NULL : token, FILCH_FULL_BLOCK, FILCH_OK };
        test_thread_start(&threads[i], post_late, &posts[i]);
    }
    while (test_pool_stats(h.pool).queue_waits != THREADS) {}
    assert_int_equal(filch_token_stop(token), FILCH_OK);
    for (int i = 1; i < THREADS; i++) {
        test_thread_join(threads[i]);
        assert_int_equal(posts[i].status, FILCH_E_STOPPED);
    }
    assert_int_equal(test_pool_stats(h.pool).refused, THREADS - 1);
    assert_int_equal(test_pool_stats(h.pool).queue_rejected, THREADS - 1);
    let_go(&h);
    test_thread_join(threads[0]); /* the one without a token has its place */
    assert_int_equal(posts[0].status, FILCH_OK);
    assert_int_equal(filch_pool_wait_quiet(h.pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(atomic_load(&runs), 2);
    test_pool_close(h.pool);
    destroy_token(token);
}

static void stop__full_queue__no_policy_acts_for_a_stopped_task(void **state)
{
    static const struct {
        filch_full full;
        filch_status status;
    } cases[] = {
        { FILCH_FULL_BLOCK, FILCH_E_STOPPED },
        { FILCH_FULL_REJECT, FILCH_E_FULL },
        { FILCH_FULL_RUN, FILCH_E_STOPPED },
        { FILCH_FULL_DROP_OLDEST, FILCH_E_STOPPED },
    };
    held h;
    (void)state;
    begin();
    hold(&h, 1, 1);
    filch_token *token = make_token(NULL);
    assert_int_equal(filch_token_stop(token), FILCH_OK);
    late_post with_room = { h.pool, token, FILCH_FULL_BLOCK, FILCH_E_INVALID };
    (void)post_late(&with_room);
    assert_int_equal(with_room.status, FILCH_OK); /* accepted; it ends when its turn comes */
    for (size_t i = 0; i < TEST_CASES(cases); i++) {
        late_post post = { h.pool, token, cases[i].full, FILCH_OK };
        (void)post_late(&post);
        assert_int_equal(post.status, cases[i].status);
    }
    assert_int_equal(atomic_load(&runs), 0);
    let_go(&h);
    assert_int_equal(atomic_load(&ends[FILCH_CANCELLED]), 1);
    assert_int_equal(atomic_load(&ends[FILCH_DROPPED]), 0);
    test_pool_close(h.pool);
    destroy_token(token);
}

typedef struct many_post {
    filch_pool *pool;
    filch_token *token;
    size_t accepted;
    filch_status status;
} many_post;

static void *post_many(void *arg)
{
    static filch_task tasks[5];
    filch_task *pointers[5];
    many_post *p = arg;
    const filch_submit_options options = options_with(p->token, note_end);
    for (int i = 0; i < 5; i++) {
        tasks[i] = (filch_task)FILCH_TASK_INIT(run_it, NULL);
        pointers[i] = &tasks[i];
    }
    p->status = filch_submit_many(p->pool, pointers, 5, &options, &p->accepted);
    return NULL;
}

static void stop__submit_many_that_waits__a_prefix_is_accepted(void **state)
{
    held h;
    pthread_t thread;
    (void)state;
    begin();
    hold(&h, 1, 3);
    filch_token *token = make_token(NULL);
    many_post post = { h.pool, token, 99, FILCH_OK };
    test_thread_start(&thread, post_many, &post);
    while (test_pool_stats(h.pool).queue_waits != 1) {}
    assert_int_equal(filch_token_stop(token), FILCH_OK);
    test_thread_join(thread);
    assert_int_equal(post.status, FILCH_E_STOPPED);
    assert_int_equal(post.accepted, 3);
    let_go(&h);
    assert_int_equal(atomic_load(&ends[FILCH_CANCELLED]), 3);
    assert_int_equal(test_pool_stats(h.pool).refused, 2);
    test_pool_close(h.pool);
    destroy_token(token);
}

/* A thread waits for a post with a token, with no CPU; stopped at any moment. */
static void stop__at_any_moment__the_post_returns_and_the_sums_agree(void **state)
{
    const size_t rounds = test_count(2000, 200);
    test_rng rng = test_rng_make(1);
    (void)state;
    for (size_t i = 0; i < rounds; i++) {
        held h;
        pthread_t threads[2];
        begin();
        hold(&h, 1, 1);
        filch_token *token = make_token(NULL);
        late_post posts[2] = { { h.pool, token, FILCH_FULL_BLOCK, FILCH_OK },
                               { h.pool, token, FILCH_FULL_BLOCK, FILCH_OK } };
        test_thread_start(&threads[0], post_late, &posts[0]);
        test_thread_start(&threads[1], post_late, &posts[1]);
        test_spin_ns(test_rng_below(&rng, 60000));
        if (test_rng_below(&rng, 2) != 0) {
            atomic_store(&h.open, 1);
        }
        assert_int_equal(filch_token_stop(token), FILCH_OK);
        unsigned accepted = 0;
        for (int t = 0; t < 2; t++) {
            test_thread_join(threads[t]);
            assert_true(posts[t].status == FILCH_OK || posts[t].status == FILCH_E_STOPPED);
            accepted += posts[t].status == FILCH_OK;
        }
        let_go(&h);
        assert_int_equal(atomic_load(&ends[FILCH_RAN]) + atomic_load(&ends[FILCH_CANCELLED]),
                         accepted);
        assert_int_equal(test_pool_stats(h.pool).refused, 2 - accepted);
        test_pool_close(h.pool);
        destroy_token(token);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(stop__before_the_start__each_ends_cancelled),
        cmocka_unit_test(stop__own_posts_of_a_worker__each_ends_cancelled),
        cmocka_unit_test(stopped__running_task_asks__sees_the_stop_of_a_parent),
        cmocka_unit_test(stop__posts_that_wait_for_room__stopped_and_counted),
        cmocka_unit_test(stop__full_queue__no_policy_acts_for_a_stopped_task),
        cmocka_unit_test(stop__submit_many_that_waits__a_prefix_is_accepted),
        cmocka_unit_test(stop__at_any_moment__the_post_returns_and_the_sums_agree),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
