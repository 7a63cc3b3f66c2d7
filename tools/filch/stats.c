/* SPDX-License-Identifier: MIT */
/* filch stats: run a small mixed workload on a pool of its own and print the pool's counters, what
 * its workers spent their time on and, if asked, how long the tasks took.
 *
 * The workload has one of each: a tree of forks, a loop, tasks posted from outside, and tasks that
 * post. Its results are checked, and so is accepted = ran + cancelled, from the counters and from
 * the report of the shutdown. It is there to show the counters, not to measure anything. */
#include "bench/support/json.h"
#include "cli.h"

#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define FILCH_INLINE
#include <filch/filch.h>

enum {
    FIB_N = 30, /* 1.3 million joins: long enough for every worker to wake up and steal */
    FIB_RESULT = 832040,
    LOOP_N = 1 << 22,
    POSTS = 2000,  /* more than the injector holds, so that it fills up */
    POSTS_EACH = 2 /* what each of them posts in turn */
};

typedef struct counter {
    const char *name;
    const char *meaning;
    size_t offset;
} counter;

#define COUNTER(field, meaning)                                                                    \
    {                                                                                              \
#field, meaning, offsetof(filch_worker_stats, field)                                       \
    }

static const counter counters[] = {
    COUNTER(tasks_run, "tasks and roots run"),
    COUNTER(tasks_cancelled, "ended without being started"),
    COUNTER(tasks_late, "of these: its start_by had passed"),
    COUNTER(tasks_inline, "run inside their own post"),
    COUNTER(tasks_posted, "accepted from its own tasks"),
    COUNTER(injected_taken, "taken from the injector"),
    COUNTER(forks_offered, "offered forks when asked"),
    COUNTER(forks_stolen, "forks taken from others"),
    COUNTER(forks_forced, "of these: not offered"),
    COUNTER(barriers, "membarriers before a sleep"),
    COUNTER(loops_joined, "joined a loop of another"),
    COUNTER(steals_won, "steals: got an item"),
    COUNTER(steals_lost, "steals: lost the race"),
    COUNTER(steals_empty, "steals: nothing there"),
    COUNTER(parks, "went to sleep"),
    COUNTER(wakes, "woken for work"),
    COUNTER(wakes_placed, "of these: kept off the waker's CPU"),
};

static const counter activities[] = {
    COUNTER(busy_ns, "busy"),
    COUNTER(searching_ns, "searching"),
    COUNTER(parked_ns, "parked"),
};
#undef COUNTER

enum {
    COUNTERS = sizeof counters / sizeof counters[0],
    ACTIVITIES = sizeof activities / sizeof activities[0]
};

static const struct quantile {
    const char *title;
    const char *name;
    double part;
} quantiles[] = {
    { "10 %", "p10", 0.10 },     { "25 %", "p25", 0.25 }, { "50 %", "p50", 0.50 },
    { "75 %", "p75", 0.75 },     { "90 %", "p90", 0.90 }, { "99 %", "p99", 0.99 },
    { "longest", "p100", 1.00 },
};
enum { QUANTILES = sizeof quantiles / sizeof quantiles[0] };

typedef struct snapshot {
    filch_stats sum;             /* throttling: while the workload ran */
    filch_worker_stats *workers; /* sum.workers of them */
    filch_lengths *lengths;      /* NULL: not asked for */
    filch_shutdown_report report;
    uint64_t idle_bytes; /* touched by a worker that has had nothing to do; 0: not known */
    bool results_right;
    bool adds_up;
} snapshot;

typedef struct workload {
    _Atomic uint64_t tasks_seen;
    uint64_t loop_sum; /* over the slots */
    uint64_t *slot_sums;
    uintptr_t fib;
} workload;

static uint64_t counter_of(const filch_worker_stats *stats, const counter *which)
{
    return *(const uint64_t *)((const char *)stats + which->offset);
}

static uintptr_t fib(filch_cx *cx, uintptr_t n)
{
    if (n < 2) {
        return n;
    }
    const filch_pair pair = filch_join2_word(cx, fib, n - 1, fib, n - 2);
    return pair.first + pair.second;
}

/* Something no compiler turns into a formula, or the loop is over before anybody joins it. */
static uint64_t sum_up(size_t lo, size_t hi)
{
    uint64_t sum = 0;
    for (size_t i = lo; i < hi; i++) {
        sum += i * i % 1009;
    }
    return sum;
}

