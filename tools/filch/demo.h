/* SPDX-License-Identifier: MIT */
/* What the files of `filch demo` share: options, and what was found out.
 *
 * demo.c reads the options and chooses the folder, demo_run.c runs the passes, demo_report.c
 * prints. A report is filled once, then only read. */
#ifndef FILCH_TOOLS_DEMO_H
#define FILCH_TOOLS_DEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "cli.h"
#include "job.h"

enum { DEMO_JOBS = 3, DEMO_MOST_REPEATS = 99 };

typedef struct demo_options {
    const char *path; /* NULL: choose one */
    const char *save_sorted;
    uint64_t byte_limit;
    unsigned workers; /* 0: one a CPU */
    unsigned repeats;
    unsigned board;
    cli_form form;
    bool quiet;
} demo_options;

/* One job by one contestant; times and steals of each repeat. */
typedef struct demo_cell {
    double seconds[DEMO_MOST_REPEATS];
    uint64_t steals[DEMO_MOST_REPEATS];
    uint64_t forks; /* of the last pass; all passes have the same */
    job_verdict verdict;
    char result[JOB_RESULT_BYTES];
} demo_cell;

typedef struct demo_row {
    const char *job;
    demo_cell cells[PAR_CONTESTANTS];
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
    const char *names[PAR_CONTESTANTS];
    unsigned threads[PAR_CONTESTANTS];
    demo_row rows[DEMO_JOBS];
    uint64_t steals; /* over all repeats of all jobs */
    double seconds;  /* the whole demo */
} demo_report;

/* Run all passes of all jobs; NULL, or why they could not be run. */
const char *demo_run(job jobs[DEMO_JOBS], par_contestant contestants[PAR_CONTESTANTS],
                     demo_report *report);

/* What the exit code says: no result differs, and there were steals if there could be any. */
bool demo_has_difference(const demo_report *report);
bool demo_lacks_steals(const demo_report *report);

double demo_median_seconds(const demo_report *report, const demo_cell *cell);
uint64_t demo_median_steals(const demo_report *report, const demo_cell *cell);

void demo_print(const demo_report *report);

#endif
