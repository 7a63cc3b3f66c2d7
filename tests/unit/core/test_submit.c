/* SPDX-License-Identifier: MIT */
/* Detached tasks: what they get, when their memory is theirs again, their end and their label. */
#include "support/pool.h"

#include <stdlib.h>
#include <string.h>

#include "support/alloc.h"

static const unsigned worker_counts[] = { 1, 4 };

/* A posted block of each size: the task gets an aligned copy of its own. */
enum { SIZE_MAX_TESTED = 1000 };

typedef struct block_head {
    atomic_uint *runs;
    size_t bytes;
    const void *original;
} block_head;

static unsigned char pattern(size_t bytes, size_t i)
{
    return (unsigned char)test_mix(bytes * 1000 + i);
}

static void check_block(filch_cx *cx, void *data)
{
    block_head head;
    const unsigned char *at = data;
    (void)cx;
    memcpy(&head, data, sizeof(head));
    TEST_CHECK((uintptr_t)data % _Alignof(max_align_t) == 0);
    TEST_CHECK(data != head.original);
    for (size_t i = sizeof(head); i < head.bytes; i++) {
        TEST_CHECK(at[i] == pattern(head.bytes, i));
    }
    memset(data, 0xEE, head.bytes); /* the copy is the task's own */
    atomic_fetch_add(head.runs, 1);
}

static void check_end(void *data, filch_end how)
{
    const unsigned char *at = data;
    TEST_CHECK(how == FILCH_RAN);
    TEST_CHECK(at[0] == 0xEE); /* still valid, as the task left it */
}

static void post_blocks(filch_pool *pool, atomic_uint *runs)
{
    unsigned char memory[SIZE_MAX_TESTED];
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.end = check_end;
    for (size_t bytes = sizeof(block_head); bytes <= SIZE_MAX_TESTED; bytes++) {
        block_head head = { runs, bytes, memory };
        memcpy(memory, &head, sizeof(head));
        for (size_t i = sizeof(head); i < bytes; i++) {
            memory[i] = pattern(bytes, i);
        }
        TEST_CHECK(filch_post(pool, check_block, memory, bytes, &options) == FILCH_OK);
        memset(memory, 0x11, sizeof(memory)); /* the caller's block is free again at once */
    }
}

static void post_blocks_from_task(filch_cx *cx, void *arg)
{
    post_blocks(filch_cx_pool(cx), arg);
}

static void post__block_of_each_size__task_gets_an_aligned_copy(void **state)
{
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        test_allocator memory;
        atomic_uint runs = 0;
        filch_pool_config config = FILCH_POOL_CONFIG_INIT;
        test_allocator_init(&memory);
        config.workers = worker_counts[w];
        config.allocator = &memory.hooks;
        filch_pool *pool = test_pool_make_as(&config);
        post_blocks(pool, &runs);
        test_pool_run(pool, post_blocks_from_task, &runs);
        test_pool_close(pool);
        assert_int_equal(atomic_load(&runs), 2 * (SIZE_MAX_TESTED - sizeof(block_head) + 1));
        test_allocator_assert_balanced(&memory);
    }
}

/* No bytes: the task gets the very pointer, NULL as well. */
typedef struct pointer_case {
    atomic_uint runs;
    atomic_uint ends;
} pointer_case;

static void got_pointer(filch_cx *cx, void *data)
{
    (void)cx;
    atomic_fetch_add(&((pointer_case *)data)->runs, 1);
}

static void got_pointer_end(void *data, filch_end how)
{
    pointer_case *c = data;
    TEST_CHECK(how == FILCH_RAN);
    TEST_CHECK(atomic_fetch_add(&c->ends, 1) < atomic_load(&c->runs));
}

static void got_null(filch_cx *cx, void *data)
{
    (void)cx;
    TEST_CHECK(data == NULL);
}

static void got_null_end(void *data, filch_end how)
{
    TEST_CHECK(data == NULL);
    TEST_CHECK(how == FILCH_RAN);
}

static void post__no_bytes__task_gets_the_pointer(void **state)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    filch_submit_options null_options = FILCH_SUBMIT_OPTIONS_INIT;
    pointer_case c = { 0, 0 };
    filch_pool *pool = test_pool_make(1);
    (void)state;
    options.end = got_pointer_end;
    null_options.end = got_null_end;
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(filch_post(pool, got_pointer, &c, 0, &options), FILCH_OK);
        assert_int_equal(filch_post(pool, got_null, NULL, 0, &null_options), FILCH_OK);
    }
    test_pool_close(pool);
    assert_int_equal(atomic_load(&c.runs), 1000);
    assert_int_equal(atomic_load(&c.ends), 1000);
}