static void sum_range(filch_cx *cx, void *ctx, filch_range range)
{
    (void)cx;
    workload *const work = ctx;
    work->slot_sums[range.slot] += sum_up(range.lo, range.hi);
}

static void count_task(filch_cx *cx, void *data)
{
    (void)cx;
    workload *const work = *(workload *const *)data;
    atomic_fetch_add_explicit(&work->tasks_seen, 1, memory_order_relaxed);
}

static void post_more(filch_cx *cx, void *data)
{
    workload *const work = *(workload *const *)data;
    for (int i = 0; i < POSTS_EACH; i++) {
        (void)filch_post(filch_cx_pool(cx), count_task, &work, sizeof work, NULL);
    }
    count_task(cx, data);
}

static filch_status run_workload(filch_pool *pool, workload *work)
{
    filch_status status = filch_run_word(pool, fib, FIB_N, &work->fib);
    if (status == FILCH_OK) {
        status = filch_for_on(pool, LOOP_N, sum_range, work, NULL);
    }
    for (int i = 0; i < POSTS && status == FILCH_OK; i++) {
        status = filch_post(pool, post_more, &work, sizeof work, NULL);
    }
    if (status == FILCH_OK) {
        status = filch_pool_wait_quiet(pool, FILCH_FOREVER);
    }
    for (unsigned slot = 0; slot < filch_slots(pool); slot++) {
        work->loop_sum += work->slot_sums[slot];
    }
    return status;
}

static bool results_are_right(const workload *work)
{
    const uint64_t tasks = atomic_load_explicit(&work->tasks_seen, memory_order_relaxed);
    return work->fib == FIB_RESULT && work->loop_sum == sum_up(0, LOOP_N) &&
           tasks == (uint64_t)POSTS * (1 + POSTS_EACH);
}

static filch_stats read_sum(const filch_pool *pool, filch_status *out_status)
{
    filch_stats sum = FILCH_STATS_INIT;
    sum.flags = FILCH_STATS_THROTTLING;
    *out_status = filch_stats_read(pool, &sum);
    return sum;
}

static filch_status read_counters(filch_pool *pool, snapshot *snap, const filch_stats *before)
{
    filch_status status;
    snap->sum = read_sum(pool, &status);
    snap->sum.has_throttling &= before->has_throttling;
    snap->sum.periods -= before->periods;
    snap->sum.throttled -= before->throttled;
    snap->sum.throttled_us -= before->throttled_us;
    for (unsigned i = 0; i < filch_pool_workers(pool) && status == FILCH_OK; i++) {
        status = filch_stats_read_worker(pool, i, &snap->workers[i]);
    }
    if (status == FILCH_OK && snap->lengths != NULL) {
        *snap->lengths = (filch_lengths)FILCH_LENGTHS_INIT;
        status = filch_stats_read_lengths(pool, snap->lengths);
    }
    return status;
}

static bool counts_add_up(const snapshot *snap)
{
    const filch_stats *const sum = &snap->sum;
    const filch_shutdown_report *const report = &snap->report;
    return sum->accepted == sum->total.tasks_run + sum->total.tasks_cancelled &&
           report->accepted == report->ran + report->cancelled && report->accepted == sum->accepted;
}

static filch_status measure(filch_pool *pool, snapshot *snap)
{
    const unsigned workers = filch_pool_workers(pool);
    filch_status status;
    const filch_stats before = read_sum(pool, &status);
    workload work = { .slot_sums = calloc(filch_slots(pool), sizeof(uint64_t)) };
    snap->workers = calloc(workers, sizeof *snap->workers);
    status = FILCH_E_NOMEM;
    if (work.slot_sums != NULL && snap->workers != NULL) {
        status = run_workload(pool, &work);
    }
    const filch_status shut = filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, &snap->report);
    status = status != FILCH_OK ? status : shut;
    if (status == FILCH_OK) {
        /* Only now: idle workers go on looking for work, so that their counters still move. */
        status = read_counters(pool, snap, &before);
    }
    snap->results_right = results_are_right(&work);
    snap->adds_up = counts_add_up(snap);
    free(work.slot_sums);
    return status;
}

