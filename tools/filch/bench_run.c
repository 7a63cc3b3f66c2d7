/* SPDX-License-Identifier: MIT */
/* The rounds of `filch bench`. A round gives each contestant one turn; the order rotates, so that
 * none always comes after the same other one; the first round is dropped. What happens to the
 * machine happens to all of them.
 *
 * A contestant that crashes, hangs or answers nonsense is out for that workload and started anew for
 * the next one. If it cannot even be started it is out for good. */
#define _POSIX_C_SOURCE 200809L

#include "bench.h"

#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <filch/base.h>

enum { SLOW_ROUNDS = 3 };
static const double SLOW_NS = 1e9; /* who takes longer gets no more rounds than SLOW_ROUNDS */

static void set_note(char out[BENCH_NOTE_BYTES], const char *text)
{
    const size_t length = strnlen(text, BENCH_NOTE_BYTES - 1);
    memcpy(out, text, length);
    out[length] = '\0';
}

static bool start_contestant(const bench *b, bench_contestant *who)
{
    char serve[BENCH_NAME_BYTES + 16];
    char threads[16];
    char self[] = "/proc/self/exe";
    char command[] = "bench";
    snprintf(serve, sizeof serve, "--serve=%s", who->name);
    snprintf(threads, sizeof threads, "%u", b->workers);
    char *own[] = { self, command, serve, threads, NULL };
    char *peer[] = { who->program, threads, NULL };
    if (!child_start(&who->process, who->program != NULL ? peer : own, b->timeout_s)) {
        set_note(who->skipped, who->process.why);
        return false;
    }
    const char *const line = who->process.line;
    if (strncmp(line, "ready ", 6) != 0) {
        char note[BENCH_NOTE_BYTES];
        snprintf(note, sizeof note, "said '%.100s', not ready", line);
        set_note(who->skipped, note);
        child_end(&who->process);
        return false;
    }
    const char *const version = strchr(line + 6, ' ');
    set_note(who->version, version != NULL ? version + 1 : "");
    return true;
}

static void fail_cell(bench_cell *cell, bench_state state, const char *note)
{
    cell->state = state;
    set_note(cell->note, note);
}

/* "ok <wall> <cpu> <checksum>", nothing before, between or after. */
static bool read_answer(const char *line, double *out_wall, double *out_cpu, uint64_t *out_checksum)
{
    uint64_t number[3];
    if (strncmp(line, "ok", 2) != 0) {
        return false;
    }
    line += 2;
    for (int i = 0; i < 3; i++) {
        if (line[0] != ' ' || line[1] < '0' || line[1] > '9') {
            return false;
        }
        char *end = NULL;
        number[i] = strtoull(line + 1, &end, 10);
        line = end;
    }
    *out_wall = (double)number[0];
    *out_cpu = (double)number[1];
    *out_checksum = number[2];
    return *line == '\0' && number[0] > 0;
}

/* What serial found at its first turn; without it there is nothing to compare with. */
typedef struct reference {
    bool known;
    uint64_t checksum;
} reference;

/* One turn of one contestant. */
static void take_turn(const bench *b, bench_row *row, unsigned number, bench_contestant *who,
                      bool counts, reference *right)
{
    bench_cell *const cell = &row->cells[number];
    char question[GRID_ARGS_BYTES + 32];
    double wall = 0;
    double cpu = 0;
    uint64_t found = 0;
    snprintf(question, sizeof question, "run %s %s", grid_workloads[row->workload].name, row->args);
    if (!child_ask(&who->process, question, b->timeout_s)) {
        fail_cell(cell, BENCH_BROKE, who->process.why);
        return;
    }
    const char *const line = who->process.line;
    if (strncmp(line, "none ", 5) == 0) {
        fail_cell(cell, BENCH_NONE, line + 5);
        return;
    }
    if (!read_answer(line, &wall, &cpu, &found)) {
        char note[BENCH_NOTE_BYTES];
        snprintf(note, sizeof note, "answered '%.100s'", line);
        fail_cell(cell, BENCH_BROKE, note);
        return;
    }
    if (number == 0 && !right->known) {
        *right = (reference){ true, found };
    }
    if (found != right->checksum) {
        char note[BENCH_NOTE_BYTES];
        snprintf(note, sizeof note, "checksum %" PRIu64 " instead of %" PRIu64, found,
                 right->checksum);
        fail_cell(cell, BENCH_WRONG, note);
    } else if (counts) {
        cell->wall_ns[cell->count] = wall;
        cell->cpu_ns[cell->count] = cpu;
        cell->count++;
    }
}

