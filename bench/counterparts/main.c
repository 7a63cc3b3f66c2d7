/* SPDX-License-Identifier: MIT */
/* The counterparts benchmark: are the designs that Filch is compared with as good as what C programs have
 * at hand? See work.h; the shared queue behind a mutex has its counterpart in bench_post.
 *
 * Claims: static_partition_over_openmp_coarse and lock_free_queue_over_ck_ring_post <= 1.1: no men of
 * straw. The many short loops are reported: libgomp's threads spin between two of them and the designs'
 * sleep, since it is pools that are compared, which must not burn a CPU while they wait. */
#include "bench/counterparts/work.h"
#include "bench/support/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const work work_coarse = { "coarse", 1, 64, 1000000 };
const work work_loop = { "loop", 500, 1000, 10 };
const work work_post = { "post", 1, 200000, 1 };

static const struct {
    const work *job;
    const counterpart *who;
} table[] = {
    { &work_coarse, &counterpart_static }, { &work_coarse, &counterpart_openmp },
    { &work_loop, &counterpart_static },   { &work_loop, &counterpart_openmp },
    { &work_post, &counterpart_queue },    { &work_post, &counterpart_ck },
};

enum { CONTESTANTS = sizeof(table) / sizeof(table[0]) };

static uint64_t places[WORK_MOST_PIECES];

typedef struct job_run {
    const work *job;
    const counterpart *who;
    unsigned threads;
    void *pool;
} job_run;

static bool prepare(void *arg)
{
    job_run *run = arg;
    run->pool = run->who->start(run->threads);
    return run->pool != NULL;
}

static bool run_job(void *arg)
{
    const job_run *run = arg;
    return run->who->run(run->pool, run->job, places);
}

static bool clean_up(void *arg)
{
    const job_run *run = arg;
    run->who->stop(run->pool);
    return true;
}

/* Each piece as often as it should be. */
static bool check(job_run *run)
{
    memset(places, 0, sizeof(places));
    bool good = prepare(run) && run_job(run) && clean_up(run);
    for (size_t i = 0; i < run->job->pieces && good; i++) {
        uint64_t once = 0;
        work_piece(run->job, &once, i);
        good = places[i] == once * run->job->repeats;
    }
    if (!good) {
        fprintf(stderr, "counterparts: %s, %s: a wrong result\n", run->who->name, run->job->name);
    }
    return good;
}

static int measure(unsigned threads, const bench_options *options)
{
    static const bench_ratio ratios[] = {
        { "static_partition_over_openmp_coarse", 0, 1, true, 1.1 },
        { "static_partition_over_openmp_loop", 2, 3, true, 0 },
        { "lock_free_queue_over_ck_ring_post", 4, 5, true, 1.1 },
    };
    job_run runs[CONTESTANTS];
    measure_contestant contestants[CONTESTANTS];
    char names[CONTESTANTS][48];
    for (size_t i = 0; i < CONTESTANTS; i++) {
        const counterpart *who = table[i].who;
        runs[i] = (job_run){ .job = table[i].job, .who = who, .threads = threads };
        snprintf(names[i], sizeof names[i], "%s, %s", who->name, table[i].job->name);
        contestants[i] = (measure_contestant){ .name = names[i],
                                               .skipped = who->missing,
                                               .prepare = prepare,
                                               .run = run_job,
                                               .clean_up = clean_up,
                                               .arg = &runs[i] };
        if (who->missing == NULL && !check(&runs[i])) {
            return BENCH_FAIL;
        }
    }
    const bench_fact facts[] = { { "threads", threads },
                                 { "coarse_tasks", work_coarse.pieces },
                                 { "loops", work_loop.repeats },
                                 { "posts", work_post.pieces } };
    const bench_spec spec = { .name = "counterparts",
                              .unit = "job",
                              .units = 1,
                              .cpu_clock = MEASURE_PROCESS_CPU,
                              .reference = MEASURE_NO_REFERENCE,
                              .max_spread = 0.25,
                              .facts = facts,
                              .fact_count = sizeof facts / sizeof facts[0],
                              .contestants = contestants,
                              .contestant_count = CONTESTANTS,
                              .ratios = ratios,
                              .ratio_count = sizeof ratios / sizeof ratios[0] };
    return bench_main(&spec, options);
}

int main(int argc, char **argv)
{
    bench_options options = { .rounds = WORK_ROUNDS };
    unsigned long threads = WORK_THREADS;
    option_spec specs[BENCH_COMMON_OPTIONS + 1];
    bench_common_options(&options, specs);
    specs[BENCH_COMMON_OPTIONS] = (option_spec){ .name = "--threads",
                                                 .help = "threads of each contestant",
                                                 .number = &threads,
                                                 .low = 1,
                                                 .high = 256 };
    const options_verdict verdict =
        options_parse(specs, sizeof specs / sizeof specs[0], argc, argv);
    if (verdict != OPTIONS_GO) {
        return verdict == OPTIONS_DONE ? BENCH_PASS : BENCH_USAGE;
    }
    return measure((unsigned)threads, &options);
}
