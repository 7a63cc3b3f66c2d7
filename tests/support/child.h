/* SPDX-License-Identifier: MIT */
/* Running a part of a test in a forked child: how it ended, and what it wrote to stderr. */
#ifndef FILCH_TEST_CHILD_H
#define FILCH_TEST_CHILD_H

#include <stddef.h>

typedef void test_child_fn(void *arg);

/* Run fn(arg) in a child, which then leaves with _exit(0); a child that takes longer than
 * 30 seconds is ended by SIGALRM. Returns its wait status. The child's stderr goes into `text`,
 * cut to `size` bytes; NULL and 0: it is not caught. */
int test_child_run(test_child_fn *fn, void *arg, char *text, size_t size);

/* The same for a child that is there already: wait for it and return its wait status. */
int test_child_wait(int pid);

/* In a child: _exit, but what a coverage build has counted is kept. */
_Noreturn void test_child_leave(int code);

/* In a child: leave with 1 and a line on stderr unless `cond` holds. */
#define TEST_CHILD_CHECK(cond) ((cond) ? (void)0 : test_child_fail(__FILE__, __LINE__, #cond))
void test_child_fail(const char *file, int line, const char *what);

/* Main thread: fn(arg) in a child leaves with 0; ends by abort() with `sentence` on stderr. */
void test_assert_child_ok(test_child_fn *fn, void *arg);
void test_assert_child_aborts(test_child_fn *fn, void *arg, const char *sentence);

#endif
