/* SPDX-License-Identifier: MIT */
/* The follow benchmark: a loaded pool in a cgroup whose quota goes from one CPU to two and back. How
 * long until the pool has followed, and how much faster it is then.
 *
 * As root it makes a group of its own and a child that goes in; the parent stays outside and takes
 * the group away. In the child chains of tasks keep the pool loaded: each computes the same amount
 * and posts the next of its chain, so that the thread that changes the quota can sleep meanwhile.
 *
 * The claim is about two free CPUs: before and after each round two copies of a loop run together, and
 * rounds in which they got less than `cpus_needed` are measured but not judged. */
#define _POSIX_C_SOURCE 200809L

#include "bench/support/cores.h"
#include "bench/support/group.h"
#include "bench/support/json.h"
#include "bench/support/machine.h"
#include "bench/support/measure.h"
#include "bench/support/options.h"
#include "bench/support/report.h"

#include <filch/filch.h>

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    STEPS = 160000, /* of a task: some 0.2 ms */
    CHAINS = 16,    /* more than workers, so that none looks for work in vain */
    MOST_ROUNDS = 99,
    JUDGED_LEAST = 3
};

static const double cpus_needed = 1.95;
static const double gain_needed = 1.8;
static const double wait_limit_ns = 5e9;

typedef struct load {
    filch_pool *pool;
    _Atomic uint64_t ran;
    _Atomic uint64_t results; /* or the work is dropped */
    _Atomic bool stop;
} load;

typedef struct round_result {
    double cpus; /* that two threads got just before or after, the smaller */
    double grow_ns;
    double shrink_ns;
    double tasks_1; /* a second, under a quota of one CPU */
    double tasks_2;
    double throttled_1_us; /* a second, of all CPUs together */
    double throttled_2_us;
} round_result;

typedef struct follow_bench {
    bool gate;
    unsigned long rounds;
    unsigned long window_ms;
    group g;
    load work;
    round_result results[MOST_ROUNDS];
} follow_bench;

static void task(filch_cx *cx, void *data)
{
    load *const work = *(load *const *)data;
    uint64_t x = 1;
    for (unsigned i = 0; i < STEPS; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    }
    atomic_fetch_add_explicit(&work->results, x & 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&work->ran, 1, memory_order_relaxed);
    if (!atomic_load_explicit(&work->stop, memory_order_relaxed)) {
        (void)filch_post(filch_cx_pool(cx), task, &work, sizeof work, NULL);
    }
}

static void sleep_ms(unsigned long ms)
{
    const struct timespec span = { .tv_sec = (time_t)(ms / 1000),
                                   .tv_nsec = (long)(ms % 1000) * 1000000 };
    (void)nanosleep(&span, NULL);
}

/* Set the quota and wait for the pool: how long that took; negative: it did not follow. */
static double change(follow_bench *bench, unsigned cpus)
{
    const double start = measure_now_ns(MEASURE_WALL);
    if (!group_set_quota(&bench->g, (uint64_t)cpus * GROUP_PERIOD_US)) {
        return -1;
    }
    while (filch_pool_workers(bench->work.pool) != cpus) {
        if (measure_now_ns(MEASURE_WALL) - start > wait_limit_ns) {
            return -1;
        }
        sleep_ms(1);
    }
    return measure_now_ns(MEASURE_WALL) - start;
}

static bool read_throttled(const filch_pool *pool, uint64_t *out_us)
{
    filch_stats stats = FILCH_STATS_INIT;
    stats.flags = FILCH_STATS_THROTTLING;
    const bool known = filch_stats_read(pool, &stats) == FILCH_OK && stats.has_throttling != 0;
    *out_us = stats.throttled_us;
    return known;
}

