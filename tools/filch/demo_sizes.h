/* SPDX-License-Identifier: MIT */
/* filch demo --sizes: pools of several sizes under one CPU quota, what each gets done, and what a
 * thread beside it suffers.
 *
 * demo_sizes.c measures, demo_sizes_verdict.c makes figures and the sentence, demo_sizes_report.c
 * prints. A report is filled once, then only read. */
#ifndef FILCH_TOOLS_DEMO_SIZES_H
#define FILCH_TOOLS_DEMO_SIZES_H

#include <filch/cpus.h>

#include "demo.h"

/* One size; sums over the rounds that count: those in which other programs took none of the CPUs that
 * it could have, if there were any. */
typedef struct sizes_row {
    unsigned workers;
    unsigned rounds;
    unsigned disturbed;                    /* rounds that do not count */
    double tasks_per_s[DEMO_MOST_REPEATS]; /* of each round */
    double seconds;
    double cpu_seconds; /* CPU time of the process */
    bool has_throttling;
    uint64_t periods;
    uint64_t throttled;
    uint64_t throttled_us;
    uint64_t *latencies; /* ns, of each request, sorted once all are in */
    size_t requests;
} sizes_row;

typedef struct sizes_report {
    const demo_options *options;
    filch_cpus cpus; /* with the quota in force */
    sizes_row rows[DEMO_MOST_SIZES];
    double seconds;
} sizes_report;

/* The whole sub-command; an exit code. */
int sizes_run(const demo_options *options);

double sizes_median(const sizes_row *row);
double sizes_cpus_used(const sizes_row *row);
uint64_t sizes_latency(const sizes_row *row, double part); /* 0.5: the median */

/* The row with the most tasks a second; that of `workers`, or NULL. */
const sizes_row *sizes_best(const sizes_report *report);
const sizes_row *sizes_of(const sizes_report *report, unsigned workers);

/* Did this size, did each size get the CPUs that it could have? If not, others took them. */
bool sizes_got_its_cpus(const sizes_row *row, const filch_cpus *cpus);
bool sizes_is_judged(const sizes_report *report);

/* What the default would be, and why: one sentence, from the figures alone. */
void sizes_sentence(const sizes_report *report, char out[DEMO_SENTENCE_BYTES]);

void sizes_print(const sizes_report *report);

#endif
