/* SPDX-License-Identifier: MIT */
/* Everything that libc and the kernel can refuse, refused at each of its calls: for each kind of
 * call (wrap.h) the n-th one of a pool's life fails, once or from then on, n growing until a life
 * has fewer calls. Creation gives the status of that kind or a smaller pool; what is asked of the
 * pool works or gives a documented status; nothing is left behind; and once the fault is over, a
 * pool that lives on runs a thousand tasks once each. Built on both ways of parking. */
#include "support/pool.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault/wrap.h"
#include "support/alloc.h"
#include "support/child.h"
#include "support/proc.h"

enum { WORKERS = 3, POSTS = 100, OWN_POSTS = 700, CHILDREN = 3000, DEPTH = 600, INDICES = 4000 };
enum { THOUSAND = 1000, BIG_BYTES = 200, ONE_BY_ONE = 24, STEP = 13, MOST_WAITS = 10 };

/* What creation answers when it is hit; 0, FILCH_OK: the pool does without. */
static const filch_status status_of[FAULT_KINDS] = {
    [FAULT_MEMORY] = FILCH_E_NOMEM,     [FAULT_THREAD] = FILCH_E_THREAD,
    [FAULT_ATTRIBUTE] = FILCH_E_THREAD, [FAULT_SIGNALS] = FILCH_E_THREAD,
    [FAULT_MUTEX] = FILCH_E_NOMEM,      [FAULT_CONDITION] = FILCH_E_NOMEM,
    [FAULT_FUTEX_ASK] = FILCH_E_SYSTEM, [FAULT_ATFORK] = FILCH_E_NOMEM,
};

static unsigned injected[FAULT_KINDS];
static unsigned not_created[FAULT_KINDS];
static atomic_uint done; /* units of work that have ended */

static void count_run(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
    atomic_fetch_add(&done, 1);
}

static void nop(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
}

static void count_end(void *data, filch_end how)
{
    (void)data;
    TEST_CHECK(how == FILCH_RAN || how == FILCH_CANCELLED);
    atomic_fetch_add(&done, 1);
}

/* What is asked of a pool; each returns the units of work that must have ended once it is quiet.
 * NOMEM is a documented answer of whatever needs a parker or a block. */

static bool accepted(filch_status status)
{
    TEST_CHECK(status == FILCH_OK || status == FILCH_E_NOMEM);
    return status == FILCH_OK;
}

static uintptr_t fork_tree(filch_cx *cx, uintptr_t n)
{
    if (n < 2) {
        atomic_fetch_add(&done, 1);
        return n;
    }
    filch_pair pair = filch_join2_word(cx, fork_tree, n - 1, fork_tree, n - 2);
    return pair.first + pair.second;
}

static unsigned ask_fork_tree(filch_pool *pool)
{
    uintptr_t value = 0;
    if (!accepted(filch_run_word(pool, fork_tree, 12, &value))) {
        return 0;
    }
    assert_int_equal(value, 144);
    return 233;
}

static unsigned ask_posts(filch_pool *pool)
{
    unsigned char data[BIG_BYTES] = { 0 };
    unsigned units = 0;
    for (unsigned i = 0; i < POSTS; i++) {
        size_t bytes = (i % 7 == 0) ? BIG_BYTES : 8;
        filch_status status = filch_post(pool, count_run, data, bytes, NULL);
        TEST_CHECK(status == FILCH_OK || bytes == BIG_BYTES);
        units += accepted(status) ? 1 : 0;
    }
    return units;
}

static unsigned ask_submits(filch_pool *pool)
{
    static filch_task tasks[POSTS];
    for (unsigned i = 0; i < POSTS; i++) {
        tasks[i] = (filch_task)FILCH_TASK_INIT(count_run, NULL);
        assert_int_equal(filch_submit(pool, &tasks[i], NULL), FILCH_OK);
    }
    (void)accepted(filch_pool_wait_quiet(pool, FILCH_FOREVER));
    test_await(&done, POSTS);
    return POSTS;
}

