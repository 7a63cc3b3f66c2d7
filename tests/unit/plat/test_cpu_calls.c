/* SPDX-License-Identifier: MIT */
/* The system calls below the CPU reader, wrapped: kernels with more CPUs than a cpu_set_t holds,
 * refused calls, interrupted and failing reads, and how many calls a reading makes. */
#include "support/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/sizing.h"

static unsigned kernel_cpus;  /* of the machine that sched_getaffinity tells of; 0: the real one */
static unsigned kernel_every; /* allowed: every n-th of them */
static int affinity_error;    /* 0: none */
static unsigned opens;
static unsigned reads;
static unsigned closes;
static bool interrupt; /* each read fails with EINTR first */
static int read_error; /* each read fails with it */
static bool no_clock;  /* of a thread's CPU time */
static bool watching;  /* inside a call of the library: gcov and cmocka open files too */

int __real_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *mask);
int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *mask);
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
ssize_t __real_read(int file, void *bytes, size_t count);
ssize_t __wrap_read(int file, void *bytes, size_t count);
int __real_close(int file);
int __wrap_close(int file);
int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

/* As the kernel: EINVAL for a mask that has no room for all CPUs it could have. */
int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *mask)
{
    if (affinity_error != 0 || bytes * 8 < kernel_cpus) {
        errno = affinity_error != 0 ? affinity_error : EINVAL;
        return -1;
    }
    if (kernel_cpus == 0) {
        return __real_sched_getaffinity(pid, bytes, mask);
    }
    CPU_ZERO_S(bytes, mask);
    for (unsigned cpu = 0; cpu < kernel_cpus; cpu += kernel_every) {
        CPU_SET_S(cpu, bytes, mask);
    }
    return 0;
}

int __wrap_open(const char *path, int flags, ...)
{
    opens++;
    if (watching) {
        assert_true((flags & (O_NONBLOCK | O_CLOEXEC)) == (O_NONBLOCK | O_CLOEXEC));
        return __real_open(path, flags);
    }
    va_list args;
    va_start(args, flags);
    const int mode = (flags & O_CREAT) != 0 ? va_arg(args, int) : 0;
    va_end(args);
    return __real_open(path, flags, mode);
}

ssize_t __wrap_read(int file, void *bytes, size_t count)
{
    static bool interrupted;
    reads++;
    interrupted = interrupt && !interrupted;
    if (interrupted || read_error != 0) {
        errno = interrupted ? EINTR : read_error;
        return -1;
    }
    return __real_read(file, bytes, count);
}

int __wrap_close(int file)
{
    closes++;
    return __real_close(file);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    if (no_clock && clock == CLOCK_THREAD_CPUTIME_ID) {
        errno = EINVAL;
        return -1;
    }
    return __real_clock_gettime(clock, time);
}

static filch_cpus found(void)
{
    filch_cpus cpus = FILCH_CPUS_INIT;
    filch_cpus_options options = FILCH_CPUS_OPTIONS_INIT;
    options.flags = FILCH_CPUS_NO_ENVIRONMENT;
    errno = 4711;
    watching = true;
    assert_int_equal(filch_cpus_read(&options, &cpus), FILCH_OK);
    watching = false;
    assert_int_equal(errno, 4711);
    return cpus;
}

static void mask__more_cpus_than_a_set_holds__all_counted(void **state)
{
    static const unsigned machines[][2] = { { 1, 1 },    { 64, 1 },   { 1024, 1 }, { 1025, 1 },
                                            { 1536, 3 }, { 5000, 2 }, { 8192, 1 } };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(machines); i++) {
        kernel_cpus = machines[i][0];
        kernel_every = machines[i][1];
        const unsigned expected = (kernel_cpus + kernel_every - 1) / kernel_every;
        assert_int_equal(filch_cpus_allowed(), expected);
        assert_int_equal(found().allowed, expected);
    }
    kernel_cpus = 0;
}

