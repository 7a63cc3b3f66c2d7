/* SPDX-License-Identifier: MIT */
/* The loops benchmark: what two workers gain on the sum, the running totals and the sort of one
 * array, and what the sort costs on one. See work.h. By the wall clock: a call from outside wakes
 * workers, and the caller works or waits. The doubles are whole numbers, so that their sum is exact in any
 * order. */
#include "bench/loops/work.h"
#include "bench/support/report.h"

#include <filch/pool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SUM_PLAIN,
    SUM_2,
    SCAN_PLAIN,
    SCAN_2,
    SORT_PLAIN,
    SORT_STD,
    SORT_STD_BY_CALL,
    SORT_1,
    SORT_2,
    CONTESTANTS
};

typedef struct loops_bench {
    bench_options options;
    size_t n;
    filch_pool *one;
    filch_pool *two;
    double *x;
    uint64_t *totals;
    uint64_t total;
    uint64_t *words;
    uint64_t *work;
    uint64_t *scratch;
    uint64_t *sorted;
} loops_bench;

static const bench_ratio ratios[] = {
    { "sum_plain_over_filch_2", SUM_PLAIN, SUM_2, true, 0 },
    { "scan_plain_over_filch_2", SCAN_PLAIN, SCAN_2, true, 0 },
    { "sort_plain_over_filch_2", SORT_PLAIN, SORT_2, true, 0 },
    { "sort_filch_1_over_filch_2", SORT_1, SORT_2, true, 0 },
    { "sort_filch_1_over_plain", SORT_1, SORT_PLAIN, true, 0 },
    { "sort_filch_1_over_std", SORT_1, SORT_STD, true, 0 },
    { "sort_std_by_call_over_std", SORT_STD_BY_CALL, SORT_STD, true, 0 },
};

static bool is_sum(const loops_bench *b, double sum)
{
    return sum == (double)b->n * (double)(b->n - 1) / 2;
}

static bool run_sum_plain(void *arg)
{
    const loops_bench *const b = arg;
    return is_sum(b, loops_sum(b->x, b->n));
}

static bool run_sum_2(void *arg)
{
    const loops_bench *const b = arg;
    double sum = 0;
    return loops_filch_sum(b->two, b->x, b->n, &sum) == FILCH_OK && is_sum(b, sum);
}

static bool run_scan_plain(void *arg)
{
    const loops_bench *const b = arg;
    loops_scan(b->words, b->n, b->totals);
    return b->totals[b->n - 1] == b->total;
}

static bool run_scan_2(void *arg)
{
    const loops_bench *const b = arg;
    return loops_filch_scan(b->two, b->words, b->n, b->totals) == FILCH_OK &&
           b->totals[b->n - 1] == b->total;
}

static bool prepare_sort(void *arg)
{
    const loops_bench *const b = arg;
    memcpy(b->work, b->words, b->n * sizeof *b->work);
    return true;
}

static bool check_sort(void *arg)
{
    const loops_bench *const b = arg;
    return memcmp(b->work, b->sorted, b->n * sizeof *b->work) == 0;
}

static bool run_sort_plain(void *arg)
{
    const loops_bench *const b = arg;
    loops_merge_sort(b->work, b->scratch, b->n);
    return true;
}

static bool run_sort_std(void *arg)
{
    const loops_bench *const b = arg;
    loops_std_sort(b->work, b->n);
    return true;
}

static bool run_sort_std_by_call(void *arg)
{
    const loops_bench *const b = arg;
    loops_std_sort_by_call(b->work, b->n);
    return true;
}

static bool run_sort_on(const loops_bench *b, filch_pool *pool)
{
    return filch_sort_on(pool, b->work, b->n, sizeof *b->work, loops_compare, NULL) == FILCH_OK;
}

static bool run_sort_1(void *arg)
{
    const loops_bench *const b = arg;
    return run_sort_on(b, b->one);
}

static bool run_sort_2(void *arg)
{
    const loops_bench *const b = arg;
    return run_sort_on(b, b->two);
}

static measure_contestant of_loop(const char *name, measure_fn *run, loops_bench *b)
{
    return (measure_contestant){ .name = name, .wall_only = true, .run = run, .arg = b };
}

