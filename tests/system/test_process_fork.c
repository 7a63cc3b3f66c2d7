/* SPDX-License-Identifier: MIT */
/* fork(): the child has no pool of its parent's, every call on one says so at once, destroying it
 * frees its memory and waits for nobody, and the child can make pools of its own; the parent goes
 * on. From an idle pool, a busy one, while threads are inside a post, and from inside a task. */
#include "support/pool.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/alloc.h"
#include "support/child.h"
#include "support/elements.h"
#include "support/proc.h"

enum { WORKERS = 4 };

static void count(filch_cx *cx, void *arg)
{
    (void)cx;
    atomic_fetch_add((atomic_uint *)arg, 1);
}

static uintptr_t tree(filch_cx *cx, uintptr_t depth)
{
    if (depth == 0) {
        return 1;
    }
    filch_pair pair = filch_join2_word(cx, tree, depth - 1, tree, depth - 1);
    return pair.first + pair.second;
}

static void no_range(filch_cx *cx, void *ctx, filch_range range)
{
    (void)cx;
    (void)ctx;
    (void)range;
    test_child_fail(__FILE__, __LINE__, "a body ran in the child");
}

static void no_end(void *data, filch_end how)
{
    (void)data;
    (void)how;
    test_child_fail(__FILE__, __LINE__, "an end was called in the child");
}

static void add_piece(filch_cx *cx, void *ctx, filch_range range, void *value)
{
    (void)cx;
    (void)ctx;
    *(size_t *)value += range.hi - range.lo;
}

static void add_sizes(void *ctx, void *left, const void *right)
{
    (void)ctx;
    *(size_t *)left += *(const size_t *)right;
}

static filch_reducer size_sum(void)
{
    filch_reducer sum = FILCH_REDUCER_INIT;
    sum.value_bytes = sizeof(size_t);
    sum.fold = add_piece;
    sum.combine = add_sizes;
    return sum;
}

static int never_kept(const void *element, void *ctx)
{
    (void)element;
    (void)ctx;
    return 0;
}