/* Beyond what the reader keeps: the status file, which tells the truth about this machine. */
static void mask__beyond_every_kernel__from_the_status_file(void **state)
{
    const unsigned real = found().allowed;
    (void)state;
    kernel_cpus = 20000;
    kernel_every = 1;
    assert_int_equal(filch_cpus_allowed(), 20000);
    assert_int_equal(found().allowed, real);
    kernel_cpus = 0;
}

static void mask__refused__from_the_status_file(void **state)
{
    static const int errors[] = { EPERM, ENOSYS, EINVAL, ENOMEM };
    const filch_cpus before = found();
    (void)state;
    for (size_t i = 0; i < TEST_CASES(errors); i++) {
        affinity_error = errors[i];
        const filch_cpus cpus = found();
        assert_int_equal(cpus.allowed, before.allowed);
        assert_int_equal(cpus.cpu_bound, before.cpu_bound);
        assert_string_equal(cpus.why, before.why);
    }
    affinity_error = 0;
}

static void reads__interrupted__the_same(void **state)
{
    const filch_cpus before = found();
    (void)state;
    interrupt = true;
    const filch_cpus cpus = found();
    interrupt = false;
    assert_memory_equal(&cpus, &before, sizeof(cpus));
}

static void reads__failing__mask_alone(void **state)
{
    static const int errors[] = { EAGAIN, EIO, EISDIR, ENODEV, EACCES };
    const unsigned allowed = found().allowed;
    (void)state;
    for (size_t i = 0; i < TEST_CASES(errors); i++) {
        read_error = errors[i];
        const filch_cpus cpus = found();
        assert_int_equal(cpus.allowed, allowed);
        assert_int_equal(cpus.cpu_bound, allowed);
        assert_int_equal(cpus.cores, 0);
        affinity_error = EPERM;
        assert_int_equal(found().cpu_bound, 1);
        affinity_error = 0;
    }
    read_error = 0;
}

static void count_run(void *arg)
{
    (*(unsigned *)arg)++;
}

static void sample__no_clock__system_and_not_run(void **state)
{
    uint64_t wait_ns = 47;
    uint64_t compute_ns = 11;
    unsigned runs = 0;
    (void)state;
    no_clock = true;
    errno = 4711;
    assert_int_equal(filch_cpus_sample(count_run, &runs, &wait_ns, &compute_ns), FILCH_E_SYSTEM);
    assert_int_equal(errno, 4711);
    assert_true(runs == 0 && wait_ns == 47 && compute_ns == 11);
    no_clock = false;
    assert_int_equal(filch_cpus_sample(count_run, &runs, &wait_ns, &compute_ns), FILCH_OK);
    assert_int_equal(runs, 1);
}

/* Nothing stays open, and there are few calls: a thousand of them take well under a millisecond.
 * On this machine; trees of large ones are in test_cpus.c. */
static void reading__this_machine__few_calls(void **state)
{
    const unsigned allowed = filch_cpus_allowed();
    filch_pool *pool = NULL;
    (void)state;
    opens = reads = closes = 0;
    (void)found();
    print_message("all: %u opens, %u reads, %u closes", opens, reads, closes);
    assert_true(closes <= opens && reads >= closes);
    assert_true(opens <= 60 + 5 * allowed);
    opens = reads = closes = 0;
    assert_int_equal(filch_pool_create(NULL, &pool), FILCH_OK);
    print_message("; a pool: %u, %u, %u\n", opens, reads, closes);
    assert_true(opens <= 30 + 2 * allowed);
    assert_int_equal(filch_pool_destroy(pool), FILCH_OK);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(mask__more_cpus_than_a_set_holds__all_counted),
        cmocka_unit_test(mask__beyond_every_kernel__from_the_status_file),
        cmocka_unit_test(mask__refused__from_the_status_file),
        cmocka_unit_test(reads__interrupted__the_same),
        cmocka_unit_test(reads__failing__mask_alone),
        cmocka_unit_test(sample__no_clock__system_and_not_run),
        cmocka_unit_test(reading__this_machine__few_calls),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
