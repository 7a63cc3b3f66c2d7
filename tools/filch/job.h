/* SPDX-License-Identifier: MIT */
/* A job of the demo: work that is written once and run by every contestant.
 *
 * The demo calls prepare, then run with the clock on, then check, once a pass. The first check sets
 * what all later passes are compared with; there each job also tests that first result by other
 * means where it can. */
#ifndef FILCH_TOOLS_JOB_H
#define FILCH_TOOLS_JOB_H

#include <stdbool.h>

#include "contestant.h"
#include "tree.h"

typedef enum job_verdict {
    JOB_EQUAL,
    JOB_CHANGED, /* the files changed between two passes, so there is nothing to compare */
    JOB_DIFFERS
} job_verdict;

enum { JOB_RESULT_BYTES = 80, JOB_NOTE_BYTES = 512 };

typedef struct job {
    const char *name;
    void *state;
    void (*prepare)(void *state); /* may be NULL */
    void (*run)(void *state, const contestant *on);
    job_verdict (*check)(void *state);
    void (*close)(void *state);
    char result[JOB_RESULT_BYTES]; /* of the last pass that was checked */
    char note[JOB_NOTE_BYTES];     /* why it was not equal */
} job;

/* Each opens a job whose state refers to `out_job` and `t`, which must stay where they are. False
 * if there is no memory. */
bool hash_job_open(job *out_job, tree *t);
bool sort_job_open(job *out_job, const tree_text *text);
bool queens_job_open(job *out_job, unsigned board);
bool coarse_job_open(job *out_job);
bool handful_job_open(job *out_job);
bool flood_job_open(job *out_job);

/* Write the sorted lines of the last pass; false with errno set if that fails. */
bool sort_job_save(const job *sort, const char *path);

/* Lines the sort works on. */
size_t sort_job_lines(const job *sort);

/* Run `count` tasks that lie `stride` bytes apart; one alone has nothing to run beside it. */
static inline void job_run_all(const design_cx *cx, design_task *first, size_t stride, size_t count)
{
    if (count == 1) {
        first->fn(cx, first->arg);
    } else if (count > 1) {
        cx->on->all(cx, first, stride, count);
    }
}

enum { QUEENS_LEAST = 1, QUEENS_MOST = 16 };

#endif
