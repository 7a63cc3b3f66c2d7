/* SPDX-License-Identifier: MIT */
/* Who runs the jobs of the demo: designs of bench/designs, Filch among them, each with a pool of
 * the same number of threads. */
#ifndef FILCH_TOOLS_CONTESTANT_H
#define FILCH_TOOLS_CONTESTANT_H

#include "bench/designs/design.h"

enum { CONTESTANT_SERIAL, CONTESTANT_STATIC, CONTESTANT_QUEUE, CONTESTANT_STEALING, CONTESTANTS };

typedef struct contestant {
    const char *name;
    const design *design;
    void *pool;
    unsigned threads;
} contestant;

/* Start all of them. 0, or an errno value; then none runs. */
int contestants_open(unsigned threads, contestant out_contestants[CONTESTANTS]);
void contestants_close(contestant contestants[CONTESTANTS]);

/* Plain calls that count tasks: the children of `pair` and `all`, and what is posted. All designs
 * get the same. One thread. */
typedef struct task_counter {
    uint64_t tasks;
} task_counter;

contestant task_counter_contestant(task_counter *counter);

#endif