/* The calls that stand on loops and forks, on the parent's pool. */
static void expect_loops_forked(filch_pool *pool)
{
    const filch_reducer sum = size_sum();
    test_shape bytes = { 1, TEST_ASCENDING };
    unsigned char out[4] = { 2, 1, 2, 1 };
    size_t total = 4711;
    size_t accepted = 4711;
    TEST_CHILD_CHECK(filch_submit_many(pool, NULL, 0, NULL, &accepted) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(accepted == 4711);
    TEST_CHILD_CHECK(filch_for_on(pool, 100, no_range, NULL, NULL) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_reduce_on(pool, 9, &sum, NULL, &total, NULL) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_scan_on(pool, 9, &sum, add_piece, NULL, &total, NULL) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_pack_on(pool, out, 2, 1, never_kept, NULL, out + 2, &total, NULL) ==
                     FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_sort_on(pool, out, 2, 1, test_element_compare, &bytes) ==
                     FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_merge_on(pool, out, 1, out + 1, 1, out + 2, 1, test_element_compare,
                                    &bytes) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(total == 4711 && out[0] == 2 && out[2] == 2);
}

/* In a child that was made inside a task: with the task's context they work, on this thread. */
static void expect_loops_work(filch_cx *cx)
{
    enum { N = 20000 };
    const filch_reducer sum = size_sum();
    test_shape words = { sizeof(uint32_t), TEST_DESCENDING };
    uint32_t numbers[N];
    size_t total = 0;
    for (uint32_t i = 0; i < N; i++) {
        numbers[i] = i << 24 | i;
    }
    TEST_CHILD_CHECK(filch_reduce(cx, N, &sum, NULL, &total, NULL) == FILCH_OK && total == N);
    TEST_CHILD_CHECK(filch_scan(cx, N, &sum, add_piece, NULL, &total, NULL) == FILCH_OK);
    TEST_CHILD_CHECK(filch_sort(cx, numbers, N, sizeof(numbers[0]), test_element_compare, &words) ==
                     FILCH_OK);
    TEST_CHILD_CHECK(numbers[0] >> 24 == 255 && numbers[N - 1] >> 24 == 0);
    TEST_CHILD_CHECK(filch_pack(cx, numbers, N, sizeof(numbers[0]), never_kept, NULL, numbers,
                                &total, NULL) == FILCH_OK);
    TEST_CHILD_CHECK(total == 0);
}

/* In a child: every call on the parent's pool. */
static void expect_forked(filch_pool *pool)
{
    atomic_uint runs = 0;
    uintptr_t value = 4711;
    filch_task task = FILCH_TASK_INIT(count, &runs);
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    filch_stats stats = FILCH_STATS_INIT;
    filch_worker_stats worker_stats;
    filch_lengths lengths = FILCH_LENGTHS_INIT;
    filch_shutdown_report report = { .accepted = 1, .refused = 2, .ran = 3, .cancelled = 4 };
    options.end = no_end;
    TEST_CHILD_CHECK(filch_run(pool, count, &runs) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_run_word(pool, tree, 3, &value) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(value == 4711);
    TEST_CHILD_CHECK(filch_post(pool, count, &runs, 0, &options) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_post(pool, count, &value, sizeof(value), NULL) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_submit(pool, &task, &options) == FILCH_E_FORKED);
    expect_loops_forked(pool);
    TEST_CHILD_CHECK(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, &report) ==
                     FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_pool_shutdown(pool, FILCH_CANCEL, FILCH_NOW, NULL) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(report.accepted == 1 && report.cancelled == 4);
    TEST_CHILD_CHECK(filch_stats_read(pool, &stats) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_stats_read_worker(pool, 0, &worker_stats) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_stats_read_lengths(pool, &lengths) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_here() == NULL);
    TEST_CHILD_CHECK(atomic_load(&runs) == 0);
}

/* In a child: a pool of its own works. */
static void expect_new_pool_works(void)
{
    filch_pool *pool = NULL;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    atomic_uint runs = 0;
    uintptr_t leaves = 0;
    config.workers = 2;
    TEST_CHILD_CHECK(filch_pool_create(&config, &pool) == FILCH_OK);
    for (int i = 0; i < 100; i++) {
        TEST_CHILD_CHECK(filch_post(pool, count, &runs, 0, NULL) == FILCH_OK);
    }
    TEST_CHILD_CHECK(filch_run_word(pool, tree, 8, &leaves) == FILCH_OK);
    TEST_CHILD_CHECK(leaves == 256);
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
    TEST_CHILD_CHECK(atomic_load(&runs) == 100);
    TEST_CHILD_CHECK(test_failures() == 0);
}

/* The allocator of the address sanitizer is not ready for a fork while other threads allocate: the
 * child would wait for its lock. */
static bool child_may_allocate = true;

static void busy_from_now_on(void)
{
    if (TEST_UNDER_ASAN) {
        printf(
            "not judged under the address sanitizer: a new pool in the child of a busy process\n");
        child_may_allocate = false;
    }
}

static void whole_child(void *arg)
{
    filch_pool *pool = arg;
    expect_forked(pool);
    if (!child_may_allocate) {
        return;
    }
    expect_new_pool_works();
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
    expect_new_pool_works();
}

static void expect_parent_works(filch_pool *pool)
{
    atomic_uint runs = 0;
    uintptr_t leaves = 0;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(filch_post(pool, count, &runs, 0, NULL), FILCH_OK);
    }
    assert_int_equal(filch_run_word(pool, tree, 8, &leaves), FILCH_OK);
    assert_int_equal(leaves, 256);
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(atomic_load(&runs), 100);
}

/* Until all threads but this one sleep. A worker that has just been woken, or is only starting, may
 * be inside an allocator. */
static void await_idle(void)
{
    enum { THREADS_MOST = 64 };
    test_proc_thread threads[THREADS_MOST];
    size_t awake;
    do {
        const size_t count = test_proc_threads(threads, THREADS_MOST);
        awake = 0;
        for (size_t i = 0; i < count && i < THREADS_MOST; i++) {
            awake += threads[i].state != 'S';
        }
        sched_yield();
    } while (awake > 1);
}

static void fork__idle_pool__child_is_told_and_parent_goes_on(void **state)
{
    size_t rounds = test_count(50, 5);
    (void)state;
    for (unsigned workers = 1; workers <= WORKERS; workers *= 2) {
        filch_pool *pool = test_pool_make(workers);
        expect_parent_works(pool);
        for (size_t i = 0; i < rounds; i++) {
            await_idle();
            test_assert_child_ok(whole_child, pool);
            expect_parent_works(pool);
        }
        test_pool_close(pool);
    }
}

/* What was there from the creation on is freed in the child; what other threads may have been
 * changing at the moment of the fork is left alone. Nothing is freed twice. */
typedef struct counted {
    test_allocator memory;
    filch_pool *pool;
} counted;

static void destroy_in_child(void *arg)
{
    counted *c = arg;
    const size_t before = atomic_load(&c->memory.live_bytes);
    TEST_CHILD_CHECK(before > 0);
    TEST_CHILD_CHECK(filch_pool_destroy(c->pool) == FILCH_OK);
    TEST_CHILD_CHECK(atomic_load(&c->memory.broken) == 0);
    TEST_CHILD_CHECK(atomic_load(&c->memory.live_bytes) < before / 2);
}

static void fork__destroyed_in_the_child__frees_what_it_safely_can(void **state)
{
    static counted c;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    test_allocator_init(&c.memory);
    config.workers = WORKERS;
    config.flags = FILCH_POOL_TIME_TASKS;
    config.allocator = &c.memory.hooks;
    c.pool = test_pool_make_as(&config);
    expect_parent_works(c.pool);
    for (int i = 0; i < 10; i++) {
        test_assert_child_ok(destroy_in_child, &c);
    }
    expect_parent_works(c.pool);
    test_pool_close(c.pool);
    test_allocator_assert_balanced(&c.memory);
}

/* Busy: tasks and forks all the time, and threads inside a post, most of them waiting for room. */
typedef struct load {
    filch_pool *pool;
    atomic_bool stop;
    atomic_uint posted;
    atomic_uint runs;
} load;

static void heavy_task(filch_cx *cx, void *arg)
{
    load *l = arg;
    TEST_CHECK(tree(cx, 6) == 64);
    atomic_fetch_add(&l->runs, 1);
}

static void *keep_posting(void *arg)
{
    load *l = arg;
    while (!atomic_load(&l->stop)) {
        TEST_CHECK(filch_post(l->pool, heavy_task, l, 0, NULL) == FILCH_OK);
        atomic_fetch_add(&l->posted, 1);
    }
    return NULL;
}

static void fork__while_threads_are_inside_a_post__child_never_waits(void **state)
{
    enum { POSTERS = 3 };
    size_t rounds = test_count(200, 10);
    pthread_t threads[POSTERS];
    load l = { .stop = false };
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    config.workers = 2;
    config.queue_tasks = 4;
    busy_from_now_on();
    l.pool = test_pool_make_as(&config);
    for (int i = 0; i < POSTERS; i++) {
        test_thread_start(&threads[i], keep_posting, &l);
    }
    test_await(&l.runs, 10);
    for (size_t i = 0; i < rounds; i++) {
        unsigned runs = atomic_load(&l.runs);
        test_assert_child_ok(whole_child, l.pool);
        test_await(&l.runs, runs + 1); /* the parent goes on */
    }
    atomic_store(&l.stop, true);
    for (int i = 0; i < POSTERS; i++) {
        test_thread_join(threads[i]);
    }
    assert_int_equal(filch_pool_wait_quiet(l.pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(atomic_load(&l.runs), atomic_load(&l.posted));
    test_pool_close(l.pool);
}

/* From inside a task: in a root, a detached task, a fork, a loop body. */
static void fork_here(filch_cx *cx)
{
    filch_pool *pool = filch_cx_pool(cx);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(30);
        expect_loops_work(cx);
        whole_child(pool);
        test_child_leave(0);
    }
    TEST_CHECK(pid > 0);
    TEST_CHECK(test_child_wait(pid) == 0);
}

static void fork_in_task(filch_cx *cx, void *arg)
{
    (void)arg;
    fork_here(cx);
}

static void fork_in_body(filch_cx *cx, void *ctx, filch_range range)
{
    (void)ctx;
    if (range.lo == 0) {
        fork_here(cx);
    }
}

static void fork_in_forks(filch_cx *cx, void *arg)
{
    filch_join2(cx, fork_in_task, arg, fork_in_task, arg);
    TEST_CHECK(filch_for(cx, 8, fork_in_body, NULL, NULL) == FILCH_OK);
}

static void fork__inside_a_task__child_is_told_and_task_goes_on(void **state)
{
    size_t rounds = test_count(20, 3);
    (void)state;
    for (unsigned workers = 1; workers <= WORKERS; workers *= 2) {
        filch_pool *pool = test_pool_make(workers);
        for (size_t i = 0; i < rounds; i++) {
            test_pool_run(pool, fork_in_task, NULL);
            test_pool_run(pool, fork_in_forks, NULL);
            assert_int_equal(filch_post(pool, fork_in_task, NULL, 0, NULL), FILCH_OK);
            assert_int_equal(filch_for_on(pool, 8, fork_in_body, NULL, NULL), FILCH_OK);
        }
        expect_parent_works(pool);
        test_pool_close(pool);
    }
}

/* The default pool: the child gets one of its own, and its child again. */
static void grandchild(void *arg)
{
    atomic_uint runs = 0;
    expect_forked(arg);
    TEST_CHILD_CHECK(filch_default_pool() != NULL);
    TEST_CHILD_CHECK(filch_run(filch_default_pool(), count, &runs) == FILCH_OK);
    TEST_CHILD_CHECK(atomic_load(&runs) == 1);
}

static void child_with_default_pool(void *arg)
{
    atomic_uint runs = 0;
    filch_pool *own = filch_default_pool();
    TEST_CHILD_CHECK(own != NULL);
    TEST_CHILD_CHECK(filch_run(own, count, &runs) == FILCH_OK);
    TEST_CHILD_CHECK(atomic_load(&runs) == 1);
    TEST_CHILD_CHECK(own == arg || filch_run(arg, count, &runs) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(test_child_run(grandchild, own, NULL, 0) == 0);
    TEST_CHILD_CHECK(filch_run(own, count, &runs) == FILCH_OK);
}

static void fork__with_a_default_pool__child_gets_its_own(void **state)
{
    atomic_uint runs = 0;
    filch_pool *pool = filch_default_pool();
    (void)state;
    assert_non_null(pool);
    test_pool_run(pool, count, &runs);
    for (int i = 0; i < 10; i++) {
        await_idle();
        test_assert_child_ok(child_with_default_pool, pool);
        assert_ptr_equal(filch_default_pool(), pool);
        test_pool_run(pool, count, &runs);
    }
    assert_int_equal(atomic_load(&runs), 11);
}

static void quick_child(void *arg)
{
    atomic_uint runs = 0;
    TEST_CHILD_CHECK(filch_post(arg, count, &runs, 0, NULL) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_pool_destroy(arg) == FILCH_OK);
}

static void fork__a_thousand_times__parent_keeps_its_threads(void **state)
{
    size_t rounds = test_count(1000, 50);
    filch_pool *pool = test_pool_make(WORKERS);
    size_t threads_before = test_proc_threads(NULL, 0);
    (void)state;
    for (size_t i = 0; i < rounds; i++) {
        assert_int_equal(test_child_run(quick_child, pool, NULL, 0), 0);
    }
    assert_int_equal(test_proc_threads(NULL, 0), threads_before);
    expect_parent_works(pool);
    test_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(fork__idle_pool__child_is_told_and_parent_goes_on),
        cmocka_unit_test(fork__destroyed_in_the_child__frees_what_it_safely_can),
        cmocka_unit_test(fork__while_threads_are_inside_a_post__child_never_waits),
        cmocka_unit_test(fork__inside_a_task__child_is_told_and_task_goes_on),
        cmocka_unit_test(fork__with_a_default_pool__child_gets_its_own),
        cmocka_unit_test(fork__a_thousand_times__parent_keeps_its_threads),
    };
    test_begin(200);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
