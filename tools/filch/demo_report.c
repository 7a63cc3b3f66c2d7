/* SPDX-License-Identifier: MIT */
/* Printing the report of `filch demo`: a table for people, JSON for programs.
 *
 * The table is at most 80 columns wide; on a narrower terminal it leaves out first the workers
 * (they are in the heading), then the tasks. Results are shortened there, and in full in JSON. */
#define _POSIX_C_SOURCE 200809L

#include "demo.h"

#include "bench/support/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <filch/base.h>

enum { WIDE = 80, NO_WORKERS = 72, RESULT_SHOWN = 8 };

static const char *verdict_word(job_verdict verdict)
{
    static const char *const words[] = { "equal", "changed", "DIFFERS" };
    return words[verdict];
}

/* ---- table ---- */

/* "1,234 files": `noun` gets its s. */
static void print_count(const char *before, uint64_t number, const char *noun)
{
    char text[CLI_NUMBER_BYTES];
    printf("%s%s %s%s", before, cli_grouped(number, text), noun, cli_plural(number));
}

static void print_heading(const demo_report *report)
{
    const tree_counts *const c = &report->counts;
    char size[CLI_NUMBER_BYTES];
    char limit[CLI_NUMBER_BYTES];
    printf("filch %s, six jobs, three of them on %s\n", filch_version(), report->path);
    print_count("machine  ", report->cpus, "CPU");
    print_count(" allowed; ", report->workers, "worker");
    print_count(" in each pool\ntree     ", c->files, "file");
    print_count(", ", c->directories - 1, "sub-folder");
    print_count(", ", c->links, "link");
    const bool capped = c->left_out > 0 || c->stopped;
    printf("\nbytes    %s (limit %s%s)\n", cli_size(c->bytes, size),
           cli_size(report->options->byte_limit, limit), capped ? "; the tree holds more" : "");
    print_count("text     ", report->text_lines, "line");
    print_count(" in ", report->text_files, "file");
    printf(", %s\n", cli_size(report->text_bytes, size));
    printf("trouble  %" PRIu64 " unreadable", c->unreadable);
    print_count(", ", c->broken_links, "broken link");
    printf(", %" PRIu64 " neither file, folder nor link", c->skipped);
    if (c->resized > 0) {
        printf(", %" PRIu64 " resized", c->resized);
    }
    printf("\nqueens   a board of %u x %u\n\n", report->options->board, report->options->board);
}

static void print_titles(unsigned columns)
{
    printf("%-8s%-13s%8s%9s", "job", "contestant", "time", "speed-up");
    if (columns >= NO_WORKERS) {
        printf("%9s", "tasks");
    }
    printf("%7s", "steals");
    if (columns >= WIDE) {
        printf("%8s", "workers");
    }
    printf("  result\n");
}

static void print_number(bool known, uint64_t number, int width)
{
    char text[CLI_NUMBER_BYTES] = "-";
    if (known) {
        cli_grouped(number, text);
    }
    printf("%*s", width, text);
}

static void print_cell(const demo_report *report, const demo_row *row, int i, unsigned columns)
{
    const demo_cell *const cell = &row->cells[i];
    const double factor = demo_speed_up(report, row, cell);
    printf("%-8s%-13s%6.3f s", i == 0 ? row->job : "", report->names[i],
           demo_median_seconds(report, cell));
    if (factor > 0) {
        printf("%9.2f", factor);
    } else {
        printf("%9s", "-");
    }
    if (columns >= NO_WORKERS) {
        print_number(true, row->tasks, 9);
    }
    print_number(i == CONTESTANT_STEALING, demo_median_steals(report, cell), 7);
    if (columns >= WIDE) {
        printf("%8u", report->threads[i]);
    }
    printf("  %-*.*s %s\n", RESULT_SHOWN, RESULT_SHOWN, cell->result, verdict_word(cell->verdict));
}

/* If no job is judged the sentence says so already. */
static void print_cpus(const demo_report *report)
{
    for (int i = 0; i < DEMO_JOBS; i++) {
        const demo_row *const row = &report->rows[i];
        if (demo_judges_any(report) && !demo_is_judged(report, row)) {
            printf("%s: %.2f CPUs were free for %u workers, so its speed-ups are not judged.\n",
                   row->job, demo_median_cpus(report, row), report->workers);
        }
    }
}

