/* SPDX-License-Identifier: MIT */
/* filch demo --sizes: measuring. In each round each size has its turn: a pool of that size is kept
 * loaded by chains of tasks, each of which posts the next one, while this thread answers a fixed load
 * of requests, each due at a time of its own. A request that is late because the group is stopped
 * delays the next ones too: latencies count from when they were due.
 *
 * With --quota a child goes into a cgroup made for it; this process stays outside and takes the
 * group away, also when the user interrupts. */
#define _GNU_SOURCE

#include "demo_sizes.h"

#include "bench/support/group.h"
#include "progress.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <filch/filch.h>

enum {
    TASK_STEPS = 160000,   /* some 0.2 ms */
    REQUEST_STEPS = 40000, /* some 0.05 ms */
    REQUEST_EVERY_NS = 2000000,
    REQUESTS = 500, /* of a size in a round: one second */
    MOST_TRIES = 4, /* of a round that others disturb */
    CHAINS_EACH = 2 /* for each worker, so that none looks for work in vain */
};

typedef struct load {
    _Atomic uint64_t ran;
    _Atomic uint64_t results; /* or the work is dropped */
    _Atomic bool stop;
} load;

static uint64_t compute(unsigned steps)
{
    uint64_t x = 1;
    for (unsigned i = 0; i < steps; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    }
    return x;
}

static void task(filch_cx *cx, void *data)
{
    load *const work = *(load *const *)data;
    const uint64_t x = compute(TASK_STEPS);
    atomic_fetch_add_explicit(&work->results, x & 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&work->ran, 1, memory_order_relaxed);
    if (!atomic_load_explicit(&work->stop, memory_order_relaxed)) {
        (void)filch_post(filch_cx_pool(cx), task, &work, sizeof work, NULL);
    }
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now = { 0, 0 };
    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void sleep_until(int64_t ns)
{
    const struct timespec at = { .tv_sec = (time_t)(ns / 1000000000),
                                 .tv_nsec = (long)(ns % 1000000000) };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR) {}
}

static void answer_requests(load *work, sizes_row *row)
{
    const int64_t start = clock_ns(CLOCK_MONOTONIC);
    for (int i = 1; i <= REQUESTS; i++) {
        const int64_t due = start + (int64_t)i * REQUEST_EVERY_NS;
        sleep_until(due);
        atomic_fetch_add_explicit(&work->results, compute(REQUEST_STEPS) & 1, memory_order_relaxed);
        row->latencies[row->requests++] = (uint64_t)(clock_ns(CLOCK_MONOTONIC) - due);
    }
}

static filch_status read_stats(const filch_pool *pool, filch_stats *stats)
{
    *stats = (filch_stats)FILCH_STATS_INIT;
    stats->flags = FILCH_STATS_THROTTLING;
    return filch_stats_read(pool, stats);
}

