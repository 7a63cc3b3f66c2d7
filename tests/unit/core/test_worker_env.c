/* SPDX-License-Identifier: MIT */
/* What the threads of a pool are like: names, stacks, signals, cancellation, hooks; and that no
 * call changes errno. */
#include "support/pool.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/alloc.h"
#include "support/proc.h"

enum { MANY = 12, THREADS_MAX = 256 };

typedef struct hooks {
    atomic_uint started;
    atomic_uint stopped;
    atomic_uint starts[MANY];
    atomic_uint stops[MANY];
    atomic_uint tasks[MANY];
} hooks;

static void on_start(void *arg, unsigned worker)
{
    hooks *h = arg;
    TEST_CHECK(worker < MANY);
    TEST_CHECK(atomic_fetch_add(&h->starts[worker], 1) == 0);
    TEST_CHECK(atomic_load(&h->tasks[worker]) == 0);
    atomic_fetch_add(&h->started, 1);
}

static void on_stop(void *arg, unsigned worker)
{
    hooks *h = arg;
    TEST_CHECK(atomic_load(&h->starts[worker]) == 1);
    TEST_CHECK(atomic_fetch_add(&h->stops[worker], 1) == 0);
    atomic_fetch_add(&h->stopped, 1);
}

static void hooked_task(filch_cx *cx, void *arg)
{
    hooks *h = arg;
    unsigned worker = filch_cx_worker(cx);
    TEST_CHECK(atomic_load(&h->starts[worker]) == 1);
    TEST_CHECK(atomic_load(&h->stops[worker]) == 0);
    atomic_fetch_add(&h->tasks[worker], 1);
}

static filch_pool_config config_with_hooks(hooks *h, unsigned workers)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = workers;
    config.on_start = on_start;
    config.on_stop = on_stop;
    config.hook_arg = h;
    return config;
}

static void hooks__around_all_tasks__once_on_each_worker(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= MANY; workers++) {
        static hooks h;
        memset(&h, 0, sizeof(h));
        filch_pool_config config = config_with_hooks(&h, workers);
        filch_pool *pool = test_pool_make_as(&config);
        for (int i = 0; i < 1000; i++) {
            assert_int_equal(filch_post(pool, hooked_task, &h, 0, NULL), FILCH_OK);
        }
        test_pool_close(pool);
        assert_int_equal(atomic_load(&h.started), workers);
        assert_int_equal(atomic_load(&h.stopped), workers);
        unsigned tasks = 0;
        for (unsigned w = 0; w < MANY; w++) {
            assert_int_equal(atomic_load(&h.stops[w]), w < workers ? 1 : 0);
            tasks += atomic_load(&h.tasks[w]);
        }
        assert_int_equal(tasks, 1000);
    }
}

/* The name of the calling thread, from the kernel. */
static size_t find_names(const char *prefix, char names[][TEST_PROC_NAME_BYTES], size_t max)
{
    static test_proc_thread threads[THREADS_MAX];
    size_t count = test_proc_threads(threads, THREADS_MAX);
    size_t found = 0;
    for (size_t i = 0; i < count && i < THREADS_MAX; i++) {
        if (strncmp(threads[i].name, prefix, strlen(prefix)) == 0 && found < max) {
            memcpy(names[found++], threads[i].name, TEST_PROC_NAME_BYTES);
        }
    }
    return found;
}

static void expect_names(const char *name, const char *seen_prefix)
{
    static hooks h;
    char names[MANY + 1][TEST_PROC_NAME_BYTES];
    unsigned seen[MANY] = { 0 };
    memset(&h, 0, sizeof(h));
    filch_pool_config config = config_with_hooks(&h, MANY);
    config.name = name;
    filch_pool *pool = test_pool_make_as(&config);
    test_await(&h.started, MANY);
    assert_int_equal(find_names(seen_prefix, names, MANY + 1), MANY);
    for (unsigned i = 0; i < MANY; i++) {
        char ending[16];
        const char *dash = strrchr(names[i], '-');
        assert_true(strlen(names[i]) <= 15);
        assert_non_null(dash);
        unsigned long number = strtoul(dash + 1, NULL, 10);
        assert_true(number < MANY);
        snprintf(ending, sizeof(ending), "-%lu", number);
        assert_string_equal(dash, ending);
        seen[number]++;
    }
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(seen[i], 1);
    }
    test_pool_close(pool);
}

static void name__too_long_for_the_kernel__cut_before_the_number(void **state)
{
    (void)state;
    expect_names("averylongpoolname", "averylongpoo");
}

static void name__short_and_default__whole(void **state)
{
    (void)state;
    expect_names("ab", "ab-");
    expect_names(NULL, "filch-");
    expect_names("", "-");
}

