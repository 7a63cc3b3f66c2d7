/* SPDX-License-Identifier: MIT */
/* Printing what `filch demo --sizes` found. */
#include "demo_sizes.h"

#include "bench/support/json.h"

#include <inttypes.h>
#include <stdio.h>

#include <filch/base.h>

static double quota_of(const filch_cpus *cpus)
{
    return (double)cpus->quota_us / (double)cpus->period_us;
}

static void print_heading(const sizes_report *report)
{
    const filch_cpus *const cpus = &report->cpus;
    printf("filch %s, pools of different sizes at full load, %u CPU%s allowed, ", filch_version(),
           cpus->allowed, cli_plural(cpus->allowed));
    if (cpus->quota_us != 0) {
        printf("quota %.6g\n\n", quota_of(cpus));
    } else {
        puts("no quota\n");
    }
    printf("%7s %9s %8s %6s  %9s %9s  %s\n", "workers", "tasks/s", "of best", "CPUs", "p50", "p99",
           "throttled");
}

static void print_row(const sizes_report *report, const sizes_row *row)
{
    char number[CLI_NUMBER_BYTES];
    char middle[CLI_NUMBER_BYTES];
    char high[CLI_NUMBER_BYTES];
    const double best = sizes_median(sizes_best(report));
    printf("%7u %9s %6.0f %% %6.2f  %9s %9s  ", row->workers,
           cli_grouped((uint64_t)sizes_median(row), number), 100 * sizes_median(row) / best,
           sizes_cpus_used(row), cli_duration(sizes_latency(row, 0.5), middle),
           cli_duration(sizes_latency(row, 0.99), high));
    if (row->has_throttling) {
        printf("%" PRIu64 " of %" PRIu64 " periods", row->throttled, row->periods);
    } else {
        printf("-");
    }
    printf("%s", row->workers == report->cpus.cpu_bound ? "  <- default" : "");
    puts(sizes_got_its_cpus(row, &report->cpus) ? "" : "  (disturbed)");
}

static void print_table(const sizes_report *report)
{
    char sentence[DEMO_SENTENCE_BYTES];
    print_heading(report);
    for (unsigned i = 0; i < report->options->size_count; i++) {
        print_row(report, &report->rows[i]);
    }
    printf("\np50, p99: how late a request is answered by a thread beside the pool; one is due\n"
           "every 2 ms and takes 0.05 ms. Median of %u round%s of a second; sizes took turns,\n"
           "and rounds in which others took CPUs were repeated. %.1f s in all.\n\n",
           report->options->repeats, cli_plural(report->options->repeats), report->seconds);
    sizes_sentence(report, sentence);
    cli_print_wrapped(sentence);
}

static void print_json_row(json *j, const sizes_report *report, const sizes_row *row)
{
    const double best = sizes_median(sizes_best(report));
    json_open(j, NULL, '{');
    json_number(j, "workers", row->workers);
    json_real(j, "tasks_per_s", sizes_median(row));
    json_real(j, "part_of_best", sizes_median(row) / best);
    json_real(j, "cpus_used", sizes_cpus_used(row));
    json_number(j, "rounds", row->rounds);
    json_number(j, "disturbed", row->disturbed);
    json_number(j, "requests", row->requests);
    json_number(j, "p50_ns", sizes_latency(row, 0.5));
    json_number(j, "p99_ns", sizes_latency(row, 0.99));
    json_number(j, "longest_ns", sizes_latency(row, 1));
    if (row->has_throttling) {
        json_number(j, "periods", row->periods);
        json_number(j, "throttled", row->throttled);
        json_number(j, "throttled_us", row->throttled_us);
    } else {
        json_null(j, "periods");
        json_null(j, "throttled");
        json_null(j, "throttled_us");
    }
    json_open(j, "all_tasks_per_s", '[');
    for (unsigned i = 0; i < row->rounds; i++) {
        json_real(j, NULL, row->tasks_per_s[i]);
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void print_json(const sizes_report *report)
{
    const filch_cpus *const cpus = &report->cpus;
    char sentence[DEMO_SENTENCE_BYTES];
    json j;
    json_begin(&j, stdout);
    json_text(&j, "command", "demo --sizes");
    json_text(&j, "version", filch_version());
    json_number(&j, "cpus_allowed", cpus->allowed);
    if (cpus->quota_us != 0) {
        json_real(&j, "quota", quota_of(cpus));
    } else {
        json_null(&j, "quota");
    }
    json_number(&j, "default", cpus->cpu_bound);
    json_text(&j, "why", cpus->why);
    json_number(&j, "repeats", report->options->repeats);
    json_open(&j, "sizes", '[');
    for (unsigned i = 0; i < report->options->size_count; i++) {
        print_json_row(&j, report, &report->rows[i]);
    }
    json_close(&j, ']');
    json_bool(&j, "judged", sizes_is_judged(report));
    sizes_sentence(report, sentence);
    json_text(&j, "sentence", sentence);
    json_real(&j, "seconds", report->seconds);
    json_end(&j);
}

void sizes_print(const sizes_report *report)
{
    if (cli_wants_json(report->options->form)) {
        print_json(report);
    } else {
        print_table(report);
    }
}
