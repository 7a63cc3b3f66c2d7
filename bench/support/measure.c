/* SPDX-License-Identifier: MIT */
/* The loop of rounds, the clocks and the statistics. What is measured is the contestants' business,
 * what is printed is report.c's.
 *
 * Samples lie in one block, a row for each clock and contestant. Quartiles are interpolated between
 * neighbours, as usual (the definition called "type 7"). */
#define _POSIX_C_SOURCE 200809L /* clock_gettime and the CPU-time clocks */
#include "bench/support/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double measure_now_ns(measure_clock clock)
{
    clockid_t id = CLOCK_MONOTONIC;
    if (clock == MEASURE_THREAD_CPU) {
        id = CLOCK_THREAD_CPUTIME_ID;
    } else if (clock == MEASURE_PROCESS_CPU) {
        id = CLOCK_PROCESS_CPUTIME_ID;
    }
    struct timespec now;
    if (clock_gettime(id, &now) != 0) {
        return NAN;
    }
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

static double quantile(const double *sorted, size_t count, double part)
{
    const double place = part * (double)(count - 1);
    const size_t below = (size_t)place;
    if (below + 1 >= count) {
        return sorted[count - 1];
    }
    const double weight = place - (double)below;
    return sorted[below] * (1.0 - weight) + sorted[below + 1] * weight;
}

measure_summary measure_summarise(double *samples, size_t count)
{
    if (count == 0) {
        return (measure_summary){ NAN, NAN, NAN, NAN, NAN };
    }
    qsort(samples, count, sizeof *samples, compare_doubles);
    measure_summary summary = { .minimum = samples[0],
                                .median = quantile(samples, count, 0.5),
                                .low = quantile(samples, count, 0.25),
                                .high = quantile(samples, count, 0.75) };
    summary.spread = (summary.high - summary.low) / summary.median;
    return summary;
}

/* One run of one contestant. The wall clock is read outside of the CPU clock on both sides: reading
 * costs some tens of nanoseconds, runs take milliseconds. */
static bool run_once(const measure_contestant *contestant, measure_clock cpu_clock, double *out_cpu,
                     double *out_wall)
{
    if (contestant->prepare != NULL && !contestant->prepare(contestant->arg)) {
        return false;
    }
    const double wall = measure_now_ns(MEASURE_WALL);
    const double cpu = measure_now_ns(cpu_clock);
    bool good = contestant->run(contestant->arg);
    *out_cpu = measure_now_ns(cpu_clock) - cpu;
    *out_wall = measure_now_ns(MEASURE_WALL) - wall;
    if (contestant->clean_up != NULL && !contestant->clean_up(contestant->arg)) {
        good = false;
    }
    return good;
}

/* Samples of `count` contestants, `rounds` each. */
typedef struct sample_block {
    double *cpu;
    double *wall;
    size_t rounds;
} sample_block;

static bool take_samples(const measure_contestant *contestants, size_t count,
                         const measure_plan *plan, sample_block *samples)
{
    for (size_t round = 0; round <= plan->rounds; round++) {
        for (size_t turn = 0; turn < count; turn++) {
            const size_t who = (turn + round) % count;
            if (contestants[who].skipped != NULL) {
                continue;
            }
            double cpu = 0;
            double wall = 0;
            if (!run_once(&contestants[who], plan->cpu_clock, &cpu, &wall)) {
                fprintf(stderr, "%s: failed or gave a wrong result\n", contestants[who].name);
                return false;
            }
            if (round > 0) {
                samples->cpu[who * plan->rounds + round - 1] = cpu;
                samples->wall[who * plan->rounds + round - 1] = wall;
            }
        }
    }
    return true;
}

/* The slowest reference time with which a round is used. Sorts `reference`. */
static double find_threshold(double *reference, size_t rounds, size_t *out_quiet)
{
    qsort(reference, rounds, sizeof *reference, compare_doubles);
    const double quiet = reference[0] * MEASURE_QUIET;
    size_t count = 0;
    while (count < rounds && reference[count] <= quiet) {
        count++;
    }
    *out_quiet = count;
    const size_t least = rounds < MEASURE_MIN_ROUNDS ? rounds : MEASURE_MIN_ROUNDS;
    return count >= least ? quiet : reference[least - 1];
}

/* Keep the samples of used rounds: move them to the front of each row. */
static size_t keep_rounds(sample_block *samples, size_t count, const double *reference,
                          double threshold)
{
    size_t kept = 0;
    for (size_t round = 0; round < samples->rounds; round++) {
        if (reference[round] > threshold) {
            continue;
        }
        for (size_t who = 0; who < count; who++) {
            /* kept <= round, so only samples that are no longer needed are overwritten */
            double *cpu = samples->cpu + who * samples->rounds;
            double *wall = samples->wall + who * samples->rounds;
            cpu[kept] = cpu[round];
            wall[kept] = wall[round];
        }
        kept++;
    }
    return kept;
}

/* By the wall clock of the reference: it sees both kinds of disturbance. */
static bool choose_rounds(sample_block *samples, size_t count, size_t reference,
                          measure_rounds *out_rounds)
{
    *out_rounds = (measure_rounds){ samples->rounds, samples->rounds, samples->rounds };
    if (reference == MEASURE_NO_REFERENCE) {
        return true;
    }
    const size_t bytes = samples->rounds * sizeof(double);
    double *times = malloc(2 * bytes);
    if (times == NULL) {
        return false;
    }
    double *sorted = times + samples->rounds;
    memcpy(times, samples->wall + reference * samples->rounds, bytes);
    memcpy(sorted, times, bytes);
    const double threshold = find_threshold(sorted, samples->rounds, &out_rounds->quiet);
    out_rounds->used = keep_rounds(samples, count, times, threshold);
    free(times);
    return true;
}

bool measure_all(const measure_contestant *contestants, size_t count, const measure_plan *plan,
                 measure_result *out_results, measure_rounds *out_rounds)
{
    double *block = calloc(2 * count * plan->rounds, sizeof *block);
    if (block == NULL) {
        fputs("no memory for the samples\n", stderr);
        return false;
    }
    sample_block samples = { block, block + count * plan->rounds, plan->rounds };
    const bool good = take_samples(contestants, count, plan, &samples) &&
                      choose_rounds(&samples, count, plan->reference, out_rounds);
    for (size_t who = 0; good && who < count; who++) {
        const measure_contestant *one = &contestants[who];
        const size_t walls = one->skipped != NULL ? 0 : out_rounds->used;
        const size_t cpus = one->wall_only ? 0 : walls;
        out_results[who].cpu = measure_summarise(samples.cpu + who * plan->rounds, cpus);
        out_results[who].wall = measure_summarise(samples.wall + who * plan->rounds, walls);
    }
    free(block);
    return good;
}
