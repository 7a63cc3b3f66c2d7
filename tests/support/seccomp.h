/* SPDX-License-Identifier: MIT */
/* Filters in front of the kernel, for the calling thread and those it starts later. There is no way
 * back: use them in a child. */
#ifndef FILCH_TEST_SECCOMP_H
#define FILCH_TEST_SECCOMP_H

#include <stdbool.h>

/* System call `number` fails with `error` from now on; false: filters cannot be had here. */
bool test_deny(long number, int error);

/* Only futex calls whose operation is `operation`, flags included. */
bool test_deny_futex(int operation, int error);

/* Whether a filter can be had (tried in a child). */
bool test_deny_works(void);

#endif