static measure_contestant of_sort(const char *name, measure_fn *run, loops_bench *b)
{
    return (measure_contestant){ .name = name,
                                 .wall_only = true,
                                 .prepare = prepare_sort,
                                 .run = run,
                                 .clean_up = check_sort,
                                 .arg = b };
}

static int run_all(loops_bench *b)
{
    measure_contestant contestants[CONTESTANTS] = {
        [SUM_PLAIN] = of_loop("sum, plain", run_sum_plain, b),
        [SUM_2] = of_loop("sum, filch, 2 workers", run_sum_2, b),
        [SCAN_PLAIN] = of_loop("scan, plain", run_scan_plain, b),
        [SCAN_2] = of_loop("scan, filch, 2 workers", run_scan_2, b),
        [SORT_PLAIN] = of_sort("sort, plain merge sort", run_sort_plain, b),
        [SORT_STD] = of_sort("sort, std::stable_sort", run_sort_std, b),
        [SORT_STD_BY_CALL] = of_sort("sort, std, by call", run_sort_std_by_call, b),
        [SORT_1] = of_sort("sort, filch, 1 worker", run_sort_1, b),
        [SORT_2] = of_sort("sort, filch, 2 workers", run_sort_2, b),
    };
#ifdef LOOPS_NO_CXX
    contestants[SORT_STD].skipped = "no C++ compiler";
    contestants[SORT_STD_BY_CALL].skipped = "no C++ compiler";
#endif
    const bench_spec spec = { .name = "loops",
                              .unit = "element",
                              .units = (double)b->n,
                              .cpu_clock = MEASURE_THREAD_CPU,
                              .reference = MEASURE_NO_REFERENCE,
                              .contestants = contestants,
                              .contestant_count = CONTESTANTS,
                              .ratios = ratios,
                              .ratio_count = sizeof ratios / sizeof ratios[0] };
    return bench_main(&spec, &b->options);
}

static bool make_pool(unsigned workers, filch_pool **out_pool)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = workers;
    config.flags = FILCH_POOL_STRICT;
    const filch_status status = filch_pool_create(&config, out_pool);
    if (status != FILCH_OK) {
        fprintf(stderr, "loops: no pool of %u: %s\n", workers, filch_strerror(status));
    }
    return status == FILCH_OK;
}

static bool make_input(loops_bench *b)
{
    uint64_t state = 88172645463325252u;
    b->x = malloc(b->n * sizeof *b->x);
    b->totals = malloc(b->n * sizeof *b->totals);
    b->words = malloc(b->n * sizeof *b->words);
    b->work = malloc(b->n * sizeof *b->work);
    b->scratch = malloc(b->n * sizeof *b->scratch);
    b->sorted = malloc(b->n * sizeof *b->sorted);
    if (b->x == NULL || b->totals == NULL || b->words == NULL || b->work == NULL ||
        b->scratch == NULL || b->sorted == NULL) {
        fputs("loops: no memory\n", stderr);
        return false;
    }
    for (size_t i = 0; i < b->n; i++) {
        b->x[i] = (double)i;
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        b->words[i] = state;
        b->sorted[i] = state;
        b->total += state;
    }
    loops_merge_sort(b->sorted, b->scratch, b->n);
    return true;
}

int main(int argc, char **argv)
{
    loops_bench b = { .options.rounds = LOOPS_ROUNDS };
    unsigned long n = LOOPS_N;
    option_spec specs[BENCH_COMMON_OPTIONS + 1];
    bench_common_options(&b.options, specs);
    specs[BENCH_COMMON_OPTIONS] = (option_spec){
        .name = "--n", .help = "elements", .number = &n, .low = 1, .high = 1ul << 25
    };
    const options_verdict verdict =
        options_parse(specs, sizeof specs / sizeof specs[0], argc, argv);
    if (verdict != OPTIONS_GO) {
        return verdict == OPTIONS_DONE ? BENCH_PASS : BENCH_USAGE;
    }
    b.n = n;
    int code = BENCH_FAIL;
    if (make_input(&b) && make_pool(1, &b.one) && make_pool(2, &b.two)) {
        code = run_all(&b);
    }
    (void)filch_pool_destroy(b.two);
    (void)filch_pool_destroy(b.one);
    free(b.x);
    free(b.totals);
    free(b.words);
    free(b.work);
    free(b.scratch);
    free(b.sorted);
    return code;
}
