/* SPDX-License-Identifier: MIT */
/* Stacks of workers: running over the end of one meets its guard page, and deep recursion of forks
 * works as far as the stack goes, at a known price a level. */
#include "support/pool.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/child.h"

enum { AT_GUARD = 42, ELSEWHERE = 43, DEPTH = 1000000 };

/* What the header says, with room for other compilers; more where nothing is optimised. */
#if defined(__OPTIMIZE__)
enum { MOST_BYTES_A_LEVEL = 256 };
#else
enum { MOST_BYTES_A_LEVEL = 1000 };
#endif

static char *guard_low;
static char *guard_high;

/* On a stack of its own; only what a handler may do. */
static void fault(int number, siginfo_t *info, void *context)
{
    const char *at = info->si_addr;
    (void)number;
    (void)context;
    _exit(at >= guard_low && at < guard_high ? AT_GUARD : ELSEWHERE);
}

static void find_guard(void)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t bytes = 0;
    size_t guard = 0;
    TEST_CHILD_CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
    TEST_CHILD_CHECK(pthread_attr_getstack(&attributes, &low, &bytes) == 0);
    TEST_CHILD_CHECK(pthread_attr_getguardsize(&attributes, &guard) == 0);
    TEST_CHILD_CHECK(guard >= (size_t)sysconf(_SC_PAGESIZE));
    (void)pthread_attr_destroy(&attributes);
    guard_high = low;
    guard_low = guard_high - guard;
}

static void catch_faults(void)
{
    static char stack[64 << 10];
    const stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    TEST_CHILD_CHECK(sigaltstack(&other, NULL) == 0);
    TEST_CHILD_CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
    TEST_CHILD_CHECK(sigaction(SIGBUS, &action, NULL) == 0);
}

static uintptr_t without_end(filch_cx *cx, uintptr_t depth)
{
    volatile unsigned char used[200];
    used[0] = (unsigned char)depth;
    const filch_pair pair = filch_join2_word(cx, without_end, depth + 1, without_end, depth + 1);
    return pair.first + pair.second + used[0];
}

static void overflow(filch_cx *cx, void *arg)
{
    const bool caught = *(const bool *)arg;
    find_guard();
    if (caught) {
        catch_faults();
    }
    (void)without_end(cx, 0);
}

typedef struct overflow_case {
    size_t stack_bytes;
    bool caught;
} overflow_case;

static void overflow_in_child(void *arg)
{
    overflow_case *c = arg;
    filch_pool *pool = NULL;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = 1;
    config.stack_bytes = c->stack_bytes;
    TEST_CHILD_CHECK(filch_pool_create(&config, &pool) == FILCH_OK);
    (void)filch_run(pool, overflow, &c->caught);
}

static void task__runs_over_its_stack__fault_at_the_guard(void **state)
{
    static const size_t sizes[] = { 0, FILCH_MIN_STACK_BYTES, (size_t)1 << 20, 1234567 };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(sizes); i++) {
        overflow_case c = { sizes[i], true };
        int status = test_child_run(overflow_in_child, &c, NULL, 0);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), AT_GUARD);
        c.caught = false;
        status = test_child_run(overflow_in_child, &c, NULL, 0);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGSEGV);
    }
}

/* Deep recursion: each level holds an open fork. */
typedef struct deep {
    const char *first;
    const char *last;
} deep;

static deep the_deep;

static uintptr_t leaf(filch_cx *cx, uintptr_t word)
{
    (void)cx;
    return word;
}

static uintptr_t nest(filch_cx *cx, uintptr_t depth)
{
    if (depth == 0) {
        the_deep.last = __builtin_frame_address(0);
        return 0;
    }
    const filch_pair pair = filch_join2_word(cx, nest, depth - 1, leaf, 1);
    return pair.first + pair.second;
}

static void start_nest(filch_cx *cx, void *arg)
{
    the_deep.first = __builtin_frame_address(0);
    *(uintptr_t *)arg = nest(cx, DEPTH);
}

