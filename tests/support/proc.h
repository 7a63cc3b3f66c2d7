/* SPDX-License-Identifier: MIT */
/* What the kernel says about this process: threads, their names and switches, memory. */
#ifndef FILCH_TEST_PROC_H
#define FILCH_TEST_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TEST_PROC_NAME_BYTES = 32 };

typedef struct test_proc_thread {
    long tid;
    char name[TEST_PROC_NAME_BYTES]; /* without the newline; the kernel's limit is 15 bytes */
    char state;                      /* 'S' sleeping, 'R' running, … */
    uint64_t voluntary;              /* voluntary context switches */
} test_proc_thread;

/* Threads of this process: how many there are, of which at most `max` are described. */
size_t test_proc_threads(test_proc_thread *out_threads, size_t max);

/* Wait until there are at most `most` threads (a joined one may stay visible for a moment); false
 * if that does not come about. */
bool test_proc_await_threads(size_t most);

/* Resident memory of this process in bytes. */
size_t test_proc_rss(void);

#endif