/* A token, a group, posts to it that find it full, and waits: what cannot be had has a status. */
static unsigned ask_groups(filch_pool *pool)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    unsigned units = 0;
    if (!accepted(filch_token_create(NULL, NULL, &options.stop))) {
        options.stop = NULL;
    }
    if (!accepted(filch_group_create(pool, NULL, &options.group))) {
        options.group = NULL;
    }
    for (unsigned i = 0; i < POSTS; i++) {
        units += accepted(filch_post(pool, count_run, NULL, 0, &options)) ? 1 : 0;
    }
    if (options.group != NULL) {
        (void)accepted(filch_group_wait(options.group, FILCH_FOREVER, options.stop, NULL));
    }
    test_await(&done, units);
    while (filch_group_destroy(options.group) == FILCH_E_BUSY) {}
    assert_int_equal(filch_token_destroy(options.stop), FILCH_OK);
    return units;
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
    TEST_CHECK(status == FILCH_OK && value == NULL);
    return count_async(cx, data, result);
}

/* A promise, its continuation, tasks with results, and a wait for them all. */
static unsigned ask_futures(filch_pool *pool)
{
    filch_promise *promise = NULL;
    filch_future *futures[POSTS + 2];
    filch_future *all = NULL;
    unsigned units = 0;
    size_t count = 0;
    if (accepted(filch_promise_create(0, NULL, &promise, &futures[0]))) {
        count++;
        const bool more = accepted(
            filch_future_then(futures[0], pool, count_then, NULL, 0, 0, NULL, &futures[1]));
        count += more ? 1 : 0;
        units += more ? 1 : 0;
    }
    for (unsigned i = 0; i < POSTS; i++) {
        if (accepted(filch_async(pool, count_async, NULL, 0, 8, NULL, &futures[count]))) {
            count++;
            units++;
        }
    }
    const bool together = accepted(filch_when_all(futures, count, NULL, &all));
    TEST_CHECK(promise == NULL || filch_promise_set(promise, NULL, 0) == FILCH_OK);
    TEST_CHECK(filch_promise_drop(promise) == FILCH_OK);
    if (together) {
        (void)accepted(filch_future_wait(all, FILCH_FOREVER, NULL, NULL, 0));
    }
    test_await(&done, units);
    for (size_t i = 0; i < count; i++) {
        filch_future_release(futures[i]);
    }
    filch_future_release(all);
    return units;
}

static void count_range(filch_cx *cx, void *ctx, filch_range range)
{
    (void)cx;
    (void)ctx;
    atomic_fetch_add(&done, (unsigned)(range.hi - range.lo));
}

static void loop_inside(filch_cx *cx, void *arg)
{
    (void)arg;
    TEST_CHECK(filch_for(cx, INDICES, count_range, NULL, NULL) == FILCH_OK);
}

static unsigned ask_loops(filch_pool *pool)
{
    unsigned units = accepted(filch_run(pool, loop_inside, NULL)) ? INDICES : 0;
    units += accepted(filch_for_on(pool, INDICES, count_range, NULL, NULL)) ? INDICES : 0;
    return units;
}

static void spawn_inside(filch_cx *cx, void *arg)
{
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    for (unsigned i = 0; i < CHILDREN; i++) {
        filch_spawn(cx, &scope, count_run, arg);
    }
    filch_scope_end(cx, &scope);
    TEST_CHECK(atomic_load(&done) == CHILDREN);
}

static unsigned ask_scope(filch_pool *pool)
{
    return accepted(filch_run(pool, spawn_inside, NULL)) ? CHILDREN : 0;
}

static uintptr_t fork_deep(filch_cx *cx, uintptr_t depth)
{
    filch_fork_handle handle;
    atomic_fetch_add(&done, 1);
    if (depth == 0) {
        return 1;
    }
    filch_fork(cx, &handle, fork_deep, 0); /* open while the recursion goes on: the deque grows */
    uintptr_t below = fork_deep(cx, depth - 1);
    return below + filch_join(cx, &handle);
}

static unsigned ask_growth(filch_pool *pool)
{
    return accepted(filch_run_word(pool, fork_deep, DEPTH, NULL)) ? 2 * DEPTH + 1 : 0;
}

static void post_inside(filch_cx *cx, void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < OWN_POSTS; i++) {
        TEST_CHECK(filch_post(filch_cx_pool(cx), count_run, NULL, 0, NULL) == FILCH_OK);
    }
}