/* A submitted node that frees itself, in its function or in its end, or goes in again. */
typedef struct node {
    filch_task task;
    atomic_uint *done;
    filch_pool *pool;
    unsigned again;
} node;

static void free_in_function(filch_cx *cx, void *arg)
{
    node *n = arg;
    atomic_uint *done = n->done;
    (void)cx;
    memset(n, 0xDD, sizeof(*n));
    free(n);
    atomic_fetch_add(done, 1);
}

static void leave_to_end(filch_cx *cx, void *arg)
{
    (void)cx;
    TEST_CHECK(((node *)arg)->again == 0);
}

static void free_in_end(void *data, filch_end how)
{
    node *n = data;
    atomic_uint *done = n->done;
    TEST_CHECK(how == FILCH_RAN);
    memset(n, 0xDD, sizeof(*n));
    free(n);
    atomic_fetch_add(done, 1);
}

static void submit_again(filch_cx *cx, void *arg)
{
    node *n = arg;
    (void)cx;
    if (n->again == 0) {
        atomic_fetch_add(n->done, 1);
        return;
    }
    n->again--;
    TEST_CHECK(filch_submit(n->pool, &n->task, NULL) == FILCH_OK);
}

static node *make_node(filch_pool *pool, filch_fn *fn, atomic_uint *done)
{
    node *n = malloc(sizeof(*n));
    if (n == NULL) {
        abort();
    }
    n->task = (filch_task)FILCH_TASK_INIT(fn, n);
    n->done = done;
    n->pool = pool;
    n->again = 0;
    return n;
}

static void submit_nodes(filch_pool *pool, atomic_uint *done)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.end = free_in_end;
    for (int i = 0; i < 500; i++) {
        node *a = make_node(pool, free_in_function, done);
        node *b = make_node(pool, leave_to_end, done);
        TEST_CHECK(filch_submit(pool, &a->task, NULL) == FILCH_OK);
        TEST_CHECK(filch_submit(pool, &b->task, &options) == FILCH_OK);
    }
}

static void submit_nodes_from_task(filch_cx *cx, void *arg)
{
    submit_nodes(filch_cx_pool(cx), arg);
}

static void submit__node_frees_itself__pool_does_not_touch_it(void **state)
{
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        atomic_uint done = 0;
        filch_pool *pool = test_pool_make(worker_counts[w]);
        submit_nodes(pool, &done);
        test_pool_run(pool, submit_nodes_from_task, &done);
        test_pool_close(pool);
        assert_int_equal(atomic_load(&done), 2000);
    }
}

static void submit__again_from_its_function__runs_each_time(void **state)
{
    (void)state;
    for (size_t w = 0; w < TEST_CASES(worker_counts); w++) {
        atomic_uint done = 0;
        filch_pool *pool = test_pool_make(worker_counts[w]);
        node *n = make_node(pool, submit_again, &done);
        n->again = 1000;
        assert_int_equal(filch_submit(pool, &n->task, NULL), FILCH_OK);
        assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
        assert_int_equal(atomic_load(&done), 1);
        assert_int_equal(n->again, 0);
        assert_int_equal(test_pool_stats(pool).accepted, 1001);
        free(n);
        test_pool_close(pool);
    }
}

/* Labels. */
static const char *const outer_label = "outer";
static const char *const inner_label = "inner";

static void inner_task(filch_cx *cx, void *arg)
{
    (void)arg;
    TEST_CHECK(filch_label(cx) == inner_label);
}

static void unlabelled(filch_cx *cx, void *arg)
{
    (void)arg;
    TEST_CHECK(filch_label(cx) == NULL);
}

static void same_label(filch_cx *cx, void *arg)
{
    (void)arg;
    TEST_CHECK(filch_label(cx) == outer_label);
}

static void outer_task(filch_cx *cx, void *arg)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    filch_pool *pool = filch_cx_pool(cx);
    (void)arg;
    options.label = inner_label;
    TEST_CHECK(filch_label(cx) == outer_label);
    for (int i = 0; i < 10; i++) {
        TEST_CHECK(filch_post(pool, inner_task, NULL, 0, &options) == FILCH_OK);
        TEST_CHECK(filch_post(pool, unlabelled, NULL, 0, NULL) == FILCH_OK);
        TEST_CHECK(filch_label(cx) == outer_label);
    }
    filch_join2(cx, same_label, NULL, same_label, NULL);
    TEST_CHECK(filch_label(cx) == outer_label);
}

static void label__of_each_task__its_own(void **state)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    (void)state;
    options.label = outer_label;
    filch_pool *pool = test_pool_make(1);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(filch_post(pool, outer_task, NULL, 0, &options), FILCH_OK);
        test_pool_run(pool, unlabelled, NULL);
    }
    test_pool_close(pool);
}

