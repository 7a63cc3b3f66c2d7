/* SPDX-License-Identifier: MIT */
/* Handing work in under load: eight foreign threads and the tasks themselves post at the same time,
 * also through an injector that holds two tasks; what was written before a post is seen by the
 * task; and a warm pool allocates nothing. */
#include "support/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/alloc.h"

enum { POSTERS = 8, CHILDREN = 2 };

/* A task that knows how many generations are to follow, with a payload in plain memory. */
typedef struct load {
    filch_pool *pool;
    atomic_size_t submitted;
    atomic_size_t executed;
    size_t per_poster;
} load;

typedef struct parcel {
    load *of;
    uint64_t *heap; /* plain: written before the post, checked and freed by the task */
    unsigned generation;
    uint64_t check;
} parcel;

static void open_parcel(filch_cx *cx, void *data);

static void send_parcel(load *l, unsigned generation, uint64_t number)
{
    parcel p = { l, malloc(sizeof(uint64_t)), generation, test_mix(number) };
    if (p.heap == NULL) {
        abort();
    }
    *p.heap = test_mix(number) + 1;
    TEST_CHECK(filch_post(l->pool, open_parcel, &p, sizeof(p), NULL) == FILCH_OK);
    atomic_fetch_add_explicit(&l->submitted, 1, memory_order_relaxed);
}

static void spawned_child(filch_cx *cx, void *arg)
{
    (void)cx;
    atomic_fetch_add_explicit((atomic_uint *)arg, 1, memory_order_relaxed);
}

static void open_parcel(filch_cx *cx, void *data)
{
    const parcel p = *(parcel *)data;
    TEST_CHECK(*p.heap == p.check + 1);
    free(p.heap);
    for (unsigned i = 0; p.generation > 0 && i < CHILDREN; i++) {
        send_parcel(p.of, p.generation - 1, p.check + i);
    }
    if (p.generation == 1) {
        atomic_uint done = 0;
        filch_scope scope;
        filch_scope_begin(cx, &scope);
        filch_spawn(cx, &scope, spawned_child, &done);
        filch_spawn(cx, &scope, spawned_child, &done);
        filch_scope_end(cx, &scope);
        TEST_CHECK(atomic_load(&done) == 2);
    }
    atomic_fetch_add_explicit(&p.of->executed, 1, memory_order_relaxed);
}

static void *post_parcels(void *arg)
{
    load *l = arg;
    test_rng rng = test_rng_make((uint64_t)(uintptr_t)&rng);
    for (size_t i = 0; i < l->per_poster; i++) {
        uint64_t number = test_rng_next(&rng);
        send_parcel(l, (unsigned)(number % 3), number);
    }
    return NULL;
}