/* Resident memory of this process; 0: the system does not say. */
static uint64_t resident_bytes(void)
{
    FILE *const file = fopen("/proc/self/smaps_rollup", "re");
    unsigned long kib = 0;
    char line[256];
    while (file != NULL && kib == 0 && fgets(line, sizeof line, file) != NULL) {
        (void)sscanf(line, "Rss: %lu kB", &kib);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return (uint64_t)kib * 1024;
}

enum { IDLE_WORKERS = 32 };

static void wait_until_parked(const filch_pool *pool)
{
    filch_stats stats = FILCH_STATS_INIT;
    do {
        sched_yield();
    } while (filch_stats_read(pool, &stats) == FILCH_OK && stats.total.parks < stats.workers);
}

/* What a worker costs that has never had any work, its stack and its share of the pool included. */
static uint64_t measure_idle_worker(void)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_pool *pool = NULL;
    config.workers = IDLE_WORKERS;
    const uint64_t before = resident_bytes();
    if (before == 0 || filch_pool_create(&config, &pool) != FILCH_OK) {
        return 0;
    }
    wait_until_parked(pool);
    const uint64_t after = resident_bytes();
    const unsigned workers = filch_pool_workers(pool);
    (void)filch_pool_destroy(pool);
    return after > before ? (after - before) / workers : 0;
}

static void print_json_worker(json *j, const char *key, const filch_worker_stats *stats)
{
    json_open(j, key, '{');
    for (size_t i = 0; i < COUNTERS; i++) {
        json_number(j, counters[i].name, counter_of(stats, &counters[i]));
    }
    for (size_t i = 0; i < ACTIVITIES; i++) {
        json_number(j, activities[i].name, counter_of(stats, &activities[i]));
    }
    json_close(j, '}');
}

