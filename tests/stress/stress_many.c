/* SPDX-License-Identifier: MIT */
/* A million tasks at once, and a thousand threads that hand work in. Judged by counts: what is
 * allocated grows with the number of tasks and no faster, each task is moved once, and tasks do not
 * pile up on one another's stack when they are run. */
#include "support/pool.h"

#include <stdlib.h>

#include "support/alloc.h"

enum { MILLION = 1000000, MOST_STACK_BYTES = 1024, THREADS = 1000, POSTS_EACH = 100 };

typedef struct crowd {
    filch_pool *pool;
    unsigned count;
    unsigned ran; /* plain: one worker */
    uintptr_t highest;
    uintptr_t lowest;
    size_t bytes_held; /* when all are queued */
    unsigned long allocs;
    test_allocator memory;
    atomic_uint held;
    atomic_uint open;
} crowd;

static void run_one(filch_cx *cx, void *arg)
{
    crowd *c = arg;
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    (void)cx;
    c->highest = (c->ran == 0 || here > c->highest) ? here : c->highest;
    c->lowest = (c->ran == 0 || here < c->lowest) ? here : c->lowest;
    c->ran++;
}

static void note_held(crowd *c)
{
    c->bytes_held = atomic_load(&c->memory.live_bytes);
    c->allocs = atomic_load(&c->memory.allocs);
}

/* All of them in the deque of the one worker. */
static void post_all(filch_cx *cx, void *arg)
{
    crowd *c = arg;
    for (unsigned i = 0; i < c->count; i++) {
        TEST_CHECK(filch_post(filch_cx_pool(cx), run_one, c, 0, NULL) == FILCH_OK);
    }
    note_held(c);
}

static void hold(filch_cx *cx, void *arg)
{
    crowd *c = arg;
    (void)cx;
    atomic_store(&c->held, 1);
    test_await(&c->open, 1);
}

static crowd *make_crowd(unsigned count, size_t queue_tasks)
{
    crowd *c = calloc(1, sizeof(*c));
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    assert_non_null(c);
    test_allocator_init(&c->memory);
    c->count = count;
    config.workers = 1;
    config.queue_tasks = queue_tasks;
    config.allocator = &c->memory.hooks;
    c->pool = test_pool_make_as(&config);
    return c;
}

static void expect_all_ran(crowd *c, const char *what)
{
    assert_int_equal(filch_pool_wait_quiet(c->pool, FILCH_FOREVER), FILCH_OK);
    filch_stats stats = test_pool_stats(c->pool);
    print_message("%u tasks %s: %zu bytes, %lu allocations, frames within %zu bytes\n", c->count,
                  what, c->bytes_held, c->allocs, (size_t)(c->highest - c->lowest));
    assert_int_equal(c->ran, c->count);
    assert_int_equal(stats.total.tasks_inline, 0);
    assert_int_equal(stats.total.steals_won + stats.total.steals_lost, 0);
    assert_int_equal(stats.queue_waits, 0);
    assert_true(c->highest - c->lowest <= MOST_STACK_BYTES);
}

static void close_crowd(crowd *c)
{
    test_pool_close(c->pool);
    test_allocator_assert_balanced(&c->memory);
    free(c);
}

/* Bytes and allocations for one more task, between a tenth and all of them. */
static void expect_linear(const crowd *few, const crowd *many, size_t most_bytes)
{
    const size_t more = many->count - few->count;
    assert_true(many->bytes_held - few->bytes_held <= more * most_bytes);
    assert_true(many->allocs - few->allocs <= more + 64);
}

static void own_tasks__a_million__linear_and_flat(void **state)
{
    const unsigned count = (unsigned)test_count(MILLION, MILLION / 20);
    crowd *few = make_crowd(count / 10, 0);
    crowd *many = make_crowd(count, 0);
    (void)state;
    test_pool_run(few->pool, post_all, few);
    test_pool_run(many->pool, post_all, many);
    expect_all_ran(few, "posted by a task");
    expect_all_ran(many, "posted by a task");
    /* a node, a slot that may be one of twice as many, and as many in replaced buffers */
    expect_linear(few, many, 192);
    close_crowd(few);
    close_crowd(many);
}

static void injected__a_million__linear_and_flat(void **state)
{
    const unsigned count = (unsigned)test_count(MILLION, MILLION / 20);
    crowd *c = make_crowd(count, (size_t)1 << 20);
    (void)state;
    assert_int_equal(filch_post(c->pool, hold, c, 0, NULL), FILCH_OK);
    test_await(&c->held, 1); /* alone: a batch would have memory of the worker's */
    const size_t bytes_before = atomic_load(&c->memory.live_bytes);
    const unsigned long allocs_before = atomic_load(&c->memory.allocs);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(filch_post(c->pool, run_one, c, 0, NULL), FILCH_OK);
    }
    note_held(c);
    assert_int_equal(c->bytes_held, bytes_before); /* the queue was made with room for them */
    assert_int_equal(c->allocs, allocs_before);
    atomic_store(&c->open, 1);
    expect_all_ran(c, "posted from outside");
    close_crowd(c);
}

static void count_run(filch_cx *cx, void *arg)
{
    (void)cx;
    atomic_fetch_add((atomic_uint *)arg, 1);
}

typedef struct submitters {
    filch_pool *pool;
    atomic_uint runs;
    atomic_uint ready;
    atomic_uint go;
    unsigned threads;
} submitters;

static void *submit_some(void *arg)
{
    submitters *s = arg;
    filch_task tasks[POSTS_EACH];
    atomic_fetch_add(&s->ready, 1);
    test_await(&s->go, 1);
    for (unsigned i = 0; i < POSTS_EACH; i++) {
        tasks[i] = (filch_task)FILCH_TASK_INIT(count_run, &s->runs);
        TEST_CHECK(filch_submit(s->pool, &tasks[i], NULL) == FILCH_OK);
    }
    TEST_CHECK(filch_pool_wait_quiet(s->pool, FILCH_FOREVER) == FILCH_OK); /* tasks lie here */
    return NULL;
}

static void submit__from_a_thousand_threads__each_once(void **state)
{
    static pthread_t threads[THREADS];
    submitters s = { .threads = (unsigned)test_count(THREADS, THREADS / 10) };
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    s.threads = s.threads < THREADS ? s.threads : THREADS;
    config.workers = 4;
    config.queue_tasks = 16;
    s.pool = test_pool_make_as(&config);
    for (unsigned i = 0; i < s.threads; i++) {
        test_thread_start(&threads[i], submit_some, &s);
    }
    test_await(&s.ready, s.threads);
    atomic_store(&s.go, 1);
    for (unsigned i = 0; i < s.threads; i++) {
        test_thread_join(threads[i]);
    }
    filch_stats stats = test_pool_stats(s.pool);
    assert_int_equal(atomic_load(&s.runs), s.threads * POSTS_EACH);
    assert_int_equal(stats.accepted, s.threads * POSTS_EACH);
    assert_int_equal(stats.refused, 0);
    assert_true(stats.queue_waits > 0);
    test_pool_close(s.pool);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(own_tasks__a_million__linear_and_flat),
        cmocka_unit_test(injected__a_million__linear_and_flat),
        cmocka_unit_test(submit__from_a_thousand_threads__each_once),
    };
    test_begin(200);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
