/* SPDX-License-Identifier: MIT */
/* Who won, and why, from the figures of a report and nothing else.
 *
 * A job is won when its winner is EDGE times as fast as the next one; plain calls count too. The
 * reason is read off the figures as well: how long a task is on the average, how many there are,
 * and who came in second. */
#include "demo.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double EDGE = 1.05;
static const double ENOUGH_CPUS = 0.975;
static const double LITTLE_GAIN = 1.25;
static const double SHORT_TASK = 10e-6; /* seconds; below, handing it over is a good part of it */

typedef enum outcome { WON, LEVEL, LOST, SERIAL_WON, NOT_JUDGED, OUTCOMES } outcome;

static int by_real(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double values[DEMO_MOST_REPEATS], unsigned count)
{
    double sorted[DEMO_MOST_REPEATS];
    memcpy(sorted, values, sizeof sorted);
    qsort(sorted, count, sizeof sorted[0], by_real);
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

double demo_median_seconds(const demo_report *report, const demo_cell *cell)
{
    return median(cell->seconds, report->options->repeats);
}

double demo_median_cpus(const demo_report *report, const demo_row *row)
{
    return median(row->cpus, report->options->repeats);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

uint64_t demo_median_steals(const demo_report *report, const demo_cell *cell)
{
    const unsigned n = report->options->repeats;
    uint64_t sorted[DEMO_MOST_REPEATS];
    memcpy(sorted, cell->steals, sizeof sorted);
    qsort(sorted, n, sizeof sorted[0], by_number);
    return sorted[n / 2];
}

double demo_speed_up(const demo_report *report, const demo_row *row, const demo_cell *cell)
{
    const double serial = demo_median_seconds(report, &row->cells[CONTESTANT_SERIAL]);
    const double own = demo_median_seconds(report, cell);
    return own > 0 ? serial / own : 0;
}

static unsigned wanted_cpus(const demo_report *report)
{
    return report->workers < report->cpus ? report->workers : report->cpus;
}

bool demo_is_judged(const demo_report *report, const demo_row *row)
{
    return demo_median_cpus(report, row) >= ENOUGH_CPUS * wanted_cpus(report);
}

bool demo_judges_any(const demo_report *report)
{
    for (int i = 0; i < DEMO_JOBS; i++) {
        if (demo_is_judged(report, &report->rows[i])) {
            return true;
        }
    }
    return false;
}

static double seconds_of(const demo_report *report, const demo_row *row, int who)
{
    return demo_median_seconds(report, &row->cells[who]);
}

/* The faster of the two that are compared with stealing. */
static int best_rival(const demo_report *report, const demo_row *row)
{
    return seconds_of(report, row, CONTESTANT_STATIC) < seconds_of(report, row, CONTESTANT_QUEUE)
               ? CONTESTANT_STATIC
               : CONTESTANT_QUEUE;
}

/* By how much stealing is ahead of the best rival; below 1: behind. */
static double lead(const demo_report *report, const demo_row *row)
{
    const double own = seconds_of(report, row, CONTESTANT_STEALING);
    return own > 0 ? seconds_of(report, row, best_rival(report, row)) / own : 1;
}

static outcome outcome_of(const demo_report *report, const demo_row *row)
{
    const double stealing = demo_speed_up(report, row, &row->cells[CONTESTANT_STEALING]);
    const double rival = demo_speed_up(report, row, &row->cells[best_rival(report, row)]);
    if (!demo_is_judged(report, row)) {
        return NOT_JUDGED;
    }
    if (stealing * EDGE < 1 && rival * EDGE < 1) {
        return SERIAL_WON;
    }
    const double ahead = lead(report, row);
    return ahead > EDGE ? WON : ahead * EDGE < 1 ? LOST : LEVEL;
}

/* ---- words ---- */

typedef struct sentence {
    char *text;
    size_t length;
} sentence;

__attribute__((format(printf, 2, 3))) static void say(sentence *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int added = vsnprintf(s->text + s->length, DEMO_SENTENCE_BYTES - s->length, format, args);
    va_end(args);
    if (added > 0) {
        s->length += (size_t)added;
        s->length = s->length < DEMO_SENTENCE_BYTES ? s->length : DEMO_SENTENCE_BYTES - 1;
    }
}

/* "a, b and c": the jobs that ended so. */
static void say_jobs(sentence *s, const demo_report *report, outcome wanted)
{
    const char *names[DEMO_JOBS];
    int count = 0;
    for (int i = 0; i < DEMO_JOBS; i++) {
        if (outcome_of(report, &report->rows[i]) == wanted) {
            names[count++] = report->rows[i].job;
        }
    }
    for (int i = 0; i < count; i++) {
        say(s, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " and ", names[i]);
    }
}

static double task_seconds(const demo_report *report, const demo_row *row)
{
    return row->tasks == 0 ? 0 : seconds_of(report, row, CONTESTANT_SERIAL) / (double)row->tasks;
}

/* "64 tasks of 1.9 ms" */
static void say_tasks(sentence *s, const demo_report *report, const demo_row *row)
{
    const double length = task_seconds(report, row);
    char tasks[CLI_NUMBER_BYTES];
    say(s, "%s tasks of ", cli_grouped(row->tasks, tasks));
    if (length < 1e-6) {
        say(s, "%.0f ns", length * 1e9);
    } else if (length < 1e-3) {
        say(s, "%.1f us", length * 1e6);
    } else {
        say(s, "%.1f ms", length * 1e3);
    }
}

/* The job that ended so with stealing furthest ahead, or furthest behind. */
static const demo_row *clearest(const demo_report *report, outcome wanted)
{
    const demo_row *found = NULL;
    for (int i = 0; i < DEMO_JOBS; i++) {
        const demo_row *const row = &report->rows[i];
        if (outcome_of(report, row) != wanted) {
            continue;
        }
        const double step = found == NULL ? 0 : lead(report, row) - lead(report, found);
        if (found == NULL || (wanted == LOST ? step < 0 : step > 0)) {
            found = row;
        }
    }
    return found;
}

static void say_won(sentence *s, const demo_report *report, const demo_row *row)
{
    const int rival = best_rival(report, row);
    say(s, "stealing won ");
    say_jobs(s, report, WON);
    say(s, " (%s by %.2f times: ", row->job, lead(report, row));
    if (rival == CONTESTANT_STATIC) {
        say(s, "the shares of a static partition end up unequal");
    } else {
        say_tasks(s, report, row);
        say(s, task_seconds(report, row) < SHORT_TASK ? " all pass through one lock" : "");
    }
    say(s, ")");
}

static void say_lost(sentence *s, const demo_report *report, const demo_row *row)
{
    say(s, "it lost ");
    say_jobs(s, report, LOST);
    say(s, " (%s to the %s by %.2f times: ", row->job,
        best_rival(report, row) == CONTESTANT_STATIC ? "static partition" : "shared queue",
        1 / lead(report, row));
    say_tasks(s, report, row);
    say(s, task_seconds(report, row) < SHORT_TASK ? ", so their hand-over decides)"
                                                  : ", which need no balancing)");
}

static void say_level(sentence *s, const demo_report *report, const demo_row *row)
{
    say(s, "it made no difference on ");
    say_jobs(s, report, LEVEL);
    say(s, " (");
    say_tasks(s, report, row);
    say(s, " suit more than one design)");
}

static void say_serial(sentence *s, const demo_report *report, const demo_row *row)
{
    say(s, "plain calls won ");
    say_jobs(s, report, SERIAL_WON);
    say(s, " (");
    say_tasks(s, report, row);
    say(s, " are not worth handing over)");
}

static void say_outcomes(sentence *s, const demo_report *report)
{
    static void (*const parts[])(sentence * s, const demo_report *report, const demo_row *row) = {
        [WON] = say_won, [LEVEL] = say_level, [LOST] = say_lost, [SERIAL_WON] = say_serial
    };
    for (outcome o = WON; o <= SERIAL_WON; o++) {
        const demo_row *const row = clearest(report, o);
        if (row != NULL) {
            say(s, s->length == 0 ? "" : "; ");
            parts[o](s, report, row);
        }
    }
    if (clearest(report, NOT_JUDGED) != NULL) {
        say(s, "; not judged, as the CPUs were not free: ");
        say_jobs(s, report, NOT_JUDGED);
    }
}

static void say_alone(sentence *s, const demo_report *report)
{
    const demo_row *worst = &report->rows[0];
    double most = 0;
    for (int i = 0; i < DEMO_JOBS; i++) {
        const double gain =
            demo_speed_up(report, &report->rows[i], &report->rows[i].cells[CONTESTANT_STEALING]);
        if (gain > 0 && 1 / gain > most) {
            most = 1 / gain;
            worst = &report->rows[i];
        }
    }
    say(s,
        "with one worker there is nobody to steal from; stealing took at most %.2f times as long "
        "as plain calls (%s: ",
        most, worst->job);
    say_tasks(s, report, worst);
    say(s, ")");
}

static bool nobody_gained(const demo_report *report)
{
    double best = 0;
    for (int i = 0; i < DEMO_JOBS; i++) {
        for (int k = CONTESTANT_STATIC; k < CONTESTANTS; k++) {
            const demo_row *const row = &report->rows[i];
            const double gain = demo_speed_up(report, row, &row->cells[k]);
            best = gain > best ? gain : best;
        }
    }
    return best < LITTLE_GAIN;
}

static double least_cpus(const demo_report *report)
{
    double least = demo_median_cpus(report, &report->rows[0]);
    for (int i = 1; i < DEMO_JOBS; i++) {
        const double cpus = demo_median_cpus(report, &report->rows[i]);
        least = cpus < least ? cpus : least;
    }
    return least;
}

void demo_sentence(const demo_report *report, char out[DEMO_SENTENCE_BYTES])
{
    sentence s = { out, 0 };
    out[0] = '\0';
    if (report->workers < 2) {
        say_alone(&s, report);
    } else if (!demo_judges_any(report)) {
        say(&s, "who won cannot be said: other programs used the CPUs, %.2f of %u were free",
            least_cpus(report), wanted_cpus(report));
    } else if (nobody_gained(report)) {
        say(&s, "nobody gained anything: the jobs are too small to share, or a limit holds the "
                "CPUs back");
    } else {
        say_outcomes(&s, report);
    }
    say(&s, ".");
    out[0] = (char)(out[0] >= 'a' && out[0] <= 'z' ? out[0] - 'a' + 'A' : out[0]);
}
