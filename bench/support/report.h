/* SPDX-License-Identifier: MIT */
/* One benchmark from its description to its output: measure, judge, print.
 *
 * A benchmark is a list of contestants, the number of units (forks, tasks) one run consists of, and
 * ratios of two contestants. A ratio may have a limit: that is a claim, judged with `--gate`. A
 * judgement needs a quiet machine: fewer than MEASURE_MIN_ROUNDS quiet rounds where quiet ones can
 * be told, or a spread of a contestant above the benchmark's own limit, and everything is measured
 * again, up to BENCH_ATTEMPTS times; then the claim is "not judged": neither kept nor broken. A
 * spread that could not change the verdict is no hindrance. */
#ifndef BENCH_SUPPORT_REPORT_H
#define BENCH_SUPPORT_REPORT_H

#include "bench/support/measure.h"
#include "bench/support/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_ATTEMPTS = 3 };

/* Exit codes. */
enum { BENCH_PASS = 0, BENCH_FAIL = 1, BENCH_USAGE = 2, BENCH_NOT_JUDGED = 77 };

/* Something about the workload that belongs beside its figures. */
typedef struct bench_fact {
    const char *name;
    uint64_t value;
} bench_fact;

/* Median of contestant `over` / median of contestant `under` (indices), by the wall clock or by the
 * CPU-time clock of the benchmark. `limit` 0: reported only. */
typedef struct bench_ratio {
    const char *name;
    size_t over;
    size_t under;
    bool by_wall;
    double limit;
} bench_ratio;

typedef struct bench_spec {
    const char *name;
    const char *unit; /* of what one run consists: "fork", "task" */
    double units;     /* how many of them in a run */
    measure_clock cpu_clock;
    size_t reference;  /* the contestant that tells quiet rounds, or MEASURE_NO_REFERENCE */
    double max_spread; /* of a contestant in a claim */
    const bench_fact *facts;
    size_t fact_count;
    const measure_contestant *contestants;
    size_t contestant_count;
    const bench_ratio *ratios;
    size_t ratio_count;
} bench_spec;

/* The options every benchmark has. */
typedef struct bench_options {
    unsigned long rounds;
    bool table;
    bool gate;
} bench_options;

enum { BENCH_COMMON_OPTIONS = 3 };

/* Fill the first BENCH_COMMON_OPTIONS entries of an option list. */
void bench_common_options(bench_options *options, option_spec *out_specs);

/* Measure, print to stdout, judge if asked (the verdicts go to stderr); returns the exit code. */
int bench_main(const bench_spec *spec, const bench_options *options);

#endif
