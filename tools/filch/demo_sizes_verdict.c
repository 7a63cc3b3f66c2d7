/* SPDX-License-Identifier: MIT */
/* From the figures of `filch demo --sizes` to a sentence. Pure. */
#include "demo_sizes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double cpus_missing = 0.9; /* of those that a size could have */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

double sizes_median(const sizes_row *row)
{
    double values[DEMO_MOST_REPEATS];
    if (row->rounds == 0) {
        return 0;
    }
    memcpy(values, row->tasks_per_s, row->rounds * sizeof values[0]);
    qsort(values, row->rounds, sizeof values[0], by_value);
    return (values[(row->rounds - 1) / 2] + values[row->rounds / 2]) / 2;
}

double sizes_cpus_used(const sizes_row *row)
{
    return row->seconds > 0 ? row->cpu_seconds / row->seconds : 0;
}

uint64_t sizes_latency(const sizes_row *row, double part)
{
    if (row->requests == 0) {
        return 0;
    }
    const size_t rank = (size_t)(part * (double)row->requests);
    return row->latencies[rank < row->requests ? rank : row->requests - 1];
}

const sizes_row *sizes_best(const sizes_report *report)
{
    const sizes_row *best = &report->rows[0];
    for (unsigned i = 1; i < report->options->size_count; i++) {
        if (sizes_median(&report->rows[i]) > sizes_median(best)) {
            best = &report->rows[i];
        }
    }
    return best;
}

const sizes_row *sizes_of(const sizes_report *report, unsigned workers)
{
    for (unsigned i = 0; i < report->options->size_count; i++) {
        if (report->rows[i].workers == workers) {
            return &report->rows[i];
        }
    }
    return NULL;
}

bool sizes_got_its_cpus(const sizes_row *row, const filch_cpus *cpus)
{
    double could = row->workers < cpus->allowed ? row->workers : cpus->allowed;
    if (cpus->quota_us != 0 && (double)cpus->quota_us < could * (double)cpus->period_us) {
        could = (double)cpus->quota_us / (double)cpus->period_us;
    }
    return sizes_cpus_used(row) >= cpus_missing * could;
}

bool sizes_is_judged(const sizes_report *report)
{
    for (unsigned i = 0; i < report->options->size_count; i++) {
        if (!sizes_got_its_cpus(&report->rows[i], &report->cpus)) {
            return false;
        }
    }
    return true;
}

__attribute__((format(printf, 2, 3))) static void say(char out[DEMO_SENTENCE_BYTES],
                                                      const char *format, ...)
{
    va_list args;
    const size_t used = strlen(out);
    va_start(args, format);
    (void)vsnprintf(out + used, DEMO_SENTENCE_BYTES - used, format, args);
    va_end(args);
}

void sizes_sentence(const sizes_report *report, char out[DEMO_SENTENCE_BYTES])
{
    const filch_cpus *const cpus = &report->cpus;
    const sizes_row *const row = sizes_of(report, cpus->cpu_bound);
    const sizes_row *const best = sizes_best(report);
    char p99[CLI_NUMBER_BYTES];
    out[0] = '\0';
    say(out, "The default here is %u worker%s (%s)", cpus->cpu_bound, cli_plural(cpus->cpu_bound),
        cpus->why);
    if (row == NULL) {
        say(out, ", a size that was not asked for.");
        return;
    }
    if (row == best) {
        say(out, ": none of these sizes gets more done");
    } else {
        say(out, ": it gets %.0f %% of the most done, that of %u workers",
            100 * sizes_median(row) / sizes_median(best), best->workers);
    }
    say(out, ", a thread beside it waits at most %s in 99 %% of its requests",
        cli_duration(sizes_latency(row, 0.99), p99));
    if (row->has_throttling) {
        say(out, ", and the group was stopped in %" PRIu64 " of %" PRIu64 " periods",
            row->throttled, row->periods);
    }
    say(out, ".");
    if (!sizes_is_judged(report)) {
        say(out, " Not judged: other programs took CPUs meanwhile.");
    }
}