/* Deque full and no memory to grow it: the task runs inside the call, with its own label, and is
 * counted. With the stack used up by such calls it is refused instead. */
typedef struct inline_case {
    test_allocator memory;
    filch_pool *pool;
    unsigned runs;
    unsigned accepted;
    unsigned full;
    unsigned nested;
    unsigned deepest;
} inline_case;

static void inline_task(filch_cx *cx, void *data)
{
    inline_case *c = *(inline_case **)data;
    TEST_CHECK(filch_label(cx) == inner_label);
    c->runs++;
}

static void post_without_memory(filch_cx *cx, void *data)
{
    inline_case *c = *(inline_case **)data;
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.label = inner_label;
    test_allocator_fail(&c->memory, 1, true);
    while (c->accepted < 100000 && c->runs < 10) {
        TEST_CHECK(filch_post(c->pool, inline_task, &c, sizeof(c), &options) == FILCH_OK);
        TEST_CHECK(filch_label(cx) == outer_label);
        c->accepted++;
    }
    test_allocator_fail(&c->memory, 0, false);
}

static void make_inline_case(inline_case *c)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    memset(c, 0, sizeof(*c));
    test_allocator_init(&c->memory);
    config.workers = 1;
    config.stack_bytes = (size_t)256 << 10;
    config.allocator = &c->memory.hooks;
    c->pool = test_pool_make_as(&config);
}

static void post__deque_cannot_grow__runs_inside_the_call(void **state)
{
    static inline_case c;
    inline_case *arg = &c;
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    (void)state;
    options.label = outer_label;
    make_inline_case(&c);
    assert_int_equal(filch_post(c.pool, post_without_memory, &arg, sizeof(arg), &options),
                     FILCH_OK);
    assert_int_equal(filch_pool_wait_quiet(c.pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(c.runs, c.accepted);
    filch_stats stats = test_pool_stats(c.pool);
    assert_int_equal(stats.total.tasks_inline, 10);
    assert_int_equal(stats.accepted, c.accepted + 1);
    assert_int_equal(stats.total.tasks_posted, c.accepted);
    test_pool_close(c.pool);
    test_allocator_assert_balanced(&c.memory);
}

static void post_itself(filch_cx *cx, void *data)
{
    inline_case *c = *(inline_case **)data;
    (void)cx;
    c->runs++;
    if (c->full > 0 || c->accepted > 1000000) {
        return;
    }
    c->nested++;
    c->deepest = (c->nested > c->deepest) ? c->nested : c->deepest;
    for (;;) {
        unsigned runs = c->runs;
        filch_status status = filch_post(c->pool, post_itself, &c, sizeof(c), NULL);
        if (status == FILCH_E_FULL) {
            TEST_CHECK(c->runs == runs);
            c->full++;
        } else {
            TEST_CHECK(status == FILCH_OK);
            c->accepted++;
        }
        if (c->full > 0 || c->accepted > 1000000) {
            break;
        }
    }
    c->nested--;
}

static void start_posting_itself(filch_cx *cx, void *data)
{
    inline_case *c = *(inline_case **)data;
    test_allocator_fail(&c->memory, 1, true);
    post_itself(cx, data);
    test_allocator_fail(&c->memory, 0, false);
}

static void post__stack_nearly_used_up__full(void **state)
{
    static inline_case c;
    inline_case *arg = &c;
    (void)state;
    make_inline_case(&c);
    assert_int_equal(filch_post(c.pool, start_posting_itself, &arg, sizeof(arg), NULL), FILCH_OK);
    assert_int_equal(filch_pool_wait_quiet(c.pool, FILCH_FOREVER), FILCH_OK);
    filch_stats stats = test_pool_stats(c.pool);
    assert_int_equal(c.full, 1);
    assert_true(c.deepest > 1);
    assert_int_equal(stats.refused, c.full);
    assert_int_equal(stats.accepted, c.accepted + 1);
    assert_int_equal(c.runs, c.accepted + 1);
    test_pool_close(c.pool);
    test_allocator_assert_balanced(&c.memory);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(post__block_of_each_size__task_gets_an_aligned_copy),
        cmocka_unit_test(post__no_bytes__task_gets_the_pointer),
        cmocka_unit_test(submit__node_frees_itself__pool_does_not_touch_it),
        cmocka_unit_test(submit__again_from_its_function__runs_each_time),
        cmocka_unit_test(label__of_each_task__its_own),
        cmocka_unit_test(post__deque_cannot_grow__runs_inside_the_call),
        cmocka_unit_test(post__stack_nearly_used_up__full),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
