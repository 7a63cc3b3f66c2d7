/* SPDX-License-Identifier: MIT */
/* The passes of `filch demo`: each job by each contestant, once to warm up, then R times.
 *
 * The order of the contestants rotates from repeat to repeat, so that none always runs first or on
 * a hotter machine. Every pass is checked, the warm-up too; only the work itself is timed, handing
 * the root task to the pool included. Times are compared by their medians. */
#define _POSIX_C_SOURCE 200809L

#include "demo.h"

#include "progress.h"

#include <stdlib.h>
#include <string.h>

#include <filch/base.h>

/* Shorter work may be over before a thief is awake on a busy machine. */
static const double LEAST_WORK_SECONDS = 0.05;

static void judge(job *j, demo_row *row, demo_cell *cell, job_verdict verdict)
{
    memcpy(cell->result, j->result, sizeof cell->result);
    job_verdict worst = JOB_EQUAL;
    for (int i = 0; i < PAR_CONTESTANTS; i++) {
        worst = row->cells[i].verdict > worst ? row->cells[i].verdict : worst;
    }
    if (verdict > worst) {
        memcpy(row->note, j->note, sizeof row->note);
    }
    cell->verdict = verdict > cell->verdict ? verdict : cell->verdict;
}

/* One pass; the caller owns the place for the time and the steals. */
static bool run_pass(job *j, par_contestant *on, demo_row *row, demo_cell *cell,
                     double *out_seconds, uint64_t *out_steals)
{
    if (j->prepare != NULL) {
        j->prepare(j->state);
    }
    const uint64_t steals_before = par_steals(on);
    (void)par_take_forks(on);
    const filch_time start = filch_time_now();
    const bool ran = j->run(j->state, on);
    *out_seconds = (double)(filch_time_now() - start) / 1e9;
    *out_steals = par_steals(on) - steals_before;
    cell->forks = par_take_forks(on);
    if (ran) {
        judge(j, row, cell, j->check(j->state));
    }
    return ran;
}

static bool warm_up(job *j, par_contestant *contestants, demo_row *row)
{
    for (int i = 0; i < PAR_CONTESTANTS; i++) {
        double seconds;
        uint64_t steals;
        progress_show("%s: warming up, %s", j->name, contestants[i].name);
        if (!run_pass(j, &contestants[i], row, &row->cells[i], &seconds, &steals)) {
            return false;
        }
    }
    return true;
}

static bool run_job(job *j, par_contestant *contestants, demo_report *report, demo_row *row)
{
    row->job = j->name;
    if (!warm_up(j, contestants, row)) {
        return false;
    }
    const unsigned repeats = report->options->repeats;
    for (unsigned repeat = 0; repeat < repeats; repeat++) {
        for (unsigned turn = 0; turn < PAR_CONTESTANTS; turn++) {
            const unsigned i = (repeat + turn) % PAR_CONTESTANTS;
            demo_cell *const cell = &row->cells[i];
            progress_show("%s: repeat %u of %u, %s", j->name, repeat + 1, repeats,
                          contestants[i].name);
            if (!run_pass(j, &contestants[i], row, cell, &cell->seconds[repeat],
                          &cell->steals[repeat])) {
                return false;
            }
            report->steals += cell->steals[repeat];
        }
    }
    return true;
}

const char *demo_run(job jobs[DEMO_JOBS], par_contestant contestants[PAR_CONTESTANTS],
                     demo_report *report)
{
    for (int i = 0; i < PAR_CONTESTANTS; i++) {
        report->names[i] = contestants[i].name;
        report->threads[i] = contestants[i].workers;
    }
    report->workers = contestants[PAR_STEALING].workers;
    for (int i = 0; i < DEMO_JOBS; i++) {
        if (!run_job(&jobs[i], contestants, report, &report->rows[i])) {
            return "a pool refused the work";
        }
    }
    return NULL;
}

bool demo_has_difference(const demo_report *report)
{
    for (int i = 0; i < DEMO_JOBS; i++) {
        for (int k = 0; k < PAR_CONTESTANTS; k++) {
            if (report->rows[i].cells[k].verdict == JOB_DIFFERS) {
                return true;
            }
        }
    }
    return false;
}

bool demo_lacks_steals(const demo_report *report)
{
    double seconds = 0;
    for (int i = 0; i < DEMO_JOBS; i++) {
        for (unsigned repeat = 0; repeat < report->options->repeats; repeat++) {
            seconds += report->rows[i].cells[PAR_STEALING].seconds[repeat];
        }
    }
    return report->workers >= 2 && report->steals == 0 && seconds >= LEAST_WORK_SECONDS;
}

static int by_seconds(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

double demo_median_seconds(const demo_report *report, const demo_cell *cell)
{
    const unsigned n = report->options->repeats;
    double sorted[DEMO_MOST_REPEATS];
    memcpy(sorted, cell->seconds, sizeof sorted);
    qsort(sorted, n, sizeof sorted[0], by_seconds);
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

uint64_t demo_median_steals(const demo_report *report, const demo_cell *cell)
{
    const unsigned n = report->options->repeats;
    uint64_t sorted[DEMO_MOST_REPEATS];
    memcpy(sorted, cell->steals, sizeof sorted);
    qsort(sorted, n, sizeof sorted[0], by_number);
    return sorted[n / 2];
}
