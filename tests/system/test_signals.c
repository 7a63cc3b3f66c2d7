/* SPDX-License-Identifier: MIT */
/* Signals and stops: a storm from a fast timer loses nothing and its handler runs on the user's
 * thread only; the process may be stopped at any moment; and while one worker is held up in a task
 * that blocks, thieves take all it has. */
#include "support/pool.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/child.h"

enum { WORKERS = 4, PERIOD_NS = 100000, BATCH = 64, INDICES = 2000, HELD_POSTS = 1000, STOPS = 20 };

static pthread_t main_thread;
static atomic_uint handled;
static atomic_uint handled_elsewhere;

static void on_signal(int number)
{
    (void)number;
    atomic_fetch_add(pthread_equal(pthread_self(), main_thread) ? &handled : &handled_elsewhere, 1);
}

/* One of everything that a foreign thread may wait in. */
static void work_once(filch_pool *pool)
{
    atomic_uint runs = 0;
    uintptr_t value = 0;
    for (unsigned i = 0; i < BATCH; i++) {
        assert_int_equal(filch_post(pool, test_count_task, &runs, 0, NULL), FILCH_OK);
    }
    assert_int_equal(filch_run_word(pool, test_fork_tree, 10, &value), FILCH_OK);
    assert_int_equal(value, 55);
    assert_int_equal(filch_for_on(pool, INDICES, test_count_range, &runs, NULL), FILCH_OK);
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(atomic_load(&runs), BATCH + INDICES);
}

static timer_t start_timer(int number)
{
    struct sigevent event;
    const struct itimerspec period = { .it_interval = { .tv_nsec = PERIOD_NS },
                                       .it_value = { .tv_nsec = PERIOD_NS } };
    timer_t timer;
    memset(&event, 0, sizeof(event));
    event.sigev_notify = SIGEV_SIGNAL; /* to the process: any thread that does not block it */
    event.sigev_signo = number;
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    assert_int_equal(timer_settime(timer, 0, &period, NULL), 0);
    return timer;
}

static void storm__ten_thousand_a_second__nothing_lost(void **state)
{
    const unsigned signals = (unsigned)test_count(3000, 300);
    struct sigaction action;
    struct sigaction before;
    (void)state;
    main_thread = pthread_self();
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_signal; /* without SA_RESTART: system calls see EINTR */
    assert_int_equal(sigaction(SIGRTMIN, &action, &before), 0);
    filch_pool *pool = test_pool_make(WORKERS); /* its threads start before the storm, */
    timer_t timer = start_timer(SIGRTMIN);
    while (atomic_load(&handled) < signals) {
        work_once(pool);
        filch_pool *other = test_pool_make(2); /* and in it */
        work_once(other);
        test_pool_close(other);
    }
    assert_int_equal(timer_delete(timer), 0);
    test_pool_close(pool);
    assert_int_equal(sigaction(SIGRTMIN, &before, NULL), 0);
    assert_int_equal(atomic_load(&handled_elsewhere), 0);
}

/* Stopping the whole process. The two share a page. */
typedef struct stopped {
    atomic_uint rounds;
    atomic_uint end;
} stopped;

static void work_until_told(void *arg)
{
    stopped *shared = arg;
    filch_pool *pool = test_pool_make(WORKERS);
    while (atomic_load(&shared->end) == 0) {
        work_once(pool);
        atomic_fetch_add(&shared->rounds, 1);
    }
    test_pool_close(pool);
    _exit(0);
}

static void process__stopped_and_continued__goes_on(void **state)
{
    stopped *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_true(shared != MAP_FAILED);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        work_until_told(shared);
    }
    for (unsigned i = 0; i < STOPS; i++) {
        int status = 0;
        test_await(&shared->rounds, 3 * i);
        assert_int_equal(kill(child, SIGSTOP), 0);
        assert_int_equal(waitpid(child, &status, WUNTRACED), child);
        assert_true(WIFSTOPPED(status));
        const unsigned rounds = atomic_load(&shared->rounds);
        sched_yield();
        assert_int_equal(atomic_load(&shared->rounds), rounds);
        assert_int_equal(kill(child, SIGCONT), 0);
    }
    const unsigned before_end = atomic_load(&shared->rounds);
    test_await(&shared->rounds, before_end + 3);
    atomic_store(&shared->end, 1);
    assert_int_equal(test_child_wait(child), 0);
    assert_int_equal(munmap(shared, sizeof(*shared)), 0);
}

/* A worker that is held up: in a task that reads from a pipe nobody writes to. */
typedef struct held_up {
    int ends[2];
    atomic_uint runs;
    atomic_uint forked;
} held_up;

static void read_a_byte(held_up *h)
{
    char byte;
    TEST_CHECK(read(h->ends[0], &byte, 1) == 1);
}

static void post_and_block(filch_cx *cx, void *arg)
{
    held_up *h = arg;
    for (unsigned i = 0; i < HELD_POSTS; i++) {
        TEST_CHECK(filch_post(filch_cx_pool(cx), test_count_task, &h->runs, 0, NULL) == FILCH_OK);
    }
    read_a_byte(h);
}

static void spawn_and_block(filch_cx *cx, void *arg)
{
    held_up *h = arg;
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    for (unsigned i = 0; i < HELD_POSTS; i++) {
        filch_spawn(cx, &scope, test_count_task, &h->forked);
    }
    read_a_byte(h);
    filch_scope_end(cx, &scope);
}

static void worker__held_up_in_a_task__thieves_take_the_rest(void **state)
{
    filch_pool *pool = test_pool_make(WORKERS);
    held_up h = { .runs = 0 };
    (void)state;
    assert_int_equal(pipe(h.ends), 0);
    assert_int_equal(filch_post(pool, post_and_block, &h, 0, NULL), FILCH_OK);
    assert_int_equal(filch_post(pool, spawn_and_block, &h, 0, NULL), FILCH_OK);
    test_await(&h.runs, HELD_POSTS);
    test_await(&h.forked, HELD_POSTS);
    assert_int_equal(filch_pool_wait_quiet(pool, filch_time_after_ms(1)), FILCH_E_TIMEOUT);
    uintptr_t value = 0; /* and new work is taken up as well */
    assert_int_equal(filch_run_word(pool, test_fork_tree, 10, &value), FILCH_OK);
    assert_int_equal(value, 55);
    assert_int_equal(write(h.ends[1], "go", 2), 2);
    test_pool_close(pool);
    assert_int_equal(atomic_load(&h.runs), HELD_POSTS);
    assert_int_equal(atomic_load(&h.forked), HELD_POSTS);
    close(h.ends[0]);
    close(h.ends[1]);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(process__stopped_and_continued__goes_on),
        cmocka_unit_test(storm__ten_thousand_a_second__nothing_lost),
        cmocka_unit_test(worker__held_up_in_a_task__thieves_take_the_rest),
    };
    test_begin(100);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
