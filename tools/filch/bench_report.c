/* SPDX-License-Identifier: MIT */
/* Printing what `filch bench` found: a table for people, JSON for programs, and one sentence for
 * each workload, made from the figures. */
#define _POSIX_C_SOURCE 200809L

#include "bench.h"

#include "bench/support/json.h"
#include "bench/support/machine.h"

#include <stdio.h>
#include <string.h>

#include <filch/base.h>

static bool has_figures(const bench_cell *cell)
{
    return cell->state == BENCH_RAN && cell->count > 0 && cell->wall.median > 0;
}

double bench_speed_up(const bench_row *row, const bench_cell *cell)
{
    const bench_cell *const serial = &row->cells[0];
    return has_figures(cell) && has_figures(serial) ? serial->wall.median / cell->wall.median : 0;
}

double bench_cpu_ratio(const bench_row *row, const bench_cell *cell)
{
    const bench_cell *const serial = &row->cells[0];
    return has_figures(cell) && has_figures(serial) && serial->cpu.median > 0
               ? cell->cpu.median / serial->cpu.median
               : 0;
}

/* ---- the sentence ---- */

static bool is_serial(const bench_contestant *who)
{
    return strncmp(who->name, "serial", 6) == 0;
}

/* The fastest of the pools, other than `but`; -1: there is none. */
static int find_fastest(const bench *b, const bench_row *row, int but)
{
    int best = -1;
    for (unsigned i = 1; i < b->contestant_count; i++) {
        const bench_cell *const cell = &row->cells[i];
        if ((int)i != but && !is_serial(&b->contestants[i]) && has_figures(cell) &&
            (best < 0 || cell->wall.median < row->cells[best].wall.median)) {
            best = (int)i;
        }
    }
    return best;
}

/* Their quartiles overlap, or there is next to nothing between them. */
static bool is_tie(const bench_cell *fast, const bench_cell *slow)
{
    return fast->wall.high >= slow->wall.low || slow->wall.median < fast->wall.median * 1.01;
}

static const char *show_lead(const bench_cell *fast, const bench_cell *slow,
                             char out[CLI_NUMBER_BYTES])
{
    const double factor = slow->wall.median / fast->wall.median;
    if (factor < 1.1) {
        snprintf(out, CLI_NUMBER_BYTES, "%.0f %% faster than", (factor - 1) * 100);
    } else {
        snprintf(out, CLI_NUMBER_BYTES, "%.*f times as fast as", factor < 10 ? 2 : 0, factor);
    }
    return out;
}

const char *bench_verdict(const bench *b, const bench_row *row, char out[BENCH_VERDICT_BYTES])
{
    const int first = find_fastest(b, row, -1);
    const bench_cell *const serial = &row->cells[0];
    char lead[CLI_NUMBER_BYTES];
    if (first < 0 || !has_figures(serial)) {
        snprintf(out, BENCH_VERDICT_BYTES, "nothing to compare");
        return out;
    }
    const int second = find_fastest(b, row, first);
    const bench_cell *const best = &row->cells[first];
    const char *const name = b->contestants[first].name;
    const char *const next = second >= 0 ? b->contestants[second].name : "";
    int used;
    if (second < 0) {
        used = snprintf(out, BENCH_VERDICT_BYTES, "%s is the only pool", name);
    } else if (is_tie(best, &row->cells[second])) {
        used = snprintf(out, BENCH_VERDICT_BYTES, "%s and %s are the fastest pools", name, next);
    } else {
        used = snprintf(out, BENCH_VERDICT_BYTES, "%s is the fastest pool, %s %s", name,
                        show_lead(best, &row->cells[second], lead), next);
    }
    char *const rest = out + used;
    const size_t room = (size_t)(BENCH_VERDICT_BYTES - used);
    if (serial->wall.median < best->wall.median && !is_tie(serial, best)) {
        snprintf(rest, room, "; serial is %s that", show_lead(serial, best, lead));
    } else if (serial->wall.median > best->wall.median && !is_tie(best, serial)) {
        snprintf(rest, room, "; %s serial", show_lead(best, serial, lead));
    } else {
        snprintf(rest, room, "; about as fast as serial");
    }
    return out;
}

/* ---- table ---- */

static const char *show_time(double ns, char out[CLI_NUMBER_BYTES])
{
    static const struct unit {
        double ns;
        const char *name;
    } units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
    size_t unit = 0;
    while (unit < 3 && ns < units[unit].ns) {
        unit++;
    }
    const double value = ns / units[unit].ns;
    snprintf(out, CLI_NUMBER_BYTES, "%.*f %-2s",
             value < 10    ? 2
             : value < 100 ? 1
                           : 0,
             value, units[unit].name);
    return out;
}

static void print_factor(double factor, int width)
{
    if (factor <= 0) {
        printf("%*s", width, "-");
    } else {
        printf("%*.*f", width, factor < 0.1 ? 4 : factor < 100 ? 2 : 0, factor);
    }
}