/* Stacks. */
typedef struct stack_case {
    size_t asked;
    size_t seen;
} stack_case;

static void measure_stack(filch_cx *cx, void *arg)
{
    stack_case *c = arg;
    pthread_attr_t attributes;
    void *low = NULL;
    (void)cx;
    TEST_CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
    TEST_CHECK(pthread_attr_getstack(&attributes, &low, &c->seen) == 0);
    TEST_CHECK((char *)(void *)&c > (char *)low || TEST_UNDER_ASAN);
    pthread_attr_destroy(&attributes);
}

static void stack__size_asked_for__size_a_task_has(void **state)
{
    static const size_t sizes[] = {
        0, 65536, (size_t)256 << 10, (size_t)1 << 20, (size_t)3 << 20, (size_t)64 << 20
    };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(sizes); i++) {
        stack_case c = { sizes[i], 0 };
        filch_pool_config config = FILCH_POOL_CONFIG_INIT;
        config.workers = 1;
        config.stack_bytes = sizes[i];
        filch_pool *pool = test_pool_make_as(&config);
        size_t asked = (sizes[i] != 0) ? sizes[i] : (size_t)8 << 20;
        test_pool_run(pool, measure_stack, &c);
        assert_true(c.seen >= asked);
        assert_true(c.seen <= 4 * asked); /* libc reuses stacks of up to that size */
        test_pool_close(pool);
    }
}

static void use_half_a_mebibyte(filch_cx *cx, void *arg)
{
    volatile unsigned char big[512 << 10];
    uint64_t sum = 0;
    (void)cx;
    for (size_t i = 0; i < sizeof(big); i += 64) {
        big[i] = (unsigned char)i;
    }
    for (size_t i = 0; i < sizeof(big); i += 64) {
        sum += big[i];
    }
    *(uint64_t *)arg = sum;
}

static void stack__default__holds_half_a_mebibyte_of_locals(void **state)
{
    filch_pool *pool = test_pool_make(2);
    uint64_t sum = 0;
    (void)state;
    test_pool_run(pool, use_half_a_mebibyte, &sum);
    assert_int_equal(sum, 8192 / 4 * (0 + 64 + 128 + 192));
    test_pool_close(pool);
}

/* Signals and cancellation. */

/* All that a thread can block: under an emulator some real-time signals are not there. */
static sigset_t fullest_mask(void)
{
    sigset_t all;
    sigset_t old;
    sigset_t fullest;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_sigmask(SIG_SETMASK, &old, &fullest);
    return fullest;
}

static void look_at_signals(filch_cx *cx, void *arg)
{
    static const int blocked[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,  SIGUSR1, SIGUSR2, SIGALRM,
                                   SIGCHLD, SIGPIPE, SIGPROF, SIGWINCH, SIGTSTP, SIGCONT, SIGIO };
    static const int open[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL };
    sigset_t mask;
    int old_state = PTHREAD_CANCEL_ENABLE;
    (void)cx;
    (void)arg;
    TEST_CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0);
    const sigset_t fullest = fullest_mask();
    for (size_t i = 0; i < TEST_CASES(blocked); i++) {
        TEST_CHECK(sigismember(&mask, blocked[i]) == 1);
    }
    for (size_t i = 0; i < TEST_CASES(open); i++) {
        TEST_CHECK(sigismember(&mask, open[i]) == 0);
    }
    for (int signal_number = SIGRTMIN; signal_number <= SIGRTMAX; signal_number++) {
        TEST_CHECK(sigismember(&mask, signal_number) == sigismember(&fullest, signal_number));
    }
    TEST_CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old_state) == 0);
    TEST_CHECK(old_state == PTHREAD_CANCEL_DISABLE);
}

static void worker__signals_and_cancellation__off(void **state)
{
    sigset_t before;
    sigset_t after;
    (void)state;
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    filch_pool *pool = test_pool_make(4);
    for (int i = 0; i < 20; i++) {
        test_pool_run(pool, look_at_signals, NULL);
    }
    test_pool_close(pool);
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    for (int signal_number = 1; signal_number < SIGRTMIN; signal_number++) {
        assert_int_equal(sigismember(&before, signal_number), sigismember(&after, signal_number));
    }
}

static pthread_t main_thread;
static atomic_uint signals_on_main;
static atomic_uint signals_elsewhere;

static void count_signal(int signal_number)
{
    (void)signal_number;
    if (pthread_equal(pthread_self(), main_thread)) {
        atomic_fetch_add(&signals_on_main, 1);
    } else {
        atomic_fetch_add(&signals_elsewhere, 1);
    }
}

static void count_task(filch_cx *cx, void *arg)
{
    (void)cx;
    atomic_fetch_add((atomic_uint *)arg, 1);
}

