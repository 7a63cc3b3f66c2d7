/* SPDX-License-Identifier: MIT */
/* The passes of `filch demo`: each job by each contestant, once to warm up, then R times.
 *
 * The order of the contestants rotates from repeat to repeat, so that none always runs first or on
 * a hotter machine. Every pass is checked, the warm-up too; only the work itself is timed, handing
 * the root task to the pool included. Times are compared by their medians. */
#define _POSIX_C_SOURCE 200809L

#include "demo.h"

#include "bench/support/cores.h"
#include "progress.h"

#include <string.h>

#include <filch/base.h>

/* Shorter work may be over before a thief is awake on a busy machine. */
static const double LEAST_WORK_SECONDS = 0.05;

static void judge(job *j, demo_row *row, demo_cell *cell, job_verdict verdict)
{
    memcpy(cell->result, j->result, sizeof cell->result);
    job_verdict worst = JOB_EQUAL;
    for (int i = 0; i < CONTESTANTS; i++) {
        worst = row->cells[i].verdict > worst ? row->cells[i].verdict : worst;
    }
    if (verdict > worst) {
        memcpy(row->note, j->note, sizeof row->note);
    }
    cell->verdict = verdict > cell->verdict ? verdict : cell->verdict;
}

static double run_pass(job *j, const contestant *on)
{
    if (j->prepare != NULL) {
        j->prepare(j->state);
    }
    const filch_time start = filch_time_now();
    j->run(j->state, on);
    return (double)(filch_time_now() - start) / 1e9;
}

static void warm_up(job *j, const contestant *contestants, demo_row *row)
{
    for (int i = 0; i < CONTESTANTS; i++) {
        progress_show("%s: warming up, %s", j->name, contestants[i].name);
        (void)run_pass(j, &contestants[i]);
        judge(j, row, &row->cells[i], j->check(j->state));
    }
    task_counter counter = { 0 };
    const contestant counting = task_counter_contestant(&counter);
    progress_show("%s: counting tasks", j->name);
    (void)run_pass(j, &counting);
    row->tasks = counter.tasks;
}

static void run_job(job *j, const contestant *contestants, demo_report *report, demo_row *row)
{
    const unsigned repeats = report->options->repeats;
    row->job = j->name;
    warm_up(j, contestants, row);
    for (unsigned repeat = 0; repeat < repeats; repeat++) {
        row->cpus[repeat] = cores_free(report->workers);
        for (unsigned turn = 0; turn < CONTESTANTS; turn++) {
            const unsigned i = (repeat + turn) % CONTESTANTS;
            const contestant *const on = &contestants[i];
            demo_cell *const cell = &row->cells[i];
            progress_show("%s: repeat %u of %u, %s", j->name, repeat + 1, repeats, on->name);
            const uint64_t steals_before = on->design->life->steals(on->pool);
            cell->seconds[repeat] = run_pass(j, on);
            cell->steals[repeat] = on->design->life->steals(on->pool) - steals_before;
            judge(j, row, cell, j->check(j->state));
            report->steals += cell->steals[repeat];
        }
    }
}

void demo_run(job jobs[DEMO_JOBS], const contestant contestants[CONTESTANTS], demo_report *report)
{
    for (int i = 0; i < CONTESTANTS; i++) {
        report->names[i] = contestants[i].name;
        report->threads[i] = contestants[i].threads;
    }
    for (int i = 0; i < DEMO_JOBS; i++) {
        run_job(&jobs[i], contestants, report, &report->rows[i]);
    }
}

bool demo_has_difference(const demo_report *report)
{
    for (int i = 0; i < DEMO_JOBS; i++) {
        for (int k = 0; k < CONTESTANTS; k++) {
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
            seconds += report->rows[i].cells[CONTESTANT_STEALING].seconds[repeat];
        }
    }
    return report->workers >= 2 && report->steals == 0 && seconds >= LEAST_WORK_SECONDS;
}