static void post_from_all_sides(unsigned workers, size_t queue_tasks, size_t per_poster)
{
    pthread_t threads[POSTERS];
    load l = { NULL, 0, 0, per_poster };
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = workers;
    config.queue_tasks = queue_tasks;
    l.pool = test_pool_make_as(&config);
    for (int i = 0; i < POSTERS; i++) {
        test_thread_start(&threads[i], post_parcels, &l);
    }
    for (int i = 0; i < POSTERS; i++) {
        test_thread_join(threads[i]);
    }
    assert_int_equal(filch_pool_wait_quiet(l.pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(atomic_load(&l.executed), atomic_load(&l.submitted));
    filch_stats stats = test_pool_stats(l.pool);
    assert_int_equal(stats.accepted, atomic_load(&l.submitted));
    assert_int_equal(stats.total.tasks_run, atomic_load(&l.submitted));
    assert_int_equal(stats.total.injected_taken, POSTERS * per_poster);
    assert_int_equal(stats.refused, 0);
    printf("%u workers, queue of %zu: %llu tasks, a producer waited %llu times\n", workers,
           stats.queue_tasks, (unsigned long long)stats.accepted,
           (unsigned long long)stats.queue_waits);
    assert_true(queue_tasks == 0 || test_is_short() || stats.queue_waits > 0);
    test_pool_close(l.pool);
}

static void post__from_eight_threads_and_tasks__all_run(void **state)
{
    (void)state;
    post_from_all_sides(4, 0, test_count(100000, 4000));
    post_from_all_sides(1, 0, test_count(20000, 2000));
}

static void post__through_a_queue_of_two__producers_wait_and_all_run(void **state)
{
    (void)state;
    post_from_all_sides(4, 1, test_count(20000, 2000));
    post_from_all_sides(1, 2, test_count(10000, 1000));
    post_from_all_sides(2, 2, test_count(10000, 1000));
}

/* Every way to hand work in, again and again: once warm, no memory is asked for. */
static void nop(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
}

static uintptr_t small_tree(filch_cx *cx, uintptr_t depth)
{
    if (depth == 0) {
        return 1;
    }
    filch_pair pair = filch_join2_word(cx, small_tree, depth - 1, small_tree, depth - 1);
    return pair.first + pair.second;
}

static void nop_range(filch_cx *cx, void *ctx, filch_range range)
{
    (void)cx;
    (void)ctx;
    (void)range;
}

static void all_inside(filch_cx *cx, void *arg)
{
    unsigned char data[FILCH_POST_INLINE_BYTES] = { 0 };
    filch_scope scope;
    (void)arg;
    for (int i = 0; i < 4; i++) {
        TEST_CHECK(filch_post(filch_cx_pool(cx), nop, data, sizeof(data), NULL) == FILCH_OK);
    }
    TEST_CHECK(small_tree(cx, 4) == 16);
    filch_scope_begin(cx, &scope);
    for (int i = 0; i < 8; i++) {
        filch_spawn(cx, &scope, nop, NULL);
    }
    filch_scope_end(cx, &scope);
    TEST_CHECK(filch_for(cx, 64, nop_range, NULL, NULL) == FILCH_OK);
}

/* Warm: every worker has had what a cycle needs, and there are nodes enough to fill what each of
 * them keeps for itself: one posts them all while the others are held. */
typedef struct warm_up {
    atomic_uint met;
    atomic_uint posted;
    unsigned workers;
} warm_up;

static void warm_one(filch_cx *cx, void *ctx, filch_range range)
{
    enum { KEPT_BY_A_WORKER = 64, BURST_PER_WORKER = 3 * KEPT_BY_A_WORKER };
    unsigned char data[FILCH_POST_INLINE_BYTES] = { 0 };
    warm_up *w = ctx;
    atomic_fetch_add(&w->met, 1);
    test_await(&w->met, w->workers); /* so that each worker has one of the pieces */
    for (unsigned i = 0; range.lo == 0 && i < BURST_PER_WORKER * w->workers; i++) {
        TEST_CHECK(filch_post(filch_cx_pool(cx), nop, data, sizeof(data), NULL) == FILCH_OK);
    }
    if (range.lo == 0) {
        atomic_store(&w->posted, 1);
    }
    test_await(&w->posted, 1);
    all_inside(cx, NULL);
}

static void warm_all(filch_cx *cx, void *arg)
{
    warm_up *w = arg;
    filch_loop options = FILCH_LOOP_INIT;
    options.grain = 1;
    TEST_CHECK(filch_for(cx, w->workers, warm_one, w, &options) == FILCH_OK);
}

static void cycles(filch_pool *pool, size_t count)
{
    unsigned char data[FILCH_POST_INLINE_BYTES] = { 0 };
    filch_task task = FILCH_TASK_INIT(nop, NULL);
    uintptr_t value = 0;
    for (size_t i = 0; i < count; i++) {
        TEST_CHECK(filch_post(pool, nop, data, sizeof(data), NULL) == FILCH_OK);
        TEST_CHECK(filch_submit(pool, &task, NULL) == FILCH_OK);
        TEST_CHECK(filch_run(pool, all_inside, NULL) == FILCH_OK);
        TEST_CHECK(filch_run_word(pool, small_tree, 3, &value) == FILCH_OK);
        TEST_CHECK(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_OK);
    }
}

static void pool__once_warm__allocates_nothing(void **state)
{
    static const unsigned worker_counts[] = { 1, 2, 4 };
    size_t count = test_count(15000, 1500);
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        test_allocator memory;
        filch_pool_config config = FILCH_POOL_CONFIG_INIT;
        test_allocator_init(&memory);
        config.workers = worker_counts[w];
        config.allocator = &memory.hooks;
        filch_pool *pool = test_pool_make_as(&config);
        warm_up w_up = { 0, 0, worker_counts[w] };
        assert_int_equal(filch_run(pool, warm_all, &w_up), FILCH_OK);
        cycles(pool, count / 10);
        unsigned long warm = atomic_load(&memory.calls);
        cycles(pool, count);
        printf("%u workers: %lu allocations to get warm, %lu in %zu cycles after that\n",
               worker_counts[w], warm, atomic_load(&memory.calls) - warm, count);
        assert_int_equal(atomic_load(&memory.calls) - warm, 0);
        test_pool_close(pool);
        test_allocator_assert_balanced(&memory);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(post__from_eight_threads_and_tasks__all_run),
        cmocka_unit_test(post__through_a_queue_of_two__producers_wait_and_all_run),
        cmocka_unit_test(pool__once_warm__allocates_nothing),
    };
    test_begin(300);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