static void print_table(const demo_report *report)
{
    const unsigned columns = isatty(STDOUT_FILENO) ? cli_columns(STDOUT_FILENO) : WIDE;
    print_heading(report);
    print_titles(columns);
    for (int i = 0; i < DEMO_JOBS; i++) {
        for (int k = 0; k < CONTESTANTS; k++) {
            print_cell(report, &report->rows[i], k, columns);
        }
    }
    print_count("\nMedian of ", report->options->repeats, "repeat");
    printf(" after a warm-up; contestants took turns. %.1f s in all.\n", report->seconds);
    print_count("", report->steals, "steal");
    puts(report->workers == 1 ? ": with one worker there is nobody to steal from."
                              : " in all repeats together.");
    char sentence[DEMO_SENTENCE_BYTES];
    demo_sentence(report, sentence);
    putchar('\n');
    cli_print_wrapped(sentence);
    print_cpus(report);
    for (int i = 0; i < DEMO_JOBS; i++) {
        if (report->rows[i].note[0] != '\0') {
            printf("%s: %s\n", report->rows[i].job, report->rows[i].note);
        }
    }
}

/* ---- JSON ---- */

static void print_json_tree(json *j, const demo_report *report)
{
    const tree_counts *const c = &report->counts;
    json_open(j, "tree", '{');
    json_text(j, "path", report->path);
    json_number(j, "byte_limit", report->options->byte_limit);
    json_number(j, "bytes", c->bytes);
    json_number(j, "files", c->files);
    json_number(j, "directories", c->directories);
    json_number(j, "links", c->links);
    json_number(j, "unreadable", c->unreadable);
    json_number(j, "broken_links", c->broken_links);
    json_number(j, "skipped", c->skipped);
    json_number(j, "resized", c->resized);
    json_number(j, "left_out", c->left_out);
    json_bool(j, "complete", c->left_out == 0 && !c->stopped);
    json_number(j, "text_files", report->text_files);
    json_number(j, "text_bytes", report->text_bytes);
    json_number(j, "text_lines", report->text_lines);
    json_close(j, '}');
}

static void print_json_cell(json *j, const demo_report *report, const demo_row *row, int i)
{
    const demo_cell *const cell = &row->cells[i];
    json_open(j, NULL, '{');
    json_text(j, "contestant", report->names[i]);
    json_number(j, "workers", report->threads[i]);
    json_real(j, "seconds", demo_median_seconds(report, cell));
    json_real(j, "speed_up", demo_speed_up(report, row, cell));
    if (i == CONTESTANT_STEALING) {
        json_number(j, "steals", demo_median_steals(report, cell));
    } else {
        json_null(j, "steals");
    }
    json_text(j, "result", cell->result);
    json_text(j, "verdict", cell->verdict == JOB_DIFFERS ? "differs" : verdict_word(cell->verdict));
    json_open(j, "all_seconds", '[');
    for (unsigned repeat = 0; repeat < report->options->repeats; repeat++) {
        json_real(j, NULL, cell->seconds[repeat]);
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void print_json_row(json *j, const demo_report *report, const demo_row *row)
{
    json_open(j, NULL, '{');
    json_text(j, "job", row->job);
    json_number(j, "tasks", row->tasks);
    json_real(j, "cpus_free", demo_median_cpus(report, row));
    json_bool(j, "judged", demo_is_judged(report, row));
    json_text(j, "note", row->note[0] != '\0' ? row->note : NULL);
    json_open(j, "contestants", '[');
    for (int i = 0; i < CONTESTANTS; i++) {
        print_json_cell(j, report, row, i);
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void print_json(const demo_report *report)
{
    json j;
    json_begin(&j, stdout);
    json_text(&j, "command", "demo");
    json_text(&j, "version", filch_version());
    json_number(&j, "cpus_allowed", report->cpus);
    json_number(&j, "workers", report->workers);
    json_number(&j, "repeats", report->options->repeats);
    json_number(&j, "board", report->options->board);
    print_json_tree(&j, report);
    json_open(&j, "jobs", '[');
    for (int i = 0; i < DEMO_JOBS; i++) {
        print_json_row(&j, report, &report->rows[i]);
    }
    json_close(&j, ']');
    char sentence[DEMO_SENTENCE_BYTES];
    demo_sentence(report, sentence);
    json_text(&j, "sentence", sentence);
    json_number(&j, "steals", report->steals);
    json_real(&j, "seconds", report->seconds);
    json_bool(&j, "ok", !demo_has_difference(report) && !demo_lacks_steals(report));
    json_end(&j);
}

void demo_print(const demo_report *report)
{
    if (cli_wants_json(report->options->form)) {
        print_json(report);
    } else {
        print_table(report);
    }
}