static unsigned ask_own_posts(filch_pool *pool)
{
    return accepted(filch_run(pool, post_inside, NULL)) ? OWN_POSTS : 0;
}

static int compare_words(const void *a, const void *b, void *ctx)
{
    const uint32_t left = *(const uint32_t *)a;
    const uint32_t right = *(const uint32_t *)b;
    (void)ctx;
    return (left > right) - (left < right);
}

static void fold_words(filch_cx *cx, void *ctx, filch_range range, void *value)
{
    const uint32_t *words = ctx;
    (void)cx;
    for (size_t i = range.lo; i < range.hi; i++) {
        *(uint64_t *)value += words[i];
    }
}

static void combine_sums(void *ctx, void *left, const void *right)
{
    (void)ctx;
    *(uint64_t *)left += *(const uint64_t *)right;
}

/* Sorting and reducing need scratch: without it nothing has been touched. */
static unsigned ask_scratch(filch_pool *pool)
{
    static uint32_t words[INDICES];
    uint64_t sum = 4711;
    filch_reducer reducer = FILCH_REDUCER_INIT;
    reducer.value_bytes = sizeof(sum);
    reducer.fold = fold_words;
    reducer.combine = combine_sums;
    for (uint32_t i = 0; i < INDICES; i++) {
        words[i] = INDICES - 1 - i;
    }
    const bool sorted =
        accepted(filch_sort_on(pool, words, INDICES, sizeof(words[0]), compare_words, NULL));
    for (uint32_t i = 0; i < INDICES; i++) {
        TEST_CHECK(words[i] == (sorted ? i : INDICES - 1 - i));
    }
    const bool reduced = accepted(filch_reduce_on(pool, INDICES, &reducer, words, &sum, NULL));
    TEST_CHECK(sum == (reduced ? (uint64_t)INDICES * (INDICES - 1) / 2 : 4711));
    return 0;
}

/* Posts, then a shutdown; what is cancelled ends too. */
static unsigned shut_down(filch_pool *pool, filch_shutdown_mode mode)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.end = count_end;
    for (unsigned i = 0; i < POSTS; i++) {
        assert_int_equal(filch_post(pool, nop, NULL, 0, &options), FILCH_OK);
    }
    filch_status status = filch_pool_shutdown(pool, mode, filch_time_after_ms(1), NULL);
    TEST_CHECK(status == FILCH_OK || status == FILCH_E_TIMEOUT || status == FILCH_E_NOMEM);
    status = filch_pool_shutdown(pool, mode, FILCH_FOREVER, NULL);
    TEST_CHECK(status == FILCH_OK || status == FILCH_E_NOMEM);
    return POSTS;
}

static unsigned ask_drain(filch_pool *pool)
{
    return shut_down(pool, FILCH_DRAIN);
}

static unsigned ask_cancel(filch_pool *pool)
{
    return shut_down(pool, FILCH_CANCEL);
}

static void on_worker(void *arg, unsigned worker)
{
    (void)arg;
    TEST_CHECK(worker < WORKERS);
}

typedef struct plan {
    unsigned (*ask)(filch_pool *pool);
    unsigned flags;
    size_t stack_bytes;
    size_t queue_tasks;
    bool own_allocator;
    bool hooks;
    bool closes; /* the pool is shut down by it */
} plan;

static const plan plans[] = {
    { ask_fork_tree, 0, 0, 0, false, false, false },
    { ask_posts, 0, (size_t)256 << 10, 2, false, false, false },
    { ask_groups, 0, 0, 2, true, false, false },
    { ask_futures, 0, 0, 2, true, false, false },
    { ask_submits, FILCH_POOL_STRICT, 0, 0, false, true, false },
    { ask_loops, 0, 0, 0, true, false, false },
    { ask_scope, 0, 0, 0, false, false, false },
    { ask_growth, 0, (size_t)1 << 20, 0, false, false, false },
    { ask_own_posts, FILCH_POOL_FIFO | FILCH_POOL_COMPACT, 0, 0, true, false, false },
    { ask_scratch, 0, 0, 0, false, false, false },
    { ask_drain, 0, 0, 64, false, true, true },
    { ask_cancel, FILCH_POOL_STRICT | FILCH_POOL_FIFO, 0, 64, false, false, true },
};

