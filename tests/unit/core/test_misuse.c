/* SPDX-License-Identifier: MIT */
/* Misuse that a debug build catches: it ends with one sentence that names the rule. Each case runs
 * in a child with a pool of its own. Needs the library with its checks on. */
#include "support/pool.h"

#include <stdlib.h>

#include "support/child.h"

static void nop(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
}

static uintptr_t nop_word(filch_cx *cx, uintptr_t word)
{
    (void)cx;
    return word;
}

static void join2_without_function(filch_cx *cx, void *arg)
{
    filch_join2(cx, nop, arg, NULL, arg);
}

static void join2_word_without_function(filch_cx *cx, void *arg)
{
    (void)arg;
    (void)filch_join2_word(cx, NULL, 1, nop_word, 2);
}

static void join2_without_context(filch_cx *cx, void *arg)
{
    (void)cx;
    filch_join2(NULL, nop, arg, nop, arg);
}

static void fork_without_function(filch_cx *cx, void *arg)
{
    filch_fork_handle handle;
    (void)arg;
    filch_fork(cx, &handle, NULL, 1);
}

static void fork_without_handle(filch_cx *cx, void *arg)
{
    (void)arg;
    filch_fork(cx, NULL, nop_word, 1);
}

static void join_out_of_order(filch_cx *cx, void *arg)
{
    filch_fork_handle first;
    filch_fork_handle second;
    (void)arg;
    filch_fork(cx, &first, nop_word, 1);
    filch_fork(cx, &second, nop_word, 2);
    (void)filch_join(cx, &first);
    (void)filch_join(cx, &second);
}

static void join_twice(filch_cx *cx, void *arg)
{
    filch_fork_handle handle;
    (void)arg;
    filch_fork(cx, &handle, nop_word, 1);
    (void)filch_join(cx, &handle);
    (void)filch_join(cx, &handle);
}

static void spawn_without_function(filch_cx *cx, void *arg)
{
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    filch_spawn(cx, &scope, NULL, arg);
    filch_scope_end(cx, &scope);
}

static void fork_left_open_in_a_scope(filch_cx *cx, void *arg)
{
    filch_fork_handle handle;
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    filch_spawn(cx, &scope, nop, arg);
    filch_fork(cx, &handle, nop_word, 1);
    filch_scope_end(cx, &scope);
}

static void scopes_crossed(filch_cx *cx, void *arg)
{
    filch_scope outer;
    filch_scope inner;
    filch_scope_begin(cx, &outer);
    filch_spawn(cx, &outer, nop, arg);
    filch_scope_begin(cx, &inner);
    filch_spawn(cx, &inner, nop, arg);
    filch_scope_end(cx, &outer);
    filch_scope_end(cx, &inner);
}

/* A child that adds to its parent's scope from another worker. */
typedef struct foreign_spawn {
    filch_scope scope;
    atomic_uint begun;
    unsigned owner;
} foreign_spawn;

static void spawn_into_parents_scope(filch_cx *cx, void *arg)
{
    foreign_spawn *f = arg;
    atomic_store(&f->begun, 1);
    if (filch_cx_worker(cx) != f->owner) {
        filch_spawn(cx, &f->scope, nop, NULL);
    }
}

static void scope_shared_with_a_child(filch_cx *cx, void *arg)
{
    foreign_spawn f = { .owner = filch_cx_worker(cx) };
    (void)arg;
    filch_scope_begin(cx, &f.scope);
    filch_spawn(cx, &f.scope, spawn_into_parents_scope, &f);
    test_await(&f.begun, 1);
    filch_scope_end(cx, &f.scope);
}

/* A handle that was never forked, and one of another lane. */
static void join_never_forked(filch_cx *cx, void *arg)
{
    filch_fork_handle handle = { { 0 } };
    (void)arg;
    (void)filch_join(cx, &handle);
}

typedef struct foreign_join {
    filch_fork_handle theirs;
    atomic_uint forked;
    atomic_uint over; /* never */
    unsigned owner;
} foreign_join;

static uintptr_t join_theirs(filch_cx *cx, uintptr_t word)
{
    foreign_join *f = (foreign_join *)word;
    if (filch_cx_worker(cx) != f->owner) {
        test_await(&f->forked, 1);
        (void)filch_join(cx, &f->theirs);
    }
    return 0;
}

static void join_of_another_lane(filch_cx *cx, void *arg)
{
    foreign_join f = { .owner = filch_cx_worker(cx) };
    filch_fork_handle bait;
    (void)arg;
    filch_fork(cx, &bait, join_theirs, (uintptr_t)&f);
    filch_fork(cx, &f.theirs, nop_word, 1);
    atomic_store(&f.forked, 1);
    test_await(&f.over, 1);
}

