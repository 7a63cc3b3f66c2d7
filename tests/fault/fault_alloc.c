/* SPDX-License-Identifier: MIT */
/* Memory that cannot be had: for each k the k-th allocation of a scenario fails, once or from then
 * on. Creation gives a status, everything else degrades or gives a status; no task is lost, none
 * runs twice, nothing leaks. */
#include "support/pool.h"

#include <string.h>

#include "support/alloc.h"

enum { WORKERS = 3, POSTS = 700, CHILDREN = 3000, INDICES = 20000, BIG_BYTES = 200 };

typedef struct tally {
    atomic_uint runs;
    atomic_uint ends;
    atomic_uint indices[INDICES];
} tally;

static tally the_tally;

static void count_run(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
    atomic_fetch_add(&the_tally.runs, 1);
}

static void count_end(void *data, filch_end how)
{
    (void)data;
    TEST_CHECK(how == FILCH_RAN);
    atomic_fetch_add(&the_tally.ends, 1);
}

static void count_range(filch_cx *cx, void *ctx, filch_range range)
{
    (void)cx;
    (void)ctx;
    TEST_CHECK(range.lo < range.hi && range.hi <= INDICES);
    TEST_CHECK(range.slot <= WORKERS);
    for (size_t i = range.lo; i < range.hi; i++) {
        atomic_fetch_add(&the_tally.indices[i], 1);
    }
}

/* What a scenario does with a pool; the number of tasks that must have run comes back. */
typedef unsigned scenario_fn(filch_pool *pool);

static filch_submit_options options_with_end(void)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.end = count_end;
    return options;
}

/* Posts of both sizes; the large ones may be refused for lack of memory. */
static unsigned post_some(filch_pool *pool)
{
    unsigned char data[BIG_BYTES] = { 0 };
    filch_submit_options options = options_with_end();
    unsigned accepted = 0;
    for (unsigned i = 0; i < POSTS; i++) {
        size_t bytes = (i % 7 == 0) ? BIG_BYTES : FILCH_POST_INLINE_BYTES;
        filch_status status = filch_post(pool, count_run, data, bytes, &options);
        TEST_CHECK(status == FILCH_OK || status == FILCH_E_NOMEM);
        TEST_CHECK(status == FILCH_OK || bytes > FILCH_POST_INLINE_BYTES);
        accepted += (status == FILCH_OK);
    }
    return accepted;
}

static void post_inside(filch_cx *cx, void *arg)
{
    *(unsigned *)arg = post_some(filch_cx_pool(cx));
}

static filch_status count_async(filch_cx *cx, void *data, void *result)
{
    (void)result;
    count_run(cx, data);
    return FILCH_OK;
}

static filch_status count_then(filch_cx *cx, void *data, filch_status status, const void *value,
                               void *result)
{
    TEST_CHECK(status == FILCH_OK);
    TEST_CHECK(value != NULL);
    return count_async(cx, data, result);
}

/* Tasks and their continuations; either may be refused for lack of memory. */
static unsigned scenario_futures(filch_pool *pool)
{
    const filch_submit_options options = options_with_end();
    unsigned accepted = 0;
    for (unsigned i = 0; i < 40; i++) {
        filch_future *task = NULL;
        filch_future *after = NULL;
        filch_status status = filch_async(pool, count_async, NULL, 0, i + 1, &options, &task);
        TEST_CHECK(status == FILCH_OK || status == FILCH_E_NOMEM);
        if (status != FILCH_OK) {
            continue;
        }
        status = filch_future_then(task, pool, count_then, NULL, 0, 8, &options, &after);
        TEST_CHECK(status == FILCH_OK || status == FILCH_E_NOMEM);
        accepted += status == FILCH_OK ? 2 : 1;
        filch_future_release(task);
        filch_future_release(after);
    }
    return accepted;
}

static unsigned scenario_foreign_posts(filch_pool *pool)
{
    return post_some(pool);
}

static unsigned scenario_worker_posts(filch_pool *pool)
{
    unsigned accepted = 0;
    assert_int_equal(filch_run(pool, post_inside, &accepted), FILCH_OK);
    return accepted;
}

static unsigned scenario_submits(filch_pool *pool)
{
    static filch_task tasks[POSTS];
    filch_submit_options options = options_with_end();
    for (unsigned i = 0; i < POSTS; i++) {
        tasks[i] = (filch_task)FILCH_TASK_INIT(count_run, NULL);
        assert_int_equal(filch_submit(pool, &tasks[i], &options), FILCH_OK);
    }
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    return POSTS;
}

enum { TO_GROUP = 20 };

/* Posts to a group, from outside and from a task: without a node they are refused. */
static unsigned post_to(filch_pool *pool, filch_group *group)
{
    unsigned char data[FILCH_POST_INLINE_BYTES] = { 0 };
    filch_submit_options options = options_with_end();
    unsigned accepted = 0;
    options.group = group;
    for (unsigned i = 0; i < TO_GROUP; i++) {
        filch_status status =
            filch_post(pool, count_run, data, i % 2 == 0 ? 8 : sizeof(data), &options);
        TEST_CHECK(status == FILCH_OK || status == FILCH_E_NOMEM);
        accepted += (status == FILCH_OK);
    }
    return accepted;
}