static filch_pool_config config_of(const plan *p, test_allocator *memory)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = WORKERS;
    config.flags = p->flags;
    config.stack_bytes = p->stack_bytes;
    config.queue_tasks = p->queue_tasks;
    config.on_start = p->hooks ? on_worker : NULL;
    config.on_stop = p->hooks ? on_worker : NULL;
    config.name = p->hooks ? "walk" : NULL;
    config.allocator = p->own_allocator ? &memory->hooks : NULL;
    return config;
}

static void count_once(filch_cx *cx, void *arg)
{
    (void)cx;
    TEST_CHECK(atomic_fetch_add((atomic_uint *)arg, 1) == 0);
}

static void expect_a_thousand(filch_pool *pool)
{
    static atomic_uint once[THOUSAND];
    memset(once, 0, sizeof(once));
    for (unsigned i = 0; i < THOUSAND; i++) {
        assert_int_equal(filch_post(pool, count_once, &once[i], 0, NULL), FILCH_OK);
    }
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    for (unsigned i = 0; i < THOUSAND; i++) {
        assert_int_equal(atomic_load(&once[i]), 1);
    }
}

static void expect_refusal(fault_kind kind, filch_status status, bool hit)
{
    assert_true(hit);
    assert_int_equal(status, status_of[kind]);
    assert_int_not_equal(status, FILCH_OK);
    not_created[kind]++;
}

static void expect_size(const plan *p, const filch_pool *pool)
{
    filch_stats stats = test_pool_stats(pool);
    assert_int_equal(stats.workers_asked, WORKERS);
    assert_true(stats.workers >= 1 && stats.workers <= WORKERS);
    assert_true((p->flags & FILCH_POOL_STRICT) == 0 || stats.workers == WORKERS);
}

/* One life of a pool under a fault; returns how often it was hit. */
static unsigned one_life(const plan *p, fault_kind kind, unsigned nth, bool for_good)
{
    int marker = 0;
    test_allocator memory;
    test_allocator_init(&memory);
    const filch_pool_config config = config_of(p, &memory);
    filch_pool *pool = (filch_pool *)(void *)&marker;
    const long held = fault_held();
    const size_t threads = test_proc_threads(NULL, 0);

    atomic_store(&done, 0);
    fault_arm(kind, nth, for_good);
    fault_creating(true);
    filch_status status = filch_pool_create(&config, &pool);
    fault_creating(false);
    unsigned units = (status == FILCH_OK) ? p->ask(pool) : 0;
    const unsigned hits = fault_disarm();
    if (status == FILCH_OK) {
        expect_size(p, pool);
        if (!p->closes) {
            expect_a_thousand(pool);
        }
        assert_int_equal(filch_pool_destroy(pool), FILCH_OK);
    } else {
        expect_refusal(kind, status, hits != 0);
        assert_ptr_equal(pool, &marker);
    }
    test_assert_clean();
    assert_int_equal(atomic_load(&done), units);
    assert_int_equal(fault_held(), held);
    test_allocator_assert_balanced(&memory);
    assert_true(test_proc_await_threads(threads));
    injected[kind] += hits;
    return hits;
}

/* How often threads wait differs from life to life: the first few are enough. */
static unsigned most(fault_kind kind)
{
    const bool varies =
        kind == FAULT_FUTEX_WAIT || kind == FAULT_FUTEX_DENY || kind == FAULT_COND_WAIT;
    return varies ? MOST_WAITS : 100000;
}

static void walk(const plan *p, fault_kind kind, bool for_good)
{
    const unsigned step = (TEST_UNDER_ASAN || TEST_UNDER_TSAN) ? 5 * STEP : STEP;
    unsigned nth = 1;
    while (one_life(p, kind, nth, for_good) != 0 && nth < most(kind)) {
        nth += nth < ONE_BY_ONE ? 1 : step;
    }
}

