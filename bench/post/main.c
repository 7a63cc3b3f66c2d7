/* SPDX-License-Identifier: MIT */
/* The post benchmark: empty tasks from one to four producers. See work.h.
 *
 * Every run has a fresh pool, started before the clock and ended after it. The first producer is
 * this thread; starting the others is timed, some tens of microseconds in a run of tenths of a
 * second. Producers and pool threads together are more than two cores carry: what is compared is
 * how the designs bear the same load.
 *
 * Claim: sharedqueue_over_glib_1_producer <= 1: the shared queue that Filch is compared with in the
 * demo is at least as fast as the one that C programs use today, hence no man of straw. */
#define _POSIX_C_SOURCE 200809L /* pthread */
#include "bench/post/work.h"
#include "bench/support/report.h"

#include <pthread.h>
#include <stdio.h>

enum { FILCH, SHAREDQUEUE, GLIB, DESIGNS };
enum { CONTESTANTS = DESIGNS * POST_MAX_PRODUCERS, RATIOS = 3 * POST_MAX_PRODUCERS };
enum { CHECK_TASKS = 20000 };

_Static_assert((int)CONTESTANTS <= (int)MEASURE_MAX_CONTESTANTS, "more than can be measured");

static const post_design *const designs[DESIGNS] = {
    [FILCH] = &post_filch, [SHAREDQUEUE] = &post_sharedqueue, [GLIB] = &post_glib
};

typedef struct post_run {
    const post_design *design;
    unsigned producers;
    unsigned threads;
    size_t tasks;
    uint64_t *counter;
    void *pool;
} post_run;

typedef struct producer {
    post_run *run;
    unsigned number;
    bool good;
    bool started;
    pthread_t thread;
} producer;

static bool prepare(void *arg)
{
    post_run *run = arg;
    run->pool = run->design->start(run->threads, run->tasks, run->counter);
    return run->pool != NULL;
}

static bool clean_up(void *arg)
{
    post_run *run = arg;
    run->design->stop(run->pool);
    return true;
}

/* The share of one producer; shares differ by at most one task. */
static void *produce(void *arg)
{
    producer *self = arg;
    const post_run *run = self->run;
    const size_t first = run->tasks * self->number / run->producers;
    const size_t end = run->tasks * (self->number + 1) / run->producers;
    self->good = run->design->post(run->pool, first, end - first);
    return NULL;
}

static bool run_all(void *arg)
{
    post_run *run = arg;
    producer producers[POST_MAX_PRODUCERS] = { { 0 } };
    bool good = true;
    for (unsigned i = 0; i < run->producers; i++) {
        producers[i].run = run;
        producers[i].number = i;
        if (i > 0) {
            producers[i].started =
                pthread_create(&producers[i].thread, NULL, produce, &producers[i]) == 0;
        }
    }
    produce(&producers[0]);
    for (unsigned i = 1; i < run->producers; i++) {
        if (producers[i].started) {
            pthread_join(producers[i].thread, NULL);
        }
    }
    for (unsigned i = 0; i < run->producers; i++) {
        good = good && producers[i].good;
    }
    return run->design->drain(run->pool) && good;
}

/* Each design, with one producer and with all: every task must run exactly once. */
static bool check_designs(unsigned threads)
{
    for (size_t i = 0; i < DESIGNS; i++) {
        if (designs[i]->missing != NULL) {
            continue;
        }
        for (unsigned producers = 1; producers <= POST_MAX_PRODUCERS;
             producers += POST_MAX_PRODUCERS - 1) {
            uint64_t ran = 0;
            post_run run = { .design = designs[i],
                             .producers = producers,
                             .threads = threads,
                             .tasks = CHECK_TASKS,
                             .counter = &ran };
            const bool good = prepare(&run) && run_all(&run) && clean_up(&run);
            if (!good || ran != CHECK_TASKS) {
                fprintf(stderr, "post: %s: %llu of %d tasks ran\n", designs[i]->name,
                        (unsigned long long)ran, CHECK_TASKS);
                return false;
            }
        }
    }
    return true;
}

