/* SPDX-License-Identifier: MIT */
/* What the files of `filch demo` share: options, and what was found out.
 *
 * demo.c reads the options and chooses the folder (or leaves it all to demo_sizes.h), demo_run.c runs the passes, demo_verdict.c says
 * who won and why, demo_report.c prints. A report is filled once, then only read. */
#ifndef FILCH_TOOLS_DEMO_H
#define FILCH_TOOLS_DEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "cli.h"
#include "job.h"

enum {
    DEMO_JOBS = 6,
    DEMO_MOST_REPEATS = 99,
    DEMO_SENTENCE_BYTES = 1024,
    DEMO_MOST_SIZES = 16,
    DEMO_LARGEST_SIZE = 256
};

typedef struct demo_options {
    const char *path; /* NULL: choose one */
    const char *save_sorted;
    uint64_t byte_limit;
    unsigned workers;
    unsigned repeats;
    unsigned board;
    unsigned sizes[DEMO_MOST_SIZES];
    unsigned size_count;  /* 0: the six jobs */
    unsigned quota_milli; /* thousandths of a CPU, for the sizes; 0: what there is */
    cli_form form;
    bool quiet;
} demo_options;

/* One job by one contestant; times and steals of each repeat. */
typedef struct demo_cell {
    double seconds[DEMO_MOST_REPEATS];
    uint64_t steals[DEMO_MOST_REPEATS];
    job_verdict verdict;
    char result[JOB_RESULT_BYTES];
} demo_cell;

typedef struct demo_row {
    const char *job;
    uint64_t tasks;                 /* of a pass; the same for all */
    double cpus[DEMO_MOST_REPEATS]; /* that there were, at each repeat */
    demo_cell cells[CONTESTANTS];
    char note[JOB_NOTE_BYTES]; /* of the worst verdict; "" if all is equal */
} demo_row;

typedef struct demo_report {
    const demo_options *options;
    const char *path;
    tree_counts counts;
    uint64_t text_files;
    uint64_t text_bytes;
    uint64_t text_lines;
    unsigned cpus;
    unsigned workers;
    const char *names[CONTESTANTS];
    unsigned threads[CONTESTANTS];
    demo_row rows[DEMO_JOBS];
    uint64_t steals; /* over all repeats of all jobs */
    double seconds;  /* the whole demo */
} demo_report;

void demo_run(job jobs[DEMO_JOBS], const contestant contestants[CONTESTANTS], demo_report *report);

/* What the exit code says: no result differs, and there were steals if there could be any. */
bool demo_has_difference(const demo_report *report);
bool demo_lacks_steals(const demo_report *report);

/* Speed-ups of a job say something only if its CPUs were there. */
bool demo_is_judged(const demo_report *report, const demo_row *row);
bool demo_judges_any(const demo_report *report);

/* How many times as fast as the serial one; 0 if that cannot be said. */
double demo_speed_up(const demo_report *report, const demo_row *row, const demo_cell *cell);

/* Who won, and why: one sentence, from the figures alone. */
void demo_sentence(const demo_report *report, char out[DEMO_SENTENCE_BYTES]);

double demo_median_seconds(const demo_report *report, const demo_cell *cell);
double demo_median_cpus(const demo_report *report, const demo_row *row);
uint64_t demo_median_steals(const demo_report *report, const demo_cell *cell);

void demo_print(const demo_report *report);

#endif