static void worker__storm_of_signals__handled_by_the_users_thread(void **state)
{
    struct sigaction action;
    struct sigaction old;
    unsigned storm = (unsigned)test_count(2000, 300);
    atomic_uint runs = 0;
    filch_pool *pool = test_pool_make(4);
    (void)state;
    main_thread = pthread_self();
    memset(&action, 0, sizeof(action));
    action.sa_handler = count_signal;
    sigaction(SIGUSR1, &action, &old);
    for (unsigned i = 0; i < storm; i++) {
        assert_int_equal(filch_post(pool, count_task, &runs, 0, NULL), FILCH_OK);
        kill(getpid(), SIGUSR1);
        if (i % 16 == 0) {
            assert_int_equal(filch_run(pool, count_task, &runs), FILCH_OK);
        }
    }
    test_await(&signals_on_main, 1);
    test_pool_close(pool);
    sigaction(SIGUSR1, &old, NULL);
    assert_int_equal(atomic_load(&signals_elsewhere), 0);
    assert_int_equal(atomic_load(&runs), storm + (storm + 15) / 16);
}

/* errno. */
#define KEEPS_ERRNO(call)                                                                          \
    do {                                                                                           \
        errno = 4711;                                                                              \
        (void)(call);                                                                              \
        TEST_CHECK(errno == 4711);                                                                 \
    } while (0)

static void one_range(filch_cx *cx, void *ctx, filch_range range)
{
    (void)cx;
    (void)ctx;
    (void)range;
}

static void calls_in_a_task(filch_cx *cx, void *arg)
{
    filch_pool *pool = filch_cx_pool(cx);
    unsigned char big[500] = { 0 };
    (void)arg;
    KEEPS_ERRNO(filch_for(cx, 100000, one_range, NULL, NULL));
    KEEPS_ERRNO(filch_post(pool, look_at_signals, big, sizeof(big), NULL));
    KEEPS_ERRNO(filch_pool_destroy(pool));
    KEEPS_ERRNO(filch_here());
    filch_scope scope;
    KEEPS_ERRNO((filch_scope_begin(cx, &scope), 0));
    for (int i = 0; i < 2000; i++) {
        KEEPS_ERRNO((filch_spawn(cx, &scope, look_at_signals, NULL), 0));
    }
    KEEPS_ERRNO((filch_scope_end(cx, &scope), 0));
}

static void calls__that_work_and_that_fail__keep_errno(void **state)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_pool *pool = NULL;
    filch_deque *deque = NULL;
    filch_item item = { 1, 2 };
    unsigned char big[500] = { 0 };
    (void)state;
    config.workers = 3;
    KEEPS_ERRNO(filch_pool_create(&config, &pool));
    assert_non_null(pool);
    KEEPS_ERRNO(filch_run(pool, calls_in_a_task, NULL));
    KEEPS_ERRNO(filch_run(pool, NULL, NULL));
    KEEPS_ERRNO(filch_post(pool, look_at_signals, big, sizeof(big), NULL));
    KEEPS_ERRNO(filch_for_on(pool, 100000, one_range, NULL, NULL));
    KEEPS_ERRNO(filch_pool_wait_quiet(pool, filch_time_after_ms(1)));
    KEEPS_ERRNO(filch_pool_wait_quiet(pool, FILCH_FOREVER));
    KEEPS_ERRNO(filch_cpus_allowed());
    KEEPS_ERRNO(filch_time_now());
    KEEPS_ERRNO(filch_default_pool());
    KEEPS_ERRNO(filch_pool_shutdown(pool, FILCH_CANCEL, FILCH_FOREVER, NULL));
    KEEPS_ERRNO(filch_post(pool, look_at_signals, big, sizeof(big), NULL));
    KEEPS_ERRNO(filch_pool_destroy(pool));
    KEEPS_ERRNO(filch_deque_create(1, 1 << 16, NULL, &deque));
    for (int i = 0; i < 1000; i++) {
        KEEPS_ERRNO(filch_deque_push(deque, item));
    }
    KEEPS_ERRNO((filch_deque_destroy(deque), 0));
    test_assert_clean();
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(hooks__around_all_tasks__once_on_each_worker),
        cmocka_unit_test(name__too_long_for_the_kernel__cut_before_the_number),
        cmocka_unit_test(name__short_and_default__whole),
        cmocka_unit_test(stack__size_asked_for__size_a_task_has),
        cmocka_unit_test(stack__default__holds_half_a_mebibyte_of_locals),
        cmocka_unit_test(worker__signals_and_cancellation__off),
        cmocka_unit_test(worker__storm_of_signals__handled_by_the_users_thread),
        cmocka_unit_test(calls__that_work_and_that_fail__keep_errno),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