static bool wants_turn(const bench *b, const bench_row *row, unsigned number)
{
    const bench_cell *const cell = &row->cells[number];
    const bool slow = cell->count >= SLOW_ROUNDS && cell->wall_ns[0] > SLOW_NS;
    return b->contestants[number].skipped[0] == '\0' && cell->state == BENCH_RAN && !slow;
}

static void summarise(const bench *b, bench_row *row)
{
    row->spread = 0;
    for (unsigned i = 0; i < b->contestant_count; i++) {
        bench_cell *const cell = &row->cells[i];
        cell->count = cell->state == BENCH_RAN ? cell->count : 0;
        cell->wall = measure_summarise(cell->wall_ns, cell->count);
        cell->cpu = measure_summarise(cell->cpu_ns, cell->count);
        if (cell->count > 0 && cell->wall.spread > row->spread) {
            row->spread = cell->wall.spread;
        }
    }
}

static void measure_row(bench *b, bench_row *row)
{
    reference right = { false, 0 };
    for (unsigned i = 0; i < b->contestant_count; i++) {
        bench_contestant *const who = &b->contestants[i];
        if (who->process.pid == 0 && who->skipped[0] == '\0') {
            progress_show("starting %s", who->name);
            start_contestant(b, who);
        }
    }
    for (unsigned round = 0; round <= b->rounds; round++) {
        for (unsigned turn = 0; turn < b->contestant_count; turn++) {
            const unsigned number = (turn + round) % b->contestant_count;
            bench_contestant *const who = &b->contestants[number];
            if (wants_turn(b, row, number) && (number == 0 || right.known)) {
                progress_show("%s %s, round %u of %u: %s", grid_workloads[row->workload].name,
                              row->args, round, b->rounds, who->name);
                take_turn(b, row, number, who, round > 0, &right);
            }
        }
    }
    summarise(b, row);
}

/* Measure a row once more, and keep the calmer of the two. */
static void repeat_row(bench *b, bench_row *row, bench_row *scratch)
{
    *scratch = (bench_row){ .workload = row->workload, .passes = row->passes + 1 };
    memcpy(scratch->args, row->args, sizeof row->args);
    measure_row(b, scratch);
    bool broke = false;
    for (unsigned i = 0; i < b->contestant_count; i++) {
        broke = broke || (scratch->cells[i].state != row->cells[i].state);
    }
    if (broke || scratch->spread < row->spread) {
        *row = *scratch;
    } else {
        row->passes++;
    }
}

void bench_run(bench *b)
{
    const filch_time start = filch_time_now();
    const filch_time end = filch_time_after_ms((uint64_t)b->seconds * 1000);
    bench_row *const scratch = calloc(1, sizeof *scratch);
    for (unsigned i = 0; i < b->row_count; i++) {
        b->rows[i].passes = 1;
        measure_row(b, &b->rows[i]);
    }
    for (unsigned pass = 1; scratch != NULL && pass < BENCH_PASSES; pass++) {
        for (unsigned i = 0; i < b->row_count && filch_time_now() < end; i++) {
            if (b->rows[i].spread > BENCH_CALM) {
                repeat_row(b, &b->rows[i], scratch);
            }
        }
    }
    for (unsigned i = 0; i < b->contestant_count; i++) {
        child_end(&b->contestants[i].process);
    }
    free(scratch);
    progress_clear();
    b->took_s = (double)(filch_time_now() - start) / 1e9;
}
