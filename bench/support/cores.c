/* SPDX-License-Identifier: MIT */
/* How many CPUs there really are just now. */
#define _POSIX_C_SOURCE 200809L

#include "bench/support/cores.h"

#include "bench/support/measure.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { STEPS = 4000000 }; /* some 5 ms */

typedef struct copy {
    pthread_t thread;
    bool started;
    double ns;
    volatile uint64_t result; /* or the loop is dropped */
} copy;

static void *run_copy(void *arg)
{
    copy *const c = arg;
    const double start = measure_now_ns(MEASURE_WALL);
    uint64_t x = 1;
    for (unsigned i = 0; i < STEPS; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    }
    c->result = x;
    c->ns = measure_now_ns(MEASURE_WALL) - start;
    return NULL;
}

static double run_alone(copy *c)
{
    (void)run_copy(c);
    return c->ns;
}

double cores_free(unsigned threads)
{
    copy *const copies = calloc(threads, sizeof *copies);
    if (copies == NULL) {
        return 0;
    }
    double alone = run_alone(&copies[0]);
    for (unsigned i = 1; i < threads; i++) {
        copies[i].started = pthread_create(&copies[i].thread, NULL, run_copy, &copies[i]) == 0;
    }
    (void)run_copy(&copies[0]);
    double cpus = 1 / copies[0].ns;
    for (unsigned i = 1; i < threads; i++) {
        if (copies[i].started) {
            (void)pthread_join(copies[i].thread, NULL);
            cpus += 1 / copies[i].ns;
        }
    }
    const double again = run_alone(&copies[0]);
    alone = again < alone ? again : alone; /* who was disturbed alone would find too many CPUs */
    cpus *= alone;
    free(copies);
    return cpus;
}