typedef struct posts_inside {
    filch_group *group;
    unsigned accepted;
} posts_inside;

static void post_to_inside(filch_cx *cx, void *arg)
{
    posts_inside *p = arg;
    p->accepted = post_to(filch_cx_pool(cx), p->group);
}

static unsigned scenario_groups(filch_pool *pool)
{
    posts_inside inside = { NULL, 0 };
    if (filch_group_create(pool, NULL, &inside.group) == FILCH_E_NOMEM) {
        assert_null(inside.group);
        return 0;
    }
    const unsigned accepted = post_to(pool, inside.group);
    assert_int_equal(filch_run(pool, post_to_inside, &inside), FILCH_OK);
    assert_int_equal(filch_group_wait(inside.group, FILCH_FOREVER, NULL, NULL), FILCH_OK);
    assert_int_equal(filch_group_destroy(inside.group), FILCH_OK);
    return accepted + inside.accepted;
}

static void spawn_inside(filch_cx *cx, void *arg)
{
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    for (unsigned i = 0; i < CHILDREN; i++) {
        filch_spawn(cx, &scope, count_run, arg);
    }
    filch_scope_end(cx, &scope);
    TEST_CHECK(atomic_load(&the_tally.runs) == CHILDREN);
}

static unsigned scenario_scope(filch_pool *pool)
{
    assert_int_equal(filch_run(pool, spawn_inside, NULL), FILCH_OK);
    atomic_fetch_add(&the_tally.ends, CHILDREN);
    return CHILDREN;
}

static uintptr_t fork_deep(filch_cx *cx, uintptr_t depth)
{
    filch_fork_handle handle;
    atomic_fetch_add(&the_tally.runs, 1);
    if (depth == 0) {
        return 1;
    }
    /* The fork is outstanding while the recursion goes on: a second region is needed. */
    filch_fork(cx, &handle, fork_deep, 0);
    uintptr_t below = fork_deep(cx, depth - 1);
    return below + filch_join(cx, &handle);
}

static unsigned scenario_forks(filch_pool *pool)
{
    uintptr_t value = 0;
    assert_int_equal(filch_run_word(pool, fork_deep, 3000, &value), FILCH_OK);
    assert_int_equal(value, 3001);
    atomic_fetch_add(&the_tally.ends, 6001);
    return 6001;
}

static void expect_each_index_once(void)
{
    for (size_t i = 0; i < INDICES; i++) {
        assert_int_equal(atomic_load(&the_tally.indices[i]), 1);
        atomic_store(&the_tally.indices[i], 0);
    }
}

static void loop_inside(filch_cx *cx, void *arg)
{
    (void)arg;
    TEST_CHECK(filch_for(cx, INDICES, count_range, NULL, NULL) == FILCH_OK);
}

static unsigned scenario_loop(filch_pool *pool)
{
    assert_int_equal(filch_run(pool, loop_inside, NULL), FILCH_OK);
    expect_each_index_once();
    return 0;
}

static unsigned scenario_foreign_loop(filch_pool *pool)
{
    filch_status status = filch_for_on(pool, INDICES, count_range, NULL, NULL);
    assert_int_equal(status, FILCH_OK);
    expect_each_index_once();
    return 0;
}

static filch_pool_config config_for(test_allocator *memory)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    test_allocator_init(memory);
    config.workers = WORKERS;
    config.queue_tasks = 64;
    config.allocator = &memory->hooks;
    return config;
}

/* One life of a pool in which the k-th allocation after its creation fails. Returns whether that
 * many were asked for. */
static bool one_life(scenario_fn *scenario, unsigned long k, bool for_good)
{
    test_allocator memory;
    filch_pool_config config = config_for(&memory);
    filch_pool *pool = test_pool_make_as(&config);
    memset(&the_tally, 0, sizeof(the_tally));
    test_allocator_fail(&memory, k, for_good);
    unsigned expected = scenario(pool);
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(atomic_load(&the_tally.runs), expected);
    assert_int_equal(atomic_load(&the_tally.ends), expected);
    bool reached = test_allocator_has_failed(&memory);
    test_allocator_fail(&memory, 0, false);
    /* Afterwards it works as if nothing had happened. */
    memset(&the_tally, 0, sizeof(the_tally));
    expected = scenario(pool);
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(atomic_load(&the_tally.runs), expected);
    test_pool_close(pool);
    test_allocator_assert_balanced(&memory);
    return reached;
}

