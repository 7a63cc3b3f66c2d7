/* SPDX-License-Identifier: MIT */
/* The common part of all tests: see test.h. */
#include "support/test.h"

#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NOTE_BYTES = 512, SPIN_TRIES = 2000 /* a few microseconds before the first yield */ };

static uint64_t the_seed;
static pthread_once_t seed_once = PTHREAD_ONCE_INIT;

static atomic_uint failures;
static pthread_mutex_t note_lock = PTHREAD_MUTEX_INITIALIZER;
static char first_note[NOTE_BYTES];

/* Children of a test make threads of their own after a fork; TSan refuses that unless told. */
#if TEST_UNDER_TSAN
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0:halt_on_error=1:atexit_sleep_ms=0";
}
#endif

static void choose_seed(void)
{
    const char *text = getenv("FILCH_TEST_SEED");
    if (text != NULL && text[0] != '\0') {
        the_seed = strtoull(text, NULL, 0);
        return;
    }
    the_seed = test_mix(test_now_ns() ^ ((uint64_t)getpid() << 40));
}

uint64_t test_seed(void)
{
    pthread_once(&seed_once, choose_seed);
    return the_seed;
}

double test_scale(void)
{
    const char *text = getenv("FILCH_TEST_SCALE");
    double scale = (text != NULL) ? strtod(text, NULL) : 1.0;
    return (scale > 0.0) ? scale : 1.0;
}

bool test_is_short(void)
{
    return test_scale() < 0.05;
}

size_t test_count(size_t plain, size_t sanitized)
{
    size_t base = (TEST_UNDER_ASAN || TEST_UNDER_TSAN) ? sanitized : plain;
    double scaled = (double)base * test_scale();
    return (scaled < 1.0) ? 1 : (size_t)scaled;
}

/* Under valgrind or an emulator everything takes longer, and no shorter loop makes up for it. */
static double slowness(void)
{
    const char *text = getenv("FILCH_TEST_SLOW");
    double factor = (text != NULL) ? strtod(text, NULL) : 1.0;
    return (factor > 1.0) ? factor : 1.0;
}

static void watchdog_bark(int signal_number)
{
    static const char text[] = "watchdog: this test did not end in time\n";
    ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)written;
    (void)signal_number;
    abort();
}

static void *nothing(void *arg)
{
    return arg;
}

void test_begin(unsigned watchdog_s)
{
    pthread_t first;
    struct sigaction action;
    double scale = test_scale();
    double seconds = (double)watchdog_s * ((scale > 1.0) ? scale : 1.0) * slowness();

    memset(&action, 0, sizeof(action));
    action.sa_handler = watchdog_bark;
    sigaction(SIGALRM, &action, NULL);
    alarm((unsigned)seconds);
    printf("FILCH_TEST_SEED=0x%" PRIx64 " FILCH_TEST_SCALE=%g\n", test_seed(), scale);
    fflush(stdout);
    /* A sanitizer starts a thread of its own with the first one: have it there from the start. */
    test_thread_start(&first, nothing, NULL);
    test_thread_join(first);
}

uint64_t test_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

test_rng test_rng_make(uint64_t stream)
{
    test_rng rng = { test_mix(test_seed() + stream * UINT64_C(0x9e3779b97f4a7c15) + 1) };
    return rng;
}

uint64_t test_rng_next(test_rng *rng)
{
    rng->state += UINT64_C(0x9e3779b97f4a7c15);
    return test_mix(rng->state);
}

uint64_t test_rng_below(test_rng *rng, uint64_t limit)
{
    return (test_rng_next(rng) >> 11) % limit;
}

void test_note(const char *file, int line, const char *what)
{
    if (atomic_fetch_add(&failures, 1) != 0) {
        return;
    }
    pthread_mutex_lock(&note_lock);
    snprintf(first_note, sizeof(first_note), "%s:%d: %s", file, line, what);
    fprintf(stderr, "first failure: %s\n", first_note);
    pthread_mutex_unlock(&note_lock);
}

unsigned test_failures(void)
{
    return atomic_load(&failures);
}

void test_assert_clean(void)
{
    unsigned count = atomic_exchange(&failures, 0);
    if (count == 0) {
        return;
    }
    pthread_mutex_lock(&note_lock);
    print_error("%u checks failed, the first: %s\n", count, first_note);
    pthread_mutex_unlock(&note_lock);
    assert_int_equal(count, 0);
}

void test_thread_start(pthread_t *out_thread, void *(*fn)(void *), void *arg)
{
    sigset_t all;
    sigset_t old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int error = pthread_create(out_thread, NULL, fn, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error != 0) {
        fprintf(stderr, "pthread_create: %s\n", strerror(error));
        abort();
    }
}

void test_thread_join(pthread_t thread)
{
    int error = pthread_join(thread, NULL);
    if (error != 0) {
        fprintf(stderr, "pthread_join: %s\n", strerror(error));
        abort();
    }
}

void test_await(const atomic_uint *word, unsigned value)
{
    for (unsigned tries = 0; atomic_load_explicit(word, memory_order_acquire) < value; tries++) {
        if (tries >= SPIN_TRIES) {
            sched_yield();
        }
    }
}

static uint64_t read_clock(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t test_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t test_cpu_ns(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

void test_spin_ns(uint64_t ns)
{
    uint64_t end = test_now_ns() + ns;
    while (test_now_ns() < end) {}
}
