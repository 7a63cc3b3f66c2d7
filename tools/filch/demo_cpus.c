/* SPDX-License-Identifier: MIT */
/* How many CPUs there really are just now: a loop alone, then as many copies of it as there are
 * workers, each timed by itself. Two copies on one CPU take twice as long each and count one half.
 * What another program or another virtual machine takes is missing from the sum. */
#include "demo.h"

#include <pthread.h>

#include <filch/pool.h>

enum { STEPS = 4000000 }; /* some 5 ms */

typedef struct copy {
    pthread_t thread;
    bool started;
    double seconds;
    volatile uint64_t result; /* or the loop is dropped */
} copy;

static void *run_copy(void *arg)
{
    copy *const c = arg;
    const filch_time start = filch_time_now();
    uint64_t x = 1;
    for (unsigned i = 0; i < STEPS; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    }
    c->result = x;
    c->seconds = (double)(filch_time_now() - start) / 1e9;
    return NULL;
}

double demo_measure_cpus(unsigned threads)
{
    static copy copies[FILCH_MAX_WORKERS];
    (void)run_copy(&copies[0]);
    const double alone = copies[0].seconds;
    for (unsigned i = 1; i < threads; i++) {
        copies[i].started = pthread_create(&copies[i].thread, NULL, run_copy, &copies[i]) == 0;
    }
    (void)run_copy(&copies[0]);
    double cpus = alone / copies[0].seconds;
    for (unsigned i = 1; i < threads; i++) {
        if (copies[i].started) {
            (void)pthread_join(copies[i].thread, NULL);
            cpus += alone / copies[i].seconds;
        }
    }
    return cpus;
}