static void expect_survives(scenario_fn *scenario)
{
    unsigned long step = (TEST_UNDER_ASAN || TEST_UNDER_TSAN) ? 7 : 1;
    unsigned long k = 1;
    while (one_life(scenario, k, false)) {
        k += (k < 30) ? 1 : step;
    }
    for (unsigned long at = 1; at <= k; at += (at < 30) ? 1 : step) {
        (void)one_life(scenario, at, true);
    }
}

/* A loop by a foreign thread needs no memory of its own, but one inside the body of another does. */
typedef struct nested_loops {
    filch_pool *pool;
    test_allocator *memory;
    filch_status status;
    bool failed;
} nested_loops;

static void loop_in_loop(filch_cx *cx, void *ctx, filch_range range)
{
    nested_loops *loops = ctx;
    (void)cx;
    (void)range;
    test_allocator_fail(loops->memory, 1, true);
    loops->status = filch_for_on(loops->pool, INDICES, count_range, NULL, NULL);
    loops->failed = test_allocator_has_failed(loops->memory);
    test_allocator_fail(loops->memory, 0, false);
}

static void for_on__inside_a_loop_without_memory__nomem(void **state)
{
    test_allocator memory;
    filch_pool_config config = config_for(&memory);
    filch_loop alone = FILCH_LOOP_INIT;
    nested_loops loops = { .memory = &memory };
    (void)state;
    alone.participants = 1; /* the body runs here */
    loops.pool = test_pool_make_as(&config);
    memset(&the_tally, 0, sizeof(the_tally));
    assert_int_equal(filch_for_on(loops.pool, 1, loop_in_loop, &loops, &alone), FILCH_OK);
    assert_int_equal(loops.status, FILCH_E_NOMEM);
    assert_true(loops.failed);
    assert_int_equal(filch_for_on(loops.pool, INDICES, count_range, NULL, NULL), FILCH_OK);
    expect_each_index_once();
    test_pool_close(loops.pool);
    test_allocator_assert_balanced(&memory);
}

static void create__kth_allocation_fails__nomem_and_nothing_left(void **state)
{
    unsigned long k = 0;
    (void)state;
    for (;;) {
        test_allocator memory;
        int marker = 0;
        filch_pool *pool = (filch_pool *)(void *)&marker;
        filch_pool_config config = config_for(&memory);
        /* takes the most memory */
        config.flags = FILCH_POOL_TIME_TASKS | FILCH_POOL_TIME_QUEUE | FILCH_POOL_SPREAD;
        test_allocator_fail(&memory, ++k, false);
        filch_status status = filch_pool_create(&config, &pool);
        if (status == FILCH_OK) {
            assert_false(test_allocator_has_failed(&memory));
            test_pool_close(pool);
            test_allocator_assert_balanced(&memory);
            break;
        }
        assert_int_equal(status, FILCH_E_NOMEM);
        assert_ptr_equal(pool, &marker);
        test_allocator_assert_balanced(&memory);
    }
    assert_true(k > WORKERS);
}

static void post__kth_allocation_fails__status_and_no_task_lost(void **state)
{
    (void)state;
    expect_survives(scenario_foreign_posts);
}

static void future__kth_allocation_fails__status_and_each_ends_once(void **state)
{
    (void)state;
    expect_survives(scenario_futures);
}

static void post__in_a_task_kth_allocation_fails__no_task_lost(void **state)
{
    (void)state;
    expect_survives(scenario_worker_posts);
}

static void submit__without_memory__works(void **state)
{
    (void)state;
    expect_survives(scenario_submits);
}

static void group__kth_allocation_fails__status_and_no_task_lost(void **state)
{
    (void)state;
    expect_survives(scenario_groups);
}

static void scope__kth_allocation_fails__each_child_once(void **state)
{
    (void)state;
    expect_survives(scenario_scope);
}

static void fork__kth_allocation_fails__runs_in_its_parent(void **state)
{
    (void)state;
    expect_survives(scenario_forks);
}

static void for__kth_allocation_fails__each_index_once(void **state)
{
    (void)state;
    expect_survives(scenario_loop);
}

static void for_on__kth_allocation_fails__each_index_once(void **state)
{
    (void)state;
    expect_survives(scenario_foreign_loop);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(for_on__inside_a_loop_without_memory__nomem),
        cmocka_unit_test(create__kth_allocation_fails__nomem_and_nothing_left),
        cmocka_unit_test(post__kth_allocation_fails__status_and_no_task_lost),
        cmocka_unit_test(future__kth_allocation_fails__status_and_each_ends_once),
        cmocka_unit_test(post__in_a_task_kth_allocation_fails__no_task_lost),
        cmocka_unit_test(submit__without_memory__works),
        cmocka_unit_test(group__kth_allocation_fails__status_and_no_task_lost),
        cmocka_unit_test(scope__kth_allocation_fails__each_child_once),
        cmocka_unit_test(fork__kth_allocation_fails__runs_in_its_parent),
        cmocka_unit_test(for__kth_allocation_fails__each_index_once),
        cmocka_unit_test(for_on__kth_allocation_fails__each_index_once),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
