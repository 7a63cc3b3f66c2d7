/* SPDX-License-Identifier: MIT */
/* Waiting, at a high real-time priority and on one CPU, for a thread of low priority that is about
 * to leave a call: yielding alone would never let it run. Exit code 77 with a reason where
 * real-time priorities are not allowed. */
#include "support/pool.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/pool.h"
#include "support/child.h"

enum { CANNOT = 77, LOW = 1, HIGH = 2, ROUNDS = 20 };

typedef struct slow_caller {
    filch_pool *pool;
    pthread_barrier_t inside; /* blocks in the kernel: lets the other run whatever its priority */
} slow_caller;

static void set_priority(int priority)
{
    const struct sched_param param = { .sched_priority = priority };
    const int error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
    if (error != 0) {
        fprintf(stderr, "SCHED_FIFO: %s\n", strerror(error));
        _exit(CANNOT);
    }
}

/* What a post does, with the waiter coming in right before its last step. */
static void *leave_late(void *arg)
{
    slow_caller *c = arg;
    set_priority(LOW);
    TEST_CHILD_CHECK(filchi_pool_caller_enter(c->pool));
    filchi_pool_tasks_ended(c->pool, 1);
    (void)pthread_barrier_wait(&c->inside); /* the waiter runs on from here */
    filchi_pool_caller_exit(c->pool);
    return NULL;
}

static void wait_above(void *arg)
{
    cpu_set_t one;
    filch_pool *pool = NULL;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)arg;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    TEST_CHILD_CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
    config.workers = 1;
    TEST_CHILD_CHECK(filch_pool_create(&config, &pool) == FILCH_OK);
    set_priority(HIGH);
    for (int i = 0; i < ROUNDS; i++) {
        slow_caller c = { .pool = pool };
        pthread_t thread;
        TEST_CHILD_CHECK(pthread_barrier_init(&c.inside, NULL, 2) == 0);
        test_thread_start(&thread, leave_late, &c);
        (void)pthread_barrier_wait(&c.inside);
        TEST_CHILD_CHECK(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_OK);
        test_thread_join(thread);
        (void)pthread_barrier_destroy(&c.inside);
    }
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
}

int main(void)
{
    char text[1024];
    test_begin(60);
    const int status = test_child_run(wait_above, NULL, text, sizeof(text));
    const bool skipped = WIFEXITED(status) && WEXITSTATUS(status) == CANNOT;
    fprintf(stderr, "wait status 0x%x%s %s\n", (unsigned)status, skipped ? ", skipped:" : "", text);
    return skipped ? CANNOT : status != 0;
}
