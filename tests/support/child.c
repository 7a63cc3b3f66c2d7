/* SPDX-License-Identifier: MIT */
/* Children of a test: see child.h. */
#include "support/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

enum { CHILD_SECONDS = 30 };

/* A coverage build writes its counters when a process ends in order, and children do not. */
#if defined(FILCH_TEST_COVERAGE)
extern void __gcov_dump(void);

static void keep_counters(int signal_number)
{
    (void)signal_number;
    __gcov_dump();
}

static void keep_counters_of_abort(void)
{
    signal(SIGABRT, keep_counters);
}
#else
static void keep_counters(int signal_number)
{
    (void)signal_number;
}

static void keep_counters_of_abort(void)
{
}
#endif

void test_child_leave(int code)
{
    keep_counters(0);
    _exit(code);
}

void test_child_fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "in the child: %s:%d: %s\n", file, line, what);
    test_child_leave(1);
}

int test_child_wait(int pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return status;
}

static void be_the_child(test_child_fn *fn, void *arg, int err_fd)
{
    signal(SIGALRM, SIG_DFL);
    signal(SIGSEGV, SIG_DFL);
    keep_counters_of_abort();
    alarm(CHILD_SECONDS);
    if (err_fd >= 0) {
        dup2(err_fd, STDERR_FILENO);
    }
    fn(arg);
    test_child_leave(0);
}

static void read_all(int fd, char *text, size_t size)
{
    size_t used = 0;
    char rest[256];

    for (;;) {
        bool room = used + 1 < size;
        ssize_t got = room ? read(fd, text + used, size - 1 - used) : read(fd, rest, sizeof(rest));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        used += room ? (size_t)got : 0;
    }
    text[used] = '\0';
}

int test_child_run(test_child_fn *fn, void *arg, char *text, size_t size)
{
    int ends[2] = { -1, -1 };

    fflush(stdout);
    fflush(stderr);
    if (text != NULL && pipe(ends) != 0) {
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0) {
        be_the_child(fn, arg, ends[1]);
    }
    if (text != NULL) {
        close(ends[1]);
        read_all(ends[0], text, size);
        close(ends[0]);
    }
    return (pid < 0) ? -1 : test_child_wait(pid);
}

void test_assert_child_ok(test_child_fn *fn, void *arg)
{
    char text[1024];
    int status = test_child_run(fn, arg, text, sizeof(text));
    if (status != 0) {
        print_error("the child ended with wait status 0x%x: %s\n", (unsigned)status, text);
    }
    assert_int_equal(status, 0);
}

void test_assert_child_aborts(test_child_fn *fn, void *arg, const char *sentence)
{
    char text[1024];
    int status = test_child_run(fn, arg, text, sizeof(text));
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || strstr(text, sentence) == NULL) {
        print_error("expected an abort that says '%s'; wait status 0x%x, stderr: %s\n", sentence,
                    (unsigned)status, text);
    }
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_non_null(strstr(text, sentence));
}