/* Tasks, and time stopped, each a second. */
static bool watch(follow_bench *bench, double *out_tasks, double *out_throttled_us)
{
    uint64_t before = 0;
    uint64_t after = 0;
    bool known = read_throttled(bench->work.pool, &before);
    const uint64_t ran = atomic_load(&bench->work.ran);
    const double start = measure_now_ns(MEASURE_WALL);
    sleep_ms(bench->window_ms);
    const uint64_t more = atomic_load(&bench->work.ran) - ran;
    const double seconds = (measure_now_ns(MEASURE_WALL) - start) / 1e9;
    known = read_throttled(bench->work.pool, &after) && known;
    *out_tasks = (double)more / seconds;
    *out_throttled_us = (double)(after - before) / seconds;
    return known;
}

static bool run_round(follow_bench *bench, round_result *result)
{
    load *work = &bench->work;
    filch_status status = FILCH_OK;
    if (!group_set_quota(&bench->g, 0)) {
        return false;
    }
    const double cpus_before = cores_free(2);
    atomic_store(&work->stop, false);
    if (!group_set_quota(&bench->g, 2 * GROUP_PERIOD_US)) {
        return false;
    }
    for (int i = 0; i < CHAINS && status == FILCH_OK; i++) {
        status = filch_post(work->pool, task, &work, sizeof work, NULL);
    }
    result->shrink_ns = change(bench, 1);
    const bool one = watch(bench, &result->tasks_1, &result->throttled_1_us);
    result->grow_ns = change(bench, 2);
    const bool two = watch(bench, &result->tasks_2, &result->throttled_2_us);
    atomic_store(&work->stop, true);
    const filch_status quiet = filch_pool_wait_quiet(work->pool, FILCH_FOREVER);
    if (!group_set_quota(&bench->g, 0)) {
        return false;
    }
    const double cpus_after = cores_free(2);
    result->cpus = cpus_before < cpus_after ? cpus_before : cpus_after;
    return status == FILCH_OK && quiet == FILCH_OK && one && two && result->shrink_ns >= 0 &&
           result->grow_ns >= 0;
}

static bool is_judged(const round_result *result)
{
    return result->cpus >= cpus_needed;
}

static double median_of(const follow_bench *bench, double (*of)(const round_result *), bool judged,
                        size_t *out_count)
{
    double values[MOST_ROUNDS];
    size_t count = 0;
    for (unsigned long i = 0; i < bench->rounds; i++) {
        if (!judged || is_judged(&bench->results[i])) {
            values[count++] = of(&bench->results[i]);
        }
    }
    *out_count = count;
    return count != 0 ? measure_summarise(values, count).median : 0;
}

static double gain_of(const round_result *r)
{
    return r->tasks_2 / r->tasks_1;
}

static double grow_of(const round_result *r)
{
    return r->grow_ns;
}

static double shrink_of(const round_result *r)
{
    return r->shrink_ns;
}

static void print_round(json *j, const round_result *r)
{
    json_open(j, NULL, '{');
    json_real(j, "cpus_free", r->cpus);
    json_real(j, "shrink_ms", r->shrink_ns / 1e6);
    json_real(j, "grow_ms", r->grow_ns / 1e6);
    json_real(j, "tasks_per_s_quota_1", r->tasks_1);
    json_real(j, "tasks_per_s_quota_2", r->tasks_2);
    json_real(j, "throttled_us_per_s_quota_1", r->throttled_1_us);
    json_real(j, "throttled_us_per_s_quota_2", r->throttled_2_us);
    json_real(j, "gain", gain_of(r));
    json_close(j, '}');
}

/* Exit code; the verdict in words on stderr. */
static int judge(const follow_bench *bench, const char *skipped, double gain, size_t judged)
{
    machine here;
    machine_describe(&here);
    const char *reason = skipped;
    if (reason == NULL && !machine_build_is_optimised(&here)) {
        reason = "this build does not optimise";
    } else if (reason == NULL && judged < JUDGED_LEAST) {
        reason = "two cores were not free";
    }
    if (reason != NULL) {
        fprintf(stderr, "follow: gain_1_to_2: not judged: %s\n", reason);
        return bench->gate ? BENCH_NOT_JUDGED : BENCH_PASS;
    }
    const bool kept = gain >= gain_needed;
    fprintf(stderr, "follow: gain_1_to_2 = %.3f, limit %.2f: %s\n", gain, gain_needed,
            kept ? "kept" : "BROKEN");
    return kept || !bench->gate ? BENCH_PASS : BENCH_FAIL;
}