/* A context in the hands of a thread that it was not given to. */
static void *fork_from_outside(void *arg)
{
    filch_join2(arg, nop, NULL, nop, NULL);
    return NULL;
}

static void context_of_another_thread(filch_cx *cx, void *arg)
{
    pthread_t thread;
    filch_join2(cx, nop, arg, nop, arg); /* the owner is known */
    test_thread_start(&thread, fork_from_outside, cx);
    test_thread_join(thread);
}

static void run_in_child(void *arg)
{
    filch_pool *pool = NULL;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_fn *const *fn = arg;
    config.workers = (*fn == scope_shared_with_a_child || *fn == join_of_another_lane) ? 2 : 1;
    TEST_CHILD_CHECK(filch_pool_create(&config, &pool) == FILCH_OK);
    TEST_CHILD_CHECK(filch_run(pool, *fn, NULL) == FILCH_OK);
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
}

static void misuse__of_forks_and_scopes__aborts_with_the_rule(void **state)
{
    static const struct {
        filch_fn *fn;
        const char *sentence;
    } rows[] = {
        { join2_without_function, "two functions" },
        { join2_word_without_function, "two functions" },
        { join2_without_context, "a context" },
        { fork_without_function, "a function" },
        { fork_without_handle, "a handle" },
        { join_out_of_order, "last in, first out" },
        { join_twice, "last in, first out" },
        { join_never_forked, "last in, first out" },
        { join_of_another_lane, "last in, first out" },
        { context_of_another_thread, "owner" },
        { spawn_without_function, "a function" },
        { fork_left_open_in_a_scope, "joined before it ends" },
        { scopes_crossed, "last in, first out" },
        { scope_shared_with_a_child, "only the stack that began a scope" },
    };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(rows); i++) {
        filch_fn *fn = rows[i].fn;
        test_assert_child_aborts(run_in_child, &fn, rows[i].sentence);
    }
}

/* A pool that was destroyed; its memory is kept, so that only the rule is broken. */
static void *keep_alloc(void *ctx, size_t bytes, size_t align)
{
    (void)ctx;
    return aligned_alloc(align, (bytes + align - 1) / align * align);
}

static void keep_block(void *ctx, void *block, size_t bytes)
{
    (void)ctx;
    (void)block;
    (void)bytes;
}

static void use_dead(filch_pool *pool, int call)
{
    static filch_task task = FILCH_TASK_INIT(nop, NULL);
    filch_stats stats = FILCH_STATS_INIT;
    switch (call) {
    case 0:
        (void)filch_post(pool, nop, NULL, 0, NULL);
        break;
    case 1:
        (void)filch_submit(pool, &task, NULL);
        break;
    case 2:
        (void)filch_run(pool, nop, NULL);
        break;
    case 3:
        (void)filch_pool_wait_quiet(pool, FILCH_NOW);
        break;
    case 4:
        (void)filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_NOW, NULL);
        break;
    case 5:
        (void)filch_stats_read(pool, &stats);
        break;
    default:
        (void)filch_pool_destroy(pool);
        break;
    }
}

enum { CALLS = 7 };

static void use_after_destroy(void *arg)
{
    const filch_allocator keep = { keep_alloc, keep_block, NULL };
    filch_pool *pool = NULL;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = 1;
    config.allocator = &keep;
    TEST_CHILD_CHECK(filch_pool_create(&config, &pool) == FILCH_OK);
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
    use_dead(pool, *(int *)arg);
}

static void misuse__of_a_pool_after_destroy__aborts_with_the_rule(void **state)
{
    (void)state;
    for (int call = 0; call < CALLS; call++) {
        test_assert_child_aborts(use_after_destroy, &call, "not used after it was destroyed");
    }
}

static void proper_use(filch_cx *cx, void *arg)
{
    filch_fork_handle handle;
    filch_scope scope;
    filch_fork(cx, &handle, nop_word, 1);
    filch_scope_begin(cx, &scope);
    filch_spawn(cx, &scope, nop, arg);
    filch_join2(cx, nop, arg, nop, arg);
    filch_scope_end(cx, &scope);
    TEST_CHILD_CHECK(filch_join(cx, &handle) == 1);
}

static void proper_use__of_the_same_calls__passes(void **state)
{
    filch_fn *fn = proper_use;
    (void)state;
    test_assert_child_ok(run_in_child, &fn);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(misuse__of_forks_and_scopes__aborts_with_the_rule),
        cmocka_unit_test(misuse__of_a_pool_after_destroy__aborts_with_the_rule),
        cmocka_unit_test(proper_use__of_the_same_calls__passes),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
