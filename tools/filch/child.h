/* SPDX-License-Identifier: MIT */
/* A contestant as a process: started, asked line by line, stopped while others have their turn.
 *
 * It leads a process group of its own, so that a script and what it starts are stopped and ended
 * together, and it is killed if this process dies. Whoever does not answer in time is killed. */
#ifndef FILCH_TOOLS_CHILD_H
#define FILCH_TOOLS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { CHILD_LINE_BYTES = 512, CHILD_WHY_BYTES = 160 };

/* A zeroed struct is a child that is not running. */
typedef struct child {
    pid_t pid; /* 0: not running */
    int to;
    int from;
    char why[CHILD_WHY_BYTES]; /* what went wrong last, a clause */
    size_t filled;
    char line[CHILD_LINE_BYTES]; /* the last answer, without its line end */
} child;

/* Start a program and read its first line into `line`; it is stopped then. The calls below and this
 * one return false after an error, with `why` set; the child is not running then. */
bool child_start(child *c, char *const *argv, unsigned timeout_s);

/* Let it go on, send one line, read one into `line`, stop it. */
bool child_ask(child *c, const char *question, unsigned timeout_s);

/* Say quit; kill it if that does not help. Does nothing if it is not running. */
void child_end(child *c);

#endif