static void print_cell(const bench *b, const bench_row *row, unsigned i)
{
    static const char *const words[] = { "", "none: ", "BROKE: ", "WRONG: " };
    const bench_cell *const cell = &row->cells[i];
    const bench_contestant *const who = &b->contestants[i];
    char text[CLI_NUMBER_BYTES];
    if (who->skipped[0] != '\0') {
        return;
    }
    printf("  %-18s", who->name);
    if (!has_figures(cell)) {
        const bool unasked = cell->state == BENCH_RAN;
        printf("%s%.100s\n", words[cell->state],
               unasked ? "not run: serial has no result" : cell->note);
        return;
    }
    printf("%10s", show_time(cell->wall.median, text));
    print_factor(bench_speed_up(row, cell), 10);
    print_factor(bench_cpu_ratio(row, cell), 8);
    printf("%8.1f %%%s\n", cell->wall.spread * 100, cell->wall.spread > BENCH_CALM ? " ~" : "");
}

static void print_row(const bench *b, const bench_row *row)
{
    char verdict[BENCH_VERDICT_BYTES];
    const grid_workload_info *const info = &grid_workloads[row->workload];
    printf("\n%s %s: %s\n", info->name, row->args, info->what);
    printf("  %-18s%9s%11s%8s%10s\n", "contestant", "time", "speed-up", "CPU", "spread");
    for (unsigned i = 0; i < b->contestant_count; i++) {
        print_cell(b, row, i);
    }
    printf("  %s\n", bench_verdict(b, row, verdict));
}

static void print_table(const bench *b, const machine *here)
{
    printf("filch %s, %u worker%s; medians of %u round%s, in %.0f s\n", filch_version(), b->workers,
           cli_plural(b->workers), b->rounds, cli_plural(b->rounds), b->took_s);
    machine_print(here, stdout);
    puts("speed-up and CPU: compared with serial; ~: too noisy to say much");
    for (unsigned i = 0; i < b->contestant_count; i++) {
        if (b->contestants[i].skipped[0] != '\0') {
            printf("skipped: %s: %s\n", b->contestants[i].name, b->contestants[i].skipped);
        }
    }
    for (unsigned i = 0; i < b->row_count; i++) {
        print_row(b, &b->rows[i]);
    }
}

/* ---- JSON ---- */

static void write_summary(json *out, const char *key, const measure_summary *summary)
{
    json_open(out, key, '{');
    json_real(out, "min", summary->minimum);
    json_real(out, "median", summary->median);
    json_real(out, "low", summary->low);
    json_real(out, "high", summary->high);
    json_real(out, "spread", summary->spread);
    json_close(out, '}');
}

static void write_cell(const bench *b, const bench_row *row, unsigned i, json *out)
{
    static const char *const words[] = { "ran", "none", "broke", "wrong" };
    const bench_cell *const cell = &row->cells[i];
    json_open(out, NULL, '{');
    json_text(out, "contestant", b->contestants[i].name);
    if (has_figures(cell)) {
        json_text(out, "state", words[BENCH_RAN]);
        json_number(out, "rounds", cell->count);
        write_summary(out, "wall_ns", &cell->wall);
        write_summary(out, "cpu_ns", &cell->cpu);
        json_real(out, "speed_up", bench_speed_up(row, cell));
        json_real(out, "cpu_ratio", bench_cpu_ratio(row, cell));
    } else {
        json_text(out, "state", cell->state == BENCH_RAN ? "not run" : words[cell->state]);
        json_text(out, "note", cell->note);
    }
    json_close(out, '}');
}

static void write_row(const bench *b, const bench_row *row, json *out)
{
    char verdict[BENCH_VERDICT_BYTES];
    json_open(out, NULL, '{');
    json_text(out, "workload", grid_workloads[row->workload].name);
    json_text(out, "args", row->args);
    json_text(out, "what", grid_workloads[row->workload].what);
    json_number(out, "passes", row->passes);
    json_real(out, "spread", row->spread);
    json_open(out, "results", '[');
    for (unsigned i = 0; i < b->contestant_count; i++) {
        if (b->contestants[i].skipped[0] == '\0') {
            write_cell(b, row, i, out);
        }
    }
    json_close(out, ']');
    json_text(out, "verdict", bench_verdict(b, row, verdict));
    json_close(out, '}');
}

static void print_json(const bench *b, const machine *here)
{
    json out;
    json_begin(&out, stdout);
    json_text(&out, "benchmark", "grid");
    json_text(&out, "filch", filch_version());
    machine_write_json(here, &out);
    json_number(&out, "workers", b->workers);
    json_number(&out, "rounds", b->rounds);
    json_real(&out, "seconds", b->took_s);
    json_open(&out, "contestants", '[');
    for (unsigned i = 0; i < b->contestant_count; i++) {
        const bench_contestant *const who = &b->contestants[i];
        const bool skipped = who->skipped[0] != '\0';
        json_open(&out, NULL, '{');
        json_text(&out, "name", who->name);
        json_text(&out, skipped ? "skipped" : "version", skipped ? who->skipped : who->version);
        json_close(&out, '}');
    }
    json_close(&out, ']');
    json_open(&out, "workloads", '[');
    for (unsigned i = 0; i < b->row_count; i++) {
        write_row(b, &b->rows[i], &out);
    }
    json_close(&out, ']');
    json_end(&out);
}

void bench_print(const bench *b)
{
    machine here;
    machine_describe(&here);
    if (cli_wants_json(b->form)) {
        print_json(b, &here);
    } else {
        print_table(b, &here);
    }
}