/* The loaded pool between two readings of everything. */
static filch_status watch(const filch_pool *pool, load *work, sizes_row *row)
{
    filch_stats before;
    filch_stats after;
    filch_status status = read_stats(pool, &before);
    const uint64_t ran = atomic_load(&work->ran);
    const int64_t start = clock_ns(CLOCK_MONOTONIC);
    const int64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    answer_requests(work, row);
    const double seconds = (double)(clock_ns(CLOCK_MONOTONIC) - start) / 1e9;
    row->cpu_seconds += (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 1e9;
    row->tasks_per_s[row->rounds++] = (double)(atomic_load(&work->ran) - ran) / seconds;
    row->seconds += seconds;
    status = status == FILCH_OK ? read_stats(pool, &after) : status;
    if (status == FILCH_OK) {
        row->has_throttling = before.has_throttling != 0 && after.has_throttling != 0;
        row->periods += after.periods - before.periods;
        row->throttled += after.throttled - before.throttled;
        row->throttled_us += after.throttled_us - before.throttled_us;
    }
    return status;
}

/* The default size is left to the library, which then also paces it. */
static filch_status run_size(sizes_row *row, unsigned default_size)
{
    load work = { 0, 0, false };
    load *shared = &work;
    filch_pool *pool = NULL;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = row->workers != default_size ? row->workers : 0;
    config.flags = FILCH_POOL_STRICT;
    config.queue_tasks = (size_t)CHAINS_EACH * row->workers;
    filch_status status = filch_pool_create(&config, &pool);
    for (unsigned i = 0; i < CHAINS_EACH * row->workers && status == FILCH_OK; i++) {
        status = filch_post(pool, task, &shared, sizeof shared, NULL);
    }
    if (status == FILCH_OK) {
        status = watch(pool, &work, row);
    }
    atomic_store(&work.stop, true);
    (void)filch_pool_destroy(pool);
    return status;
}

static int by_ns(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* One round of one size; a disturbed one is forgotten, unless it is the last and there is no other. */
static filch_status run_turn(sizes_report *report, sizes_row *row, bool last)
{
    const sizes_row before = *row;
    sizes_row alone = before;
    const filch_status status = run_size(row, report->cpus.cpu_bound);
    alone.seconds = row->seconds - before.seconds;
    alone.cpu_seconds = row->cpu_seconds - before.cpu_seconds;
    if (status == FILCH_OK && !sizes_got_its_cpus(&alone, &report->cpus) &&
        (!last || before.rounds != 0)) {
        *row = before;
        row->disturbed++;
    }
    return status;
}

/* CLI_OK, or a message was printed. */
static int run_rounds(sizes_report *report)
{
    const demo_options *const options = report->options;
    const unsigned tries = options->repeats * MOST_TRIES;
    for (unsigned try = 0; try < tries; try++) {
        for (unsigned i = 0; i < options->size_count; i++) {
            sizes_row *const row = &report->rows[(i + try) % options->size_count];
            if (row->rounds == options->repeats) {
                continue;
            }
            progress_show("round %u of %u: %u workers", row->rounds + 1, options->repeats,
                          row->workers);
            const filch_status status = run_turn(report, row, try + 1 == tries);
            if (status != FILCH_OK) {
                progress_clear();
                return cli_trouble("demo", "a pool of %u: %s", row->workers,
                                   filch_strerror(status));
            }
        }
    }
    progress_clear();
    for (unsigned i = 0; i < options->size_count; i++) {
        sizes_row *const row = &report->rows[i];
        qsort(row->latencies, row->requests, sizeof row->latencies[0], by_ns);
    }
    return CLI_OK;
}

static int measure(const demo_options *options)
{
    static sizes_report report;
    const filch_time start = filch_time_now();
    report.options = options;
    report.cpus = (filch_cpus)FILCH_CPUS_INIT;
    (void)filch_cpus_read(NULL, &report.cpus);
    int code = CLI_OK;
    for (unsigned i = 0; i < options->size_count && code == CLI_OK; i++) {
        sizes_row *const row = &report.rows[i];
        row->workers = options->sizes[i];
        row->latencies = calloc((size_t)REQUESTS * options->repeats, sizeof row->latencies[0]);
        if (row->latencies == NULL) {
            code = cli_trouble("demo", "no memory");
        }
    }
    code = code == CLI_OK ? run_rounds(&report) : code;
    if (code == CLI_OK) {
        report.seconds = (double)(filch_time_now() - start) / 1e9;
        sizes_print(&report);
    }
    for (unsigned i = 0; i < options->size_count; i++) {
        free(report.rows[i].latencies);
    }
    return code;
}

/* In the child; its stdout is flushed here, since it does not return to main. */
static _Noreturn void run_in_group(const demo_options *options, const group *g)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would take the group away while it runs */
    int code;
    if (!group_enter(g)) {
        code = cli_trouble("demo", "cannot enter %s: %s", g->folder, strerror(errno));
    } else {
        code = measure(options);
    }
    if (fflush(stdout) != 0) {
        code = cli_trouble("demo", "cannot write the result: %s", strerror(errno));
    }
    _exit(code);
}

static int run_with_quota(const demo_options *options)
{
    group g;
    int status = 0;
    filch_cpus cpus = FILCH_CPUS_INIT;
    (void)filch_cpus_read(NULL, &cpus);
    if (cpus.quota_us != 0) {
        return cli_trouble("demo", "there is a quota already, in %s: leave --quota out",
                           cpus.quota_file);
    }
    if (!group_make("filch-demo", &g)) {
        return cli_trouble("demo",
                           "cannot make a cgroup with a quota (root can, where the cpu "
                           "controller is mounted): %s",
                           strerror(errno));
    }
    int code = CLI_TROUBLE;
    (void)signal(SIGINT, SIG_IGN); /* it ends the child, and the group goes below */
    const pid_t child =
        group_set_quota(&g, (uint64_t)options->quota_milli * GROUP_PERIOD_US / 1000) ? fork() : -1;
    if (child == 0) {
        (void)signal(SIGINT, SIG_DFL);
        run_in_group(options, &g);
    }
    if (child < 0) {
        code = cli_trouble("demo", "cannot set the quota of %s: %s", g.folder, strerror(errno));
    } else if (waitpid(child, &status, 0) == child) {
        code = WIFEXITED(status) ? WEXITSTATUS(status) : CLI_TROUBLE;
    }
    (void)group_remove(&g);
    return code;
}

int sizes_run(const demo_options *options)
{
    progress_open(options->quiet);
    return options->quota_milli != 0 ? run_with_quota(options) : measure(options);
}