static void life__nth_call_of_a_kind_fails__status_or_works(void **state)
{
    (void)state;
    for (int kind = 0; kind < FAULT_KINDS; kind++) {
        for (size_t i = 0; i < TEST_CASES(plans); i++) {
            walk(&plans[i], (fault_kind)kind, false);
            walk(&plans[i], (fault_kind)kind, true);
        }
    }
}

/* The call at load has failed (wrap.c): the first pool asks again. First of all cases. */
static void leave_if_told(void *arg)
{
    TEST_CHILD_CHECK(filch_run(arg, nop, NULL) == FILCH_E_FORKED);
    TEST_CHILD_CHECK(filch_pool_destroy(arg) == FILCH_OK);
}

static void create__no_memory_to_watch_forks__nomem_then_works(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(one_life(&plans[i], FAULT_ATFORK, 1, i != 0), 1);
    }
    assert_int_equal(not_created[FAULT_ATFORK], 3);
    filch_pool *pool = test_pool_make(WORKERS);
    test_assert_child_ok(leave_if_told, pool);
    test_pool_close(pool);
}

/* The default pool lives for good: in a child for each kind. A failure now is not remembered. */
static void default_pool_in_child(void *arg)
{
    const fault_kind kind = *(const fault_kind *)arg;
    filch_pool *pool = NULL;
    unsigned nth = 0;
    unsigned hits = 0;
    do {
        fault_arm(kind, ++nth, false);
        fault_creating(true);
        pool = filch_default_pool();
        fault_creating(false);
        hits = fault_disarm();
        TEST_CHILD_CHECK(pool != NULL || hits != 0);
    } while (pool == NULL);
    TEST_CHILD_CHECK(filch_default_pool() == pool);
    TEST_CHILD_CHECK(filch_run(pool, nop, NULL) == FILCH_OK);
    if (status_of[kind] == FILCH_OK) {
        return; /* the pool does without */
    }
    /* one thread fewer is a smaller pool, or none on a machine with one CPU */
    const bool smaller = status_of[kind] == FILCH_E_THREAD;
    _exit(nth > 1 || (smaller && hits != 0) ? 2 : 0);
}

static void default_pool__nth_call_fails__a_later_call_tries_again(void **state)
{
    unsigned seen = 0;
    (void)state;
    for (int k = 0; k < FAULT_KINDS; k++) {
        fault_kind kind = (fault_kind)k;
        const int status = test_child_run(default_pool_in_child, &kind, NULL, 0);
        assert_true(WIFEXITED(status));
        assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2);
        seen += WEXITSTATUS(status) == 2 ? 1 : 0;
    }
    assert_true(seen >= 5); /* memory, threads, attributes, signals, mutexes, the futex */
}

/* Which kinds there are to hit depends on how threads park. Last of all cases. */
static bool expected(fault_kind kind, const char *backend)
{
    const bool futex = strcmp(backend, "futex") == 0;
    if (kind == FAULT_FUTEX_WAIT || kind == FAULT_FUTEX_DENY) {
        return futex;
    }
    if (kind == FAULT_CONDITION || kind == FAULT_COND_WAIT) {
        return !futex;
    }
    return true;
}

static void walk__afterwards__each_kind_was_hit(void **state)
{
    (void)state;
    filch_pool *pool = test_pool_make(1);
    const char *backend = test_pool_stats(pool).park_backend;
    for (int k = 0; k < FAULT_KINDS; k++) {
        fault_kind kind = (fault_kind)k;
        print_message("%-16s failed %6u times, %5u pools not created\n", fault_name(kind),
                      injected[kind], not_created[kind]);
        assert_true((injected[kind] != 0) == expected(kind, backend));
        assert_true(status_of[kind] == FILCH_OK || not_created[kind] != 0 ||
                    !expected(kind, backend));
        assert_true(status_of[kind] != FILCH_OK || not_created[kind] == 0);
    }
    test_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(create__no_memory_to_watch_forks__nomem_then_works),
        cmocka_unit_test(life__nth_call_of_a_kind_fails__status_or_works),
        cmocka_unit_test(default_pool__nth_call_fails__a_later_call_tries_again),
        cmocka_unit_test(walk__afterwards__each_kind_was_hit),
    };
    test_begin(110);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