/* Contestant of a design (FILCH ...) and a number of producers (from 1). */
static size_t index_of(size_t design, unsigned producers)
{
    return (producers - 1) * DESIGNS + design;
}

static void add_ratio(bench_ratio *ratios, size_t *count, char (*names)[48], size_t over,
                      size_t under, unsigned producers, double limit)
{
    snprintf(names[*count], sizeof names[*count], "%s_over_%s_%u_producer%s", designs[over]->name,
             designs[under]->name, producers, producers == 1 ? "" : "s");
    ratios[*count] = (bench_ratio){ .name = names[*count],
                                    .over = index_of(over, producers),
                                    .under = index_of(under, producers),
                                    .by_wall = true,
                                    .limit = limit };
    *count += 1;
}

static int measure(unsigned threads, size_t tasks, const bench_options *options)
{
    post_run runs[CONTESTANTS];
    measure_contestant contestants[CONTESTANTS];
    char names[CONTESTANTS][48];
    bench_ratio ratios[RATIOS];
    char ratio_names[RATIOS][48];
    size_t ratio_count = 0;
    for (unsigned producers = 1; producers <= POST_MAX_PRODUCERS; producers++) {
        for (size_t design = 0; design < DESIGNS; design++) {
            const size_t i = index_of(design, producers);
            snprintf(names[i], sizeof names[i], "%s, %u producer%s", designs[design]->name,
                     producers, producers == 1 ? "" : "s");
            runs[i] = (post_run){ .design = designs[design],
                                  .producers = producers,
                                  .threads = threads,
                                  .tasks = tasks };
            contestants[i] = (measure_contestant){ .name = names[i],
                                                   .skipped = designs[design]->missing,
                                                   .prepare = prepare,
                                                   .run = run_all,
                                                   .clean_up = clean_up,
                                                   .arg = &runs[i] };
        }
        add_ratio(ratios, &ratio_count, ratio_names, SHAREDQUEUE, GLIB, producers,
                  producers == 1 ? 1.0 : 0);
        add_ratio(ratios, &ratio_count, ratio_names, FILCH, SHAREDQUEUE, producers, 0);
        add_ratio(ratios, &ratio_count, ratio_names, FILCH, GLIB, producers, 0);
    }
    const bench_fact facts[] = { { "tasks", tasks }, { "threads", threads } };
    const bench_spec spec = { .name = "post",
                              .unit = "task",
                              .units = (double)tasks,
                              .cpu_clock = MEASURE_PROCESS_CPU,
                              .reference = MEASURE_NO_REFERENCE,
                              .max_spread = 0.25,
                              .facts = facts,
                              .fact_count = sizeof facts / sizeof facts[0],
                              .contestants = contestants,
                              .contestant_count = CONTESTANTS,
                              .ratios = ratios,
                              .ratio_count = ratio_count };
    return bench_main(&spec, options);
}

int main(int argc, char **argv)
{
    bench_options options = { .rounds = POST_ROUNDS };
    unsigned long tasks = POST_TASKS;
    unsigned long threads = POST_THREADS;
    option_spec specs[BENCH_COMMON_OPTIONS + 2];
    bench_common_options(&options, specs);
    specs[BENCH_COMMON_OPTIONS] = (option_spec){ .name = "--tasks",
                                                 .help = "tasks of a run",
                                                 .number = &tasks,
                                                 .low = POST_MAX_PRODUCERS,
                                                 .high = 100000000 };
    specs[BENCH_COMMON_OPTIONS + 1] = (option_spec){ .name = "--threads",
                                                     .help = "threads of each pool",
                                                     .number = &threads,
                                                     .low = 1,
                                                     .high = 256 };
    const options_verdict verdict =
        options_parse(specs, sizeof specs / sizeof specs[0], argc, argv);
    if (verdict != OPTIONS_GO) {
        return verdict == OPTIONS_DONE ? BENCH_PASS : BENCH_USAGE;
    }
    if (!check_designs((unsigned)threads)) {
        return BENCH_FAIL;
    }
    return measure((unsigned)threads, tasks, &options);
}
