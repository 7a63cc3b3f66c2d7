/* SPDX-License-Identifier: MIT */
/* The fork benchmark: what a fork and its join cost when nobody steals. See work.h.
 *
 * Everything runs inside one root of a pool of one worker, so all contestants share one thread, one
 * stack and one CPU-time clock. Before anything is timed the results of all of them are compared,
 * also of the deque written by hand with a thief at work. Every timed run is checked too.
 *
 * Claims: inline_over_plain (a fork compiled in, against two plain calls), filch_over_inline and
 * void_over_inline (the exported call, and the form without results), filch_over_byhand (the exported
 * call against an inlined deque) and byhand_over_locked (that deque against its two locked
 * instructions). */
#include "bench/fib/work.h"
#include "bench/support/report.h"

#include <filch/pool.h>

#include <stdio.h>

/* 1: linked with the shared library. Then nothing is judged: what a call across libraries costs is
 * the processor's and the dynamic linker's business. */
#ifndef FIB_SHARED
#define FIB_SHARED 0
#endif

enum { PLAIN, LOCKED, BYHAND, FILCH, FILCH_INLINE_PATH, FILCH_VOID, FILCH_FORK, CONTESTANTS };

/* What an inlined fork may cost, in calls: the processor's share, and the compiler's. */
#if defined(__clang__)
#define INLINE_LIMIT 0.78
#else
#define INLINE_LIMIT 0.62
#endif

enum { CHECK_UP_TO = 18, CHECK_ROBBED = 24 };

/* What a contestant runs with; the hooks of the measuring loop get it. */
typedef struct contestant_run {
    fib_fn *fn;
    filch_cx *cx;
    uintptr_t n;
} contestant_run;

typedef struct fib_bench {
    bench_options options;
    unsigned n;
    int exit_code;
} fib_bench;

static const struct {
    const char *name;
    fib_fn *fn;
} table[CONTESTANTS] = {
    [PLAIN] = { "plain", fib_plain },
    [LOCKED] = { "locked", fib_locked },
    [BYHAND] = { "byhand", fib_byhand },
    [FILCH] = { "filch", fib_filch_join2 },
    [FILCH_INLINE_PATH] = { "inline", fib_filch_inline },
    [FILCH_VOID] = { "void", fib_filch_void },
    [FILCH_FORK] = { "filch_fork", fib_filch_fork },
};

static const bench_ratio ratios[] = {
    { "inline_over_plain", FILCH_INLINE_PATH, PLAIN, false, FIB_SHARED ? 0 : INLINE_LIMIT },
    { "filch_over_inline", FILCH, FILCH_INLINE_PATH, false, FIB_SHARED ? 0 : 2.0 },
    { "void_over_inline", FILCH_VOID, FILCH_INLINE_PATH, false, FIB_SHARED ? 0 : 2.0 },
    { "filch_over_byhand", FILCH, BYHAND, false, FIB_SHARED ? 0 : 1.2 },
    { "byhand_over_locked", BYHAND, LOCKED, false, FIB_SHARED ? 0 : 1.5 },
    { "filch_fork_over_byhand", FILCH_FORK, BYHAND, false, 0 },
    { "filch_over_locked", FILCH, LOCKED, false, 0 },
    { "filch_over_plain", FILCH, PLAIN, false, 0 },
    { "locked_over_plain", LOCKED, PLAIN, false, 0 },
};

static bool run_contestant(void *arg)
{
    const contestant_run *run = arg;
    return run->fn(run->cx, run->n) == fib_value((unsigned)run->n);
}

static bool check_results(filch_cx *cx)
{
    for (unsigned n = 0; n <= CHECK_UP_TO; n++) {
        for (size_t i = 0; i < CONTESTANTS; i++) {
            contestant_run run = { table[i].fn, cx, n };
            if (!run_contestant(&run)) {
                fprintf(stderr, "fib: %s gives a wrong fib(%u)\n", table[i].name, n);
                return false;
            }
        }
    }
    uint64_t steals = 0;
    if (fib_byhand_robbed(CHECK_ROBBED, &steals) != fib_value(CHECK_ROBBED)) {
        fprintf(stderr, "fib: byhand gives a wrong fib(%u) when robbed\n", CHECK_ROBBED);
        return false;
    }
    return true;
}

static void bench_root(filch_cx *cx, void *arg)
{
    fib_bench *bench = arg;
    bench->exit_code = BENCH_FAIL;
    if (!check_results(cx)) {
        return;
    }
    contestant_run runs[CONTESTANTS];
    measure_contestant contestants[CONTESTANTS];
    for (size_t i = 0; i < CONTESTANTS; i++) {
        runs[i] = (contestant_run){ table[i].fn, cx, bench->n };
        contestants[i] =
            (measure_contestant){ .name = table[i].name, .run = run_contestant, .arg = &runs[i] };
    }
    const bench_fact facts[] = { { "n", bench->n },
                                 { "forks", fib_forks(bench->n) },
                                 { "workers", 1 } };
    const bench_spec spec = { .name = FIB_SHARED ? "fib_shared" : "fib",
                              .unit = "fork",
                              .units = (double)fib_forks(bench->n),
                              .cpu_clock = MEASURE_THREAD_CPU,
                              .reference = PLAIN,
                              .max_spread = 0.10,
                              .facts = facts,
                              .fact_count = sizeof facts / sizeof facts[0],
                              .contestants = contestants,
                              .contestant_count = CONTESTANTS,
                              .ratios = ratios,
                              .ratio_count = sizeof ratios / sizeof ratios[0] };
    bench->exit_code = bench_main(&spec, &bench->options);
}

int main(int argc, char **argv)
{
    fib_bench bench = { .options.rounds = FIB_ROUNDS, .exit_code = BENCH_FAIL };
    unsigned long n = FIB_N;
    option_spec specs[BENCH_COMMON_OPTIONS + 1];
    bench_common_options(&bench.options, specs);
    specs[BENCH_COMMON_OPTIONS] = (option_spec){
        .name = "--n", .help = "compute fib(N)", .number = &n, .low = 2, .high = 45
    };
    const options_verdict verdict =
        options_parse(specs, sizeof specs / sizeof specs[0], argc, argv);
    if (verdict != OPTIONS_GO) {
        return verdict == OPTIONS_DONE ? BENCH_PASS : BENCH_USAGE;
    }
    bench.n = (unsigned)n;

    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = 1;
    filch_pool *pool = NULL;
    filch_status status = filch_pool_create(&config, &pool);
    if (status == FILCH_OK) {
        status = filch_run(pool, bench_root, &bench);
        filch_pool_destroy(pool);
    }
    if (status != FILCH_OK) {
        fprintf(stderr, "fib: %s\n", filch_strerror(status));
    }
    return bench.exit_code;
}
