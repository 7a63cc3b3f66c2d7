/* SPDX-License-Identifier: MIT */
/* What every test uses: the seed and its random numbers, the scale of a run, a watchdog, threads,
 * and a place for failures that are found on other threads, where cmocka's assertions (they
 * longjmp) must not be used.
 *
 *   FILCH_TEST_SEED=0x…   runs again with the random numbers of an earlier run (printed at start)
 *   FILCH_TEST_SCALE=x    multiplies the counts of the long tests; 1 is the size for CI
 *   FILCH_TEST_SLOW=x     the machine is so many times slower: watchdogs wait longer
 *
 * Waiting is done on atomics with sched_yield, never by sleeping; time that passes in the middle
 * of something is only ever a perturbation. */
#ifndef FILCH_TEST_H
#define FILCH_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#if defined(__has_feature)
#define TEST_HAS_FEATURE(x) __has_feature(x)
#else
#define TEST_HAS_FEATURE(x) 0
#endif

#if defined(__SANITIZE_THREAD__) || TEST_HAS_FEATURE(thread_sanitizer)
#define TEST_UNDER_TSAN 1
#else
#define TEST_UNDER_TSAN 0
#endif

#if defined(__SANITIZE_ADDRESS__) || TEST_HAS_FEATURE(address_sanitizer)
#define TEST_UNDER_ASAN 1
#else
#define TEST_UNDER_ASAN 0
#endif

#define TEST_CASES(cases) (sizeof(cases) / sizeof((cases)[0]))

/* Call first in main: prints the seed and starts the watchdog, which ends the process with a line
 * on stderr if it has not ended by itself after `watchdog_s` seconds (times the scale). */
void test_begin(unsigned watchdog_s);

/* The count of a long loop: `plain`, or `sanitized` under a sanitizer, times the scale; >= 1. */
size_t test_count(size_t plain, size_t sanitized);

/* The scale itself. Below 0.05 a run is too short to insist on what happens by chance. */
double test_scale(void);
bool test_is_short(void);

/* Random numbers (splitmix64): one stream per thread or case, all of them from the seed. */
typedef struct test_rng {
    uint64_t state;
} test_rng;

uint64_t test_seed(void);
test_rng test_rng_make(uint64_t stream);
uint64_t test_rng_next(test_rng *rng);
uint64_t test_rng_below(test_rng *rng, uint64_t limit);

/* A good mix of 64 bits, to make one word from another. */
uint64_t test_mix(uint64_t x);

/* Failures found on any thread; the main thread asserts that there were none. */
void test_note(const char *file, int line, const char *what);
unsigned test_failures(void);
void test_assert_clean(void);
#define TEST_CHECK(cond) ((cond) ? (void)0 : test_note(__FILE__, __LINE__, #cond))
#define TEST_FAIL(what) test_note(__FILE__, __LINE__, what)

/* Threads with all signals blocked; a failure to start one ends the process. */
void test_thread_start(pthread_t *out_thread, void *(*fn)(void *), void *arg);
void test_thread_join(pthread_t thread);

/* Yield until `*word` is at least `value`. */
void test_await(const atomic_uint *word, unsigned value);

/* Nanoseconds of the monotonic clock, of CPU time of this process; a bounded busy delay. */
uint64_t test_now_ns(void);
uint64_t test_cpu_ns(void);
void test_spin_ns(uint64_t ns);

#endif
