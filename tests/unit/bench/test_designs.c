/* SPDX-License-Identifier: MIT */
/* The designs that stealing is compared with: each runs every task once, joins what it forked, and
 * starts and stops. A contestant that loses tasks would win every race. */
#include "bench/designs/design.h"
#include "bench/designs/stealing/stealing.h"
#include "support/test.h"

#include <string.h>

static const design *const designs[] = {
    &design_serial,           &design_shared_queue,   &design_lock_free_queue,
    &design_private_queues,   &design_overflow_queue, &design_locked_deques,
    &design_static_partition, &design_master_worker,  &design_stealing,
};

static const unsigned thread_counts[] = { 1, 2, 3, 5 };

typedef struct fib_task {
    design_task task;
    unsigned n;
    unsigned long result;
} fib_task;

static void fib(const design_cx *cx, void *arg)
{
    fib_task *f = arg;
    if (f->n < 2) {
        f->result = f->n;
        return;
    }
    fib_task a = { .task = { .fn = fib, .arg = &a }, .n = f->n - 1 };
    fib_task b = { .task = { .fn = fib, .arg = &b }, .n = f->n - 2 };
    cx->on->pair(cx, &a.task, &b.task);
    f->result = a.result + b.result;
}

enum { CHILDREN = 7, DEPTH = 3, NODES = 1 + 7 + 49 + 343, POSTS = 6000 };

typedef struct node {
    design_task task;
    unsigned depth;
    atomic_uint *visits;
} node;

static void visit(const design_cx *cx, void *arg)
{
    const node *n = arg;
    atomic_fetch_add(n->visits, 1);
    if (n->depth == 0) {
        return;
    }
    node children[CHILDREN];
    for (size_t i = 0; i < CHILDREN; i++) {
        children[i] = (node){ .task = { .fn = visit, .arg = &children[i] },
                              .depth = n->depth - 1,
                              .visits = n->visits };
    }
    cx->on->all(cx, &children[0].task, sizeof(children[0]), CHILDREN);
}

static void count(const design_cx *cx, void *arg)
{
    (void)cx;
    atomic_fetch_add((atomic_uint *)arg, 1);
}

static void check_round(const design *d, void *pool)
{
    static design_task posts[POSTS];
    atomic_uint visits = 0;
    atomic_uint posted = 0;
    fib_task f = { .task = { .fn = fib, .arg = &f }, .n = 14 };
    node root = { .task = { .fn = visit, .arg = &root }, .depth = DEPTH, .visits = &visits };
    d->life->run(pool, &f.task);
    assert_int_equal(f.result, 377);
    d->life->run(pool, &root.task);
    assert_int_equal(atomic_load(&visits), NODES);
    for (size_t i = 0; i < POSTS; i++) {
        posts[i] = (design_task){ .fn = count, .arg = &posted };
        d->life->post(pool, &posts[i]);
    }
    d->life->drain(pool);
    assert_int_equal(atomic_load(&posted), POSTS);
}

static void designs__forks_and_posts__each_task_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_CASES(designs); i++) {
        for (size_t t = 0; t < TEST_CASES(thread_counts); t++) {
            void *pool = NULL;
            assert_int_equal(designs[i]->life->start(designs[i], thread_counts[t], &pool), 0);
            for (size_t round = 0; round < test_count(8, 2); round++) {
                check_round(designs[i], pool);
            }
            designs[i]->life->stop(pool);
        }
    }
}

static void designs__started_and_stopped__nothing_is_left(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_CASES(designs); i++) {
        for (size_t round = 0; round < test_count(200, 20); round++) {
            void *pool = NULL;
            atomic_uint ran = 0;
            design_task one = { .fn = count, .arg = &ran };
            assert_int_equal(designs[i]->life->start(designs[i], 3, &pool), 0);
            if (round % 2 == 0) {
                designs[i]->life->post(pool, &one); /* stop waits for it */
            }
            designs[i]->life->stop(pool);
            assert_int_equal(atomic_load(&ran), round % 2 == 0);
        }
    }
}

static void designs_that_steal__two_threads__steals(void **state)
{
    static const design *const thieves[] = { &design_locked_deques, &design_stealing };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(thieves); i++) {
        void *pool = NULL;
        assert_int_equal(thieves[i]->life->start(thieves[i], 2, &pool), 0);
        while (thieves[i]->life->steals(pool) == 0) {
            check_round(thieves[i], pool);
        }
        thieves[i]->life->stop(pool);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(designs__forks_and_posts__each_task_once),
        cmocka_unit_test(designs__started_and_stopped__nothing_is_left),
        cmocka_unit_test(designs_that_steal__two_threads__steals),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