/* The histogram as pairs: the shortest length in a bucket, tasks; empty ones are left out. */
static void print_json_lengths(json *j, const filch_lengths *lengths)
{
    json_open(j, "lengths", '{');
    json_number(j, "tasks", lengths->tasks);
    json_number(j, "sum_ns", lengths->sum_ns);
    json_open(j, "quantiles_ns", '{');
    for (size_t i = 0; i < QUANTILES; i++) {
        json_number(j, quantiles[i].name, filch_lengths_quantile(lengths, quantiles[i].part));
    }
    json_close(j, '}');
    json_open(j, "histogram", '[');
    for (unsigned i = 0; i < FILCH_LENGTH_BUCKETS; i++) {
        if (lengths->counts[i] != 0) {
            json_open(j, NULL, '{');
            json_number(j, "from_ns", filch_length_from(i));
            json_number(j, "tasks", lengths->counts[i]);
            json_close(j, '}');
        }
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void print_json_throttling(json *j, const filch_stats *sum)
{
    if (sum->has_throttling == 0) {
        json_null(j, "throttling");
        return;
    }
    json_open(j, "throttling", '{');
    json_number(j, "periods", sum->periods);
    json_number(j, "throttled", sum->throttled);
    json_number(j, "throttled_us", sum->throttled_us);
    json_close(j, '}');
}

static void print_json(const snapshot *snap)
{
    const filch_stats *const sum = &snap->sum;
    json j;
    json_begin(&j, stdout);
    json_text(&j, "command", "stats");
    json_text(&j, "version", filch_version());
    json_number(&j, "workers", sum->workers);
    json_number(&j, "workers_asked", sum->workers_asked);
    json_number(&j, "queue_tasks", sum->queue_tasks);
    json_text(&j, "park_backend", sum->park_backend);
    json_text(&j, "fork_backend", sum->fork_backend);
    json_number(&j, "bytes_per_fork", sizeof(filch_cx));
    json_number(&j, "bytes_per_idle_worker", snap->idle_bytes);
    json_number(&j, "accepted", sum->accepted);
    json_number(&j, "refused", sum->refused);
    json_number(&j, "pending", sum->pending);
    json_number(&j, "queue_depth", sum->queue_depth);
    json_number(&j, "queue_high", sum->queue_high);
    json_number(&j, "queue_waits", sum->queue_waits);
    json_number(&j, "queue_rejected", sum->queue_rejected);
    json_number(&j, "queue_run", sum->queue_run);
    json_number(&j, "queue_dropped", sum->queue_dropped);
    json_number(&j, "wall_ns", sum->wall_ns);
    json_real(&j, "utilisation", sum->utilisation);
    print_json_throttling(&j, sum);
    print_json_worker(&j, "total", &sum->total);
    json_open(&j, "per_worker", '[');
    for (unsigned i = 0; i < sum->workers; i++) {
        print_json_worker(&j, NULL, &snap->workers[i]);
    }
    json_close(&j, ']');
    if (snap->lengths != NULL) {
        print_json_lengths(&j, snap->lengths);
    }
    json_bool(&j, "results_right", snap->results_right);
    json_bool(&j, "adds_up", snap->adds_up);
    json_end(&j);
}

enum { NAME_WIDTH = 28, COLUMN_WIDTH = 11 };

static void print_column(uint64_t number)
{
    char text[CLI_NUMBER_BYTES];
    printf("%*s", COLUMN_WIDTH, cli_grouped(number, text));
}

static void print_percent(uint64_t part, double whole)
{
    char text[CLI_NUMBER_BYTES];
    snprintf(text, sizeof text, "%.1f %%", whole > 0 ? 100 * (double)part / whole : 0.0);
    printf("%*s", COLUMN_WIDTH, text);
}

/* The workers from `first` on, as many as the terminal is wide; the total comes first. */
static void print_block(const snapshot *snap, unsigned first, unsigned count)
{
    printf("%-*s", NAME_WIDTH, "");
    printf("%*s", COLUMN_WIDTH, "total");
    for (unsigned i = first; i < first + count; i++) {
        char title[CLI_NUMBER_BYTES];
        snprintf(title, sizeof title, "worker %u", i);
        printf("%*s", COLUMN_WIDTH, title);
    }
    putchar('\n');
    for (const counter *row = counters; row < counters + COUNTERS; row++) {
        printf("%-*s", NAME_WIDTH, row->meaning);
        print_column(counter_of(&snap->sum.total, row));
        for (unsigned i = first; i < first + count; i++) {
            print_column(counter_of(&snap->workers[i], row));
        }
        putchar('\n');
    }
    const double wall = (double)snap->sum.wall_ns;
    for (const counter *row = activities; row < activities + ACTIVITIES; row++) {
        printf("%-*s", NAME_WIDTH, row->meaning);
        print_percent(counter_of(&snap->sum.total, row), wall * snap->sum.workers);
        for (unsigned i = first; i < first + count; i++) {
            print_percent(counter_of(&snap->workers[i], row), wall);
        }
        putchar('\n');
    }
    putchar('\n');
}

static void print_lengths(const filch_lengths *lengths)
{
    char number[CLI_NUMBER_BYTES];
    char sum[CLI_NUMBER_BYTES];
    printf("%s task%s timed, %s in all; this part of them took at most\n",
           cli_grouped(lengths->tasks, number), cli_plural(lengths->tasks),
           cli_duration(lengths->sum_ns, sum));
    for (size_t i = 0; i < QUANTILES; i++) {
        printf("%*s", COLUMN_WIDTH, quantiles[i].title);
    }
    putchar('\n');
    for (size_t i = 0; i < QUANTILES; i++) {
        char text[CLI_NUMBER_BYTES];
        const uint64_t ns = filch_lengths_quantile(lengths, quantiles[i].part);
        printf("%*s", COLUMN_WIDTH, cli_duration(ns, text));
    }
    puts("\n");
}

static void print_table(const snapshot *snap)
{
    const filch_stats *const sum = &snap->sum;
    const unsigned columns = cli_columns(1);
    unsigned per_block = 1;
    if (columns > NAME_WIDTH + 2 * COLUMN_WIDTH) {
        per_block = (columns - NAME_WIDTH - COLUMN_WIDTH) / COLUMN_WIDTH;
    }
    printf("filch %s: %u worker%s (%u asked for), injector of %zu tasks, sleep by %s\n",
           filch_version(), sum->workers, cli_plural(sum->workers), sum->workers_asked,
           sum->queue_tasks, sum->park_backend);
    printf("forks taken by %s, %zu bytes each; an idle worker takes %" PRIu64 " KiB\n\n",
           sum->fork_backend, sizeof(filch_cx), snap->idle_bytes / 1024);
    for (unsigned first = 0; first < sum->workers; first += per_block) {
        const unsigned left = sum->workers - first;
        print_block(snap, first, left < per_block ? left : per_block);
    }
    if (snap->lengths != NULL) {
        print_lengths(snap->lengths);
    }
    char wall[CLI_NUMBER_BYTES];
    printf("wall %s, utilisation %.1f %%\n", cli_duration(sum->wall_ns, wall),
           100 * sum->utilisation);
    if (sum->has_throttling != 0) {
        printf("throttled in %" PRIu64 " of %" PRIu64 " periods of the quota, %s in all\n",
               sum->throttled, sum->periods, cli_duration(sum->throttled_us * 1000, wall));
    }
    printf("accepted %" PRIu64 " = ran %" PRIu64 " + cancelled %" PRIu64 ": %s\n", sum->accepted,
           sum->total.tasks_run, sum->total.tasks_cancelled, snap->adds_up ? "yes" : "NO");
    printf("refused %" PRIu64 ", pending %" PRIu64 ", waited %" PRIu64
           " time%s for room in the queue\n",
           sum->refused, sum->pending, sum->queue_waits, cli_plural(sum->queue_waits));
    printf("queue: %" PRIu64 " of %zu wait, %" PRIu64 " at most as far as seen\n", sum->queue_depth,
           sum->queue_tasks, sum->queue_high);
    printf("full: %" PRIu64 " rejected, %" PRIu64 " run by their callers, %" PRIu64 " dropped\n",
           sum->queue_rejected, sum->queue_run, sum->queue_dropped);
    printf("results: %s\n", snap->results_right ? "right" : "WRONG");
}

static int run_and_print(unsigned workers, bool with_lengths, cli_form form)
{
    static filch_lengths lengths;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = workers;
    config.flags = FILCH_POOL_FIXED | (with_lengths ? FILCH_POOL_TIME_TASKS : 0);
    filch_pool *pool = NULL;
    filch_status status = filch_pool_create(&config, &pool);
    if (status != FILCH_OK) {
        return cli_trouble("stats", "cannot create a pool: %s", filch_strerror(status));
    }
    snapshot snap = { .lengths = with_lengths ? &lengths : NULL,
                      .idle_bytes = measure_idle_worker() };
    status = measure(pool, &snap);
    (void)filch_pool_destroy(pool);
    int code = snap.results_right && snap.adds_up ? CLI_OK : CLI_FAILED;
    if (status != FILCH_OK) {
        code = cli_trouble("stats", "the workload stopped: %s", filch_strerror(status));
    } else if (cli_wants_json(form)) {
        print_json(&snap);
    } else {
        print_table(&snap);
    }
    free(snap.workers);
    return code;
}

static void print_help(void)
{
    puts("Usage: filch stats [--workers N] [--lengths] [--json | --table]\n"
         "Run a small mixed workload (forks, a loop, posted tasks) on a pool and print the pool's\n"
         "counters and what its workers spent their time on, per worker and in total. Exits with\n"
         "1 if a result is wrong or if accepted = ran + cancelled does not hold.\n"
         "\n"
         "  -w, --workers N  workers of the pool; default: see 'filch cpus'\n"
         "  -l, --lengths    measure how long tasks take, and print the quantiles\n"
         "  -j, --json       JSON, also on a terminal\n"
         "  -t, --table      a table, also into a file or pipe\n"
         "  -h, --help       this text");
}

int stats_main(int argc, char **argv)
{
    static const struct option options[] = {
        { "workers", required_argument, NULL, 'w' }, { "lengths", no_argument, NULL, 'l' },
        { "json", no_argument, NULL, 'j' },          { "table", no_argument, NULL, 't' },
        { "help", no_argument, NULL, 'h' },          { NULL, 0, NULL, 0 },
    };
    cli_form form = CLI_AUTO;
    uint64_t workers = 0;
    bool with_lengths = false;
    int found;
    opterr = 0;
    while ((found = getopt_long(argc, argv, ":w:ljth", options, NULL)) != -1) {
        switch (found) {
        case 'w':
            if (!cli_read_number(optarg, 1, FILCH_MAX_WORKERS, &workers)) {
                return cli_misused("stats", "--workers takes a number from 1 to %u, not '%s'",
                                   FILCH_MAX_WORKERS, optarg);
            }
            break;
        case 'l':
            with_lengths = true;
            break;
        case 'j':
            form = CLI_JSON;
            break;
        case 't':
            form = CLI_TABLE;
            break;
        case 'h':
            print_help();
            return CLI_OK;
        default:
            return cli_bad_option("stats", found, argv);
        }
    }
    if (optind < argc) {
        return cli_misused("stats", "unexpected argument '%s'", argv[optind]);
    }
    return run_and_print((unsigned)workers, with_lengths, form);
}