/* NULL `skipped`: there are results. */
static int print(const follow_bench *bench, const char *skipped)
{
    machine here;
    json j;
    size_t judged = 0;
    size_t all = 0;
    const double gain = skipped == NULL ? median_of(bench, gain_of, true, &judged) : 0;
    machine_describe(&here);
    json_begin(&j, stdout);
    json_text(&j, "benchmark", "follow");
    machine_write_json(&here, &j);
    json_text(&j, "skipped", skipped);
    if (skipped == NULL) {
        json_number(&j, "window_ms", bench->window_ms);
        json_real(&j, "shrink_ms", median_of(bench, shrink_of, false, &all) / 1e6);
        json_real(&j, "grow_ms", median_of(bench, grow_of, false, &all) / 1e6);
        json_number(&j, "rounds", all);
        json_number(&j, "rounds_judged", judged);
        json_real(&j, "gain_1_to_2", judged != 0 ? gain : NAN); /* NAN: null */
        json_real(&j, "gain_needed", gain_needed);
        json_open(&j, "results", '[');
        for (size_t i = 0; i < all; i++) {
            print_round(&j, &bench->results[i]);
        }
        json_close(&j, ']');
    }
    json_end(&j);
    (void)fflush(stdout);
    return judge(bench, skipped, gain, judged);
}

/* In the child. */
static int measure(follow_bench *bench)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.flags = FILCH_POOL_NO_ENVIRONMENT;
    config.max_workers = 2;
    if (!group_enter(&bench->g)) {
        return print(bench, strerror(errno));
    }
    if (!group_set_quota(&bench->g, 2 * GROUP_PERIOD_US) ||
        filch_pool_create(&config, &bench->work.pool) != FILCH_OK) {
        return print(bench, "no quota, or no pool");
    }
    if (filch_pool_workers(bench->work.pool) != 2) {
        (void)filch_pool_destroy(bench->work.pool);
        return print(bench, "there are no two cores");
    }
    for (unsigned long i = 0; i < bench->rounds; i++) {
        if (!run_round(bench, &bench->results[i])) {
            fprintf(stderr, "follow: the pool did not follow, or the group could not be changed\n");
            return BENCH_FAIL;
        }
    }
    (void)filch_pool_destroy(bench->work.pool);
    return print(bench, NULL);
}

int main(int argc, char **argv)
{
    static follow_bench bench = { .rounds = 5, .window_ms = 1000 };
    const option_spec specs[] = {
        { .name = "--rounds",
          .help = "times the quota goes to one CPU and to two",
          .number = &bench.rounds,
          .low = 1,
          .high = MOST_ROUNDS },
        { .name = "--window-ms",
          .help = "how long each quota is measured",
          .number = &bench.window_ms,
          .low = 100,
          .high = 60000 },
        { .name = "--gate",
          .help = "judge the claim: exit 0 kept, 1 broken, 77 not judged",
          .flag = &bench.gate },
    };
    const options_verdict verdict =
        options_parse(specs, sizeof specs / sizeof specs[0], argc, argv);
    if (verdict != OPTIONS_GO) {
        return verdict == OPTIONS_DONE ? BENCH_PASS : BENCH_USAGE;
    }
    if (!group_make("filch-follow", &bench.g)) {
        return print(&bench, "no cgroup with a quota can be made here: root is needed");
    }
    const pid_t child = fork();
    if (child == 0) {
        const int code = measure(&bench);
        (void)fclose(stdout);
        _exit(code);
    }
    int status = 0;
    const bool ended = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
    (void)group_remove(&bench.g);
    return ended ? WEXITSTATUS(status) : BENCH_FAIL;
}
