/* SPDX-License-Identifier: MIT */
/* What the files of `filch bench` share: who takes part, what is measured, what came out.
 *
 * bench.c reads the options, bench_field.c finds the contestants, bench_run.c measures,
 * bench_report.c prints. */
#ifndef FILCH_TOOLS_BENCH_H
#define FILCH_TOOLS_BENCH_H

#include "bench/grid/contestants.h"
#include "bench/support/measure.h"
#include "child.h"
#include "cli.h"

enum { BENCH_MOST_CONTESTANTS = 32, BENCH_MOST_ROWS = 48, BENCH_MOST_ROUNDS = 99 };
enum { BENCH_NAME_BYTES = 32, BENCH_NOTE_BYTES = 160 };

/* A spread above this is measured again. */
#define BENCH_CALM 0.05
enum { BENCH_PASSES = 3 };

/* One that takes part; names are unique. The first one is serial, by which all are judged. */
typedef struct bench_contestant {
    char name[BENCH_NAME_BYTES];
    char *program; /* of a peer; NULL: this program itself */
    char version[BENCH_NOTE_BYTES];
    char skipped[BENCH_NOTE_BYTES]; /* why it cannot take part; "": it does */
    child process;
} bench_contestant;

typedef enum bench_state { BENCH_RAN, BENCH_NONE, BENCH_BROKE, BENCH_WRONG } bench_state;

/* One workload by one contestant. */
typedef struct bench_cell {
    bench_state state;
    char note[BENCH_NOTE_BYTES]; /* if it did not run to the end */
    unsigned count;
    double wall_ns[BENCH_MOST_ROUNDS];
    double cpu_ns[BENCH_MOST_ROUNDS];
    measure_summary wall;
    measure_summary cpu;
} bench_cell;

typedef struct bench_row {
    grid_workload workload;
    char args[GRID_ARGS_BYTES];
    unsigned passes;
    double spread; /* the largest of its cells */
    bench_cell cells[BENCH_MOST_CONTESTANTS];
} bench_row;

typedef struct bench {
    unsigned workers;
    unsigned rounds; /* and one more, dropped */
    unsigned timeout_s;
    unsigned seconds; /* while these last, what is noisy is measured again */
    cli_form form;
    bool quiet;
    const char *peers; /* folder; NULL: none */
    double took_s;
    unsigned contestant_count;
    unsigned row_count;
    bench_contestant contestants[BENCH_MOST_CONTESTANTS];
    bench_row *rows; /* BENCH_MOST_ROWS */
} bench;

/* Put those whom `list` names into b->contestants, serial first; NULL: the usual ones. CLI_OK, or
 * an exit code after a message. */
int bench_choose(bench *b, const char *list);

/* Measure all rows; problems are in their cells. */
void bench_run(bench *b);

/* A comparison of contestants, for people and programs. */
enum { BENCH_VERDICT_BYTES = 200 };
const char *bench_verdict(const bench *b, const bench_row *row, char out[BENCH_VERDICT_BYTES]);

/* Serial's median over that of a cell; 0 if there is none. */
double bench_speed_up(const bench_row *row, const bench_cell *cell);
double bench_cpu_ratio(const bench_row *row, const bench_cell *cell);

void bench_print(const bench *b);

#endif
