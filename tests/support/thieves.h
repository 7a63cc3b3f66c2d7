/* SPDX-License-Identifier: MIT */
/* A team of threads that steal from one deque until they are told to stop; they never stop because
 * the deque is empty for a moment. */
#ifndef FILCH_TEST_THIEVES_H
#define FILCH_TEST_THIEVES_H

#include <filch/deque.h>

#include "support/test.h"

enum { TEST_THIEVES_MAX = 8 };

/* What a thief does with what it got. */
typedef void test_thieves_fn(void *ctx, unsigned thief, filch_item item);

typedef struct test_thieves {
    filch_deque *deque;
    test_thieves_fn *got;
    void *ctx;
    unsigned count;
    atomic_uint running;
    atomic_bool stop;
    atomic_size_t stolen;
    atomic_size_t lost;
    pthread_t threads[TEST_THIEVES_MAX];
} test_thieves;

/* Start `count` thieves and wait until all of them run. */
void test_thieves_start(test_thieves *team, filch_deque *deque, unsigned count,
                        test_thieves_fn *got, void *ctx);

/* Tell them to stop, and join them. */
void test_thieves_stop(test_thieves *team);

#endif
