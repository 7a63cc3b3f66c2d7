/* SPDX-License-Identifier: MIT */
/* Runs contestants against each other, fairly: what happens to the machine happens to all of them.
 *
 * One round runs every contestant once, back to back; the order is rotated from round to round, so
 * that none always runs after the same other one. The first round warms caches, pages and
 * frequencies and is dropped. Each run is timed with a CPU-time clock, which does not count the
 * time that other processes take away, and with the wall clock, which does.
 *
 * A CPU-time clock does not see a neighbour on the same core (another hardware thread, another
 * virtual machine), and code with locked instructions suffers from one more than other code: half
 * as slow again was seen, in phases of a millisecond to a second. Therefore rounds can be short and
 * many, and a reference contestant, one that no claim is about, tells the quiet ones: those in
 * which it was within MEASURE_QUIET of its fastest. Only quiet rounds count; if there are fewer
 * than MEASURE_MIN_ROUNDS of them, that many of the least disturbed ones.
 *
 * Of each series: the minimum, the median (what is judged), and the spread: the distance between
 * the quartiles over the median, a measure of how noisy the machine was. */
#ifndef BENCH_SUPPORT_MEASURE_H
#define BENCH_SUPPORT_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

enum { MEASURE_MAX_CONTESTANTS = 16, MEASURE_MIN_ROUNDS = 20 };
#define MEASURE_QUIET 1.05
#define MEASURE_NO_REFERENCE ((size_t)-1) /* every round counts */

typedef bool measure_fn(void *arg);

/* The hooks return false when a result was wrong or something could not be had. */
typedef struct measure_contestant {
    const char *name;
    const char *skipped;  /* why it is not run; NULL: it runs */
    bool wall_only;       /* it works on threads that the CPU-time clock does not see */
    measure_fn *prepare;  /* not timed; may be NULL */
    measure_fn *run;      /* timed */
    measure_fn *clean_up; /* not timed; may be NULL; called after every prepare that succeeded */
    void *arg;
} measure_contestant;

typedef enum measure_clock {
    MEASURE_WALL,
    MEASURE_THREAD_CPU, /* of the calling thread: the work is done there */
    MEASURE_PROCESS_CPU /* of all threads; other running threads are seen up to a tick late */
} measure_clock;

/* Nanoseconds of one run; NAN where nothing was measured. */
typedef struct measure_summary {
    double minimum;
    double median;
    double low;    /* first quartile */
    double high;   /* third quartile */
    double spread; /* (high - low) / median */
} measure_summary;

typedef struct measure_result {
    measure_summary cpu;
    measure_summary wall;
} measure_result;

typedef struct measure_plan {
    size_t rounds; /* and one more, dropped */
    measure_clock cpu_clock;
    size_t reference; /* index of the contestant that tells quiet rounds */
} measure_plan;

typedef struct measure_rounds {
    size_t run;
    size_t quiet; /* all of them without a reference */
    size_t used;  /* those that the results are made of */
} measure_rounds;

/* Measure. Returns false, with a sentence on stderr, when a hook failed or memory ran out. */
bool measure_all(const measure_contestant *contestants, size_t count, const measure_plan *plan,
                 measure_result *out_results, measure_rounds *out_rounds);

/* The time of a clock in nanoseconds. */
double measure_now_ns(measure_clock clock);

/* Minimum, median and spread; sorts `samples`. */
measure_summary measure_summarise(double *samples, size_t count);

#endif
