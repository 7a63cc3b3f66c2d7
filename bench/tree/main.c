/* SPDX-License-Identifier: MIT */
/* The tree benchmark: forks that carry data, at one worker and at two. See work.h.
 *
 * All of it runs inside a root of a pool of one worker. There the plain recursion and Filch at one
 * worker share a thread and its CPU-time clock, as in bench/fib. The pool of two gets each run as a
 * root of its own, from that thread: only the wall clock sees it, with a wake-up each way in it,
 * tens of microseconds. What two workers gain needs two free cores, which a loaded or a virtual
 * machine may not give. Nothing here is a claim that is judged. */
#include "bench/support/report.h"
#include "bench/tree/work.h"

#include <filch/fork.h>
#include <filch/pool.h>

#include <stdio.h>
#include <stdlib.h>

enum { PLAIN, FILCH_1, INLINE_1, FILCH_2, CONTESTANTS };

/* What a contestant runs with; the hooks of the measuring loop get it. */
typedef struct tree_run {
    filch_cx *cx;     /* of the one worker */
    filch_pool *pool; /* of two */
    const tree_node *root;
    uint64_t expected;
} tree_run;

typedef struct tree_bench {
    bench_options options;
    size_t leaves;
    bool at_random;
    tree_run run;
    int exit_code;
} tree_bench;

static const bench_ratio ratios[] = {
    { "filch_1_over_plain_cpu", FILCH_1, PLAIN, false, 0 },
    { "inline_1_over_plain_cpu", INLINE_1, PLAIN, false, 1.15 },
    { "filch_2_over_filch_1_wall", FILCH_2, FILCH_1, true, 0 },
    { "filch_2_over_plain_wall", FILCH_2, PLAIN, true, 0 },
};

static bool run_plain(void *arg)
{
    const tree_run *run = arg;
    return tree_plain(run->root) == run->expected;
}

static bool run_filch_1(void *arg)
{
    const tree_run *run = arg;
    return tree_filch(run->cx, (uintptr_t)run->root) == run->expected;
}

static bool run_inline_1(void *arg)
{
    const tree_run *run = arg;
    return tree_inline(run->cx, (uintptr_t)run->root) == run->expected;
}

static bool run_filch_2(void *arg)
{
    const tree_run *run = arg;
    uintptr_t sum = 0;
    return filch_run_word(run->pool, tree_filch, (uintptr_t)run->root, &sum) == FILCH_OK &&
           sum == run->expected;
}

static filch_pool *create_pool(unsigned workers)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = workers;
    config.flags = FILCH_POOL_STRICT;
    filch_pool *pool = NULL;
    const filch_status status = filch_pool_create(&config, &pool);
    if (status != FILCH_OK) {
        fprintf(stderr, "tree: no pool of %u: %s\n", workers, filch_strerror(status));
        return NULL;
    }
    return pool;
}

static void bench_root(filch_cx *cx, void *arg)
{
    tree_bench *bench = arg;
    bench->run.cx = cx;
    const measure_contestant contestants[CONTESTANTS] = {
        [PLAIN] = { .name = "plain", .run = run_plain, .arg = &bench->run },
        [FILCH_1] = { .name = "filch, 1 worker", .run = run_filch_1, .arg = &bench->run },
        [INLINE_1] = { .name = "inline, 1 worker", .run = run_inline_1, .arg = &bench->run },
        [FILCH_2] = { .name = "filch, 2 workers",
                      .run = run_filch_2,
                      .wall_only = true,
                      .arg = &bench->run },
    };
    const bench_fact facts[] = { { "leaves", bench->leaves },
                                 { "forks", bench->leaves - 1 },
                                 { "bytes", (2 * bench->leaves - 1) * sizeof(tree_node) },
                                 { "split_at_random", bench->at_random } };
    const bench_spec spec = { .name = "tree",
                              .unit = "fork",
                              .units = (double)(bench->leaves - 1),
                              .cpu_clock = MEASURE_THREAD_CPU,
                              .reference = PLAIN,
                              .facts = facts,
                              .fact_count = sizeof facts / sizeof facts[0],
                              .contestants = contestants,
                              .contestant_count = CONTESTANTS,
                              .ratios = ratios,
                              .ratio_count = sizeof ratios / sizeof ratios[0] };
    bench->exit_code = bench_main(&spec, &bench->options);
}

static void run_all(tree_bench *bench)
{
    tree_node *root = tree_create(bench->leaves, bench->at_random);
    filch_pool *one = create_pool(1);
    filch_pool *two = create_pool(2);
    if (root != NULL && one != NULL && two != NULL) {
        bench->run =
            (tree_run){ .pool = two, .root = root, .expected = tree_expected(root, bench->leaves) };
        filch_run(one, bench_root, bench);
    }
    filch_pool_destroy(two);
    filch_pool_destroy(one);
    free(root);
}

int main(int argc, char **argv)
{
    tree_bench bench = { .options.rounds = TREE_ROUNDS, .exit_code = BENCH_FAIL };
    unsigned long leaves = TREE_LEAVES;
    option_spec specs[BENCH_COMMON_OPTIONS + 2];
    bench_common_options(&bench.options, specs);
    specs[BENCH_COMMON_OPTIONS] = (option_spec){ .name = "--leaves",
                                                 .help = "leaves of the tree",
                                                 .number = &leaves,
                                                 .low = 2,
                                                 .high = 1ul << 28 };
    specs[BENCH_COMMON_OPTIONS + 1] = (option_spec){ .name = "--random",
                                                     .help = "split at random, not in halves",
                                                     .flag = &bench.at_random };
    const options_verdict verdict =
        options_parse(specs, sizeof specs / sizeof specs[0], argc, argv);
    if (verdict != OPTIONS_GO) {
        return verdict == OPTIONS_DONE ? BENCH_PASS : BENCH_USAGE;
    }
    bench.leaves = leaves;
    run_all(&bench);
    return bench.exit_code;
}