static void spawn_nest(filch_cx *cx, void *arg)
{
    uintptr_t *left = arg;
    filch_scope scope;
    if (*left == 0) {
        return;
    }
    (*left)--;
    filch_scope_begin(cx, &scope);
    filch_spawn(cx, &scope, spawn_nest, left);
    filch_scope_end(cx, &scope);
}

static void recursion__a_million_forks_deep__each_once(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 2; workers++) {
        filch_pool_config config = FILCH_POOL_CONFIG_INIT;
        uintptr_t sum = 0;
        config.workers = workers;
        config.stack_bytes = FILCH_MAX_STACK_BYTES;
        filch_pool *pool = test_pool_make_as(&config);
        test_pool_run(pool, start_nest, &sum);
        assert_int_equal(sum, DEPTH);
        const size_t bytes = (size_t)(the_deep.first - the_deep.last) / DEPTH;
        print_message("a nested filch_join2_word takes %zu bytes of stack\n", bytes);
        assert_true(bytes > 0);
        assert_true(bytes <= MOST_BYTES_A_LEVEL);
        test_pool_close(pool);
    }
}

static void recursion__a_million_spawns_deep__each_once(void **state)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    uintptr_t left = DEPTH;
    (void)state;
    config.workers = 1; /* on more, thieves share the depth */
    config.stack_bytes = FILCH_MAX_STACK_BYTES;
    filch_pool *pool = test_pool_make_as(&config);
    test_pool_run(pool, spawn_nest, &left);
    assert_int_equal(left, 0);
    test_pool_close(pool);
}

/* Families within families, on small stacks: a worker that waits for stolen children starts others on
 * top of its stack, but not without end. */
enum { FAMILY = 12, GENERATIONS = 3, SMALL_STACK = 256 << 10, HELP_DEPTH = 32 };

static _Thread_local unsigned depth;
static atomic_uint deepest;
static atomic_uint born;

static void found_family(filch_cx *cx, void *arg)
{
    const uintptr_t generations = (uintptr_t)arg;
    filch_scope scope;
    depth++;
    unsigned most = atomic_load(&deepest);
    while (depth > most && !atomic_compare_exchange_weak(&deepest, &most, depth)) {}
    atomic_fetch_add(&born, 1);
    filch_scope_begin(cx, &scope);
    for (int i = 0; generations > 0 && i < FAMILY; i++) {
        filch_spawn(cx, &scope, found_family, (void *)(generations - 1));
    }
    filch_scope_end(cx, &scope);
    depth--;
}

static void scope__waits_while_others_have_its_children__helps_to_a_bound(void **state)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    const size_t roots = test_count(200, 10);
    (void)state;
    config.workers = 4;
    config.stack_bytes = SMALL_STACK;
    filch_pool *pool = test_pool_make_as(&config);
    for (size_t i = 0; i < roots; i++) {
        assert_int_equal(filch_post(pool, found_family, (void *)(uintptr_t)GENERATIONS, 0, NULL),
                         FILCH_OK);
    }
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    print_message("families at once on one stack: %u\n", atomic_load(&deepest));
    assert_int_equal(atomic_load(&born),
                     roots * (1 + FAMILY + FAMILY * FAMILY + FAMILY * FAMILY * FAMILY));
    assert_true(atomic_load(&deepest) <= (GENERATIONS + 1) * (HELP_DEPTH + 1));
    test_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(task__runs_over_its_stack__fault_at_the_guard),
        cmocka_unit_test(recursion__a_million_forks_deep__each_once),
        cmocka_unit_test(recursion__a_million_spawns_deep__each_once),
        cmocka_unit_test(scope__waits_while_others_have_its_children__helps_to_a_bound),
    };
    if (TEST_UNDER_ASAN || TEST_UNDER_TSAN) {
        fprintf(stderr, "skipped: under a sanitizer frames are larger and faults are its own\n");
        return 77;
    }
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
