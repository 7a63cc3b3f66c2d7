/* SPDX-License-Identifier: MIT */
/* filch cpus: what this process may use of the machine, how many workers fit that, and why.
 *
 * All numbers are the library's, since they are what a pool gets. Only the list of CPUs is read
 * here, to show it. */
#define _GNU_SOURCE

#include "bench/support/json.h"
#include "cli.h"

#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <filch/filch.h>

enum { NS_PER_MS = 1000000, OPTION_ROOT = 256, OPTION_LIMITS, OPTION_IO_LIMIT };

typedef enum output_kind { WHAT_ALL, WHAT_COUNT, WHAT_ENV } output_kind;
typedef enum size_kind { WHICH_CPU_BOUND, WHICH_LOGICAL, WHICH_IO } size_kind;

typedef struct wish {
    cli_form form;
    output_kind what;
    size_kind which;
    bool has_wait;
    bool has_compute;
    filch_cpus_options options;
} wish;

static void print_help(void)
{
    puts("Usage: filch cpus [OPTION]...\n"
         "Print which CPUs, cores and cgroup quota this process has, how many workers fit that,\n"
         "and why. The first of them, for CPU-bound work, is the size of a pool by default.\n"
         "\n"
         "  -c, --count            only the number, like nproc, but quotas and cores count\n"
         "  -e, --env              settings for other libraries: env $(filch cpus -e) PROGRAM\n"
         "  -l, --logical          --count and --env by logical CPUs, not by cores\n"
         "  -i, --io               --count of workers for tasks that wait\n"
         "  -W, --wait-ms MS       a typical task waits so long ...\n"
         "  -C, --compute-ms MS    ... and computes so long; default: as long as it waits\n"
         "      --io-limit N       at most so many workers for tasks that wait; default: 256\n"
         "      --limits NAME,...  variables of the environment with a number of CPUs in them\n"
         "      --root DIR         read DIR/proc and DIR/sys, and no environment\n"
         "  -j, --json             JSON, also on a terminal\n"
         "  -t, --table            a table, also into a file or pipe\n"
         "  -h, --help             this text\n"
         "\n"
         "FILCH_WORKERS=N takes the place of what is counted.");
}

/* Append "first-last" to a list such as "0-3,8"; false if it does not fit. */
static bool append_run(char *text, size_t text_bytes, size_t *used, int first, int last)
{
    const char *const comma = *used > 0 ? "," : "";
    const int added =
        first == last ? snprintf(text + *used, text_bytes - *used, "%s%d", comma, first)
                      : snprintf(text + *used, text_bytes - *used, "%s%d-%d", comma, first, last);
    if (added < 0 || (size_t)added >= text_bytes - *used) {
        return false;
    }
    *used += (size_t)added;
    return true;
}

static bool format_set(const cpu_set_t *set, size_t set_bytes, char *text, size_t text_bytes)
{
    const int limit = (int)(set_bytes * 8);
    size_t used = 0;
    text[0] = '\0';
    for (int cpu = 0; cpu < limit; cpu++) {
        if (!CPU_ISSET_S((size_t)cpu, set_bytes, set)) {
            continue;
        }
        const int first = cpu;
        while (cpu + 1 < limit && CPU_ISSET_S((size_t)cpu + 1, set_bytes, set)) {
            cpu++;
        }
        if (!append_run(text, text_bytes, &used, first, cpu)) {
            return false;
        }
    }
    return used > 0;
}

/* The affinity mask as a list; the kernel refuses sets that are too small for the machine. */
static bool list_cpus(char *text, size_t text_bytes)
{
    for (size_t cpus = 1024; cpus <= 1024 * 1024; cpus *= 2) {
        cpu_set_t *const set = CPU_ALLOC(cpus);
        if (set == NULL) {
            return false;
        }
        const size_t set_bytes = CPU_ALLOC_SIZE(cpus);
        const bool known = sched_getaffinity(0, set_bytes, set) == 0;
        const bool done = known && format_set(set, set_bytes, text, text_bytes);
        CPU_FREE(set);
        if (known) {
            return done;
        }
    }
    return false;
}

/* "12" or "0.25" milliseconds, at most a million seconds, down to a nanosecond. */
static bool read_ms(const char *text, uint64_t *out_ns)
{
    char digits[32] = "";
    const char *const point = strchr(text, '.');
    const size_t whole = point != NULL ? (size_t)(point - text) : strlen(text);
    const size_t parts = point != NULL ? strlen(point + 1) : 0;
    uint64_t ms;
    uint64_t rest = 0;
    if (whole >= sizeof digits || parts > 6 || (point != NULL && parts == 0)) {
        return false;
    }
    memcpy(digits, text, whole);
    if (!cli_read_number(digits, 0, 1000000000, &ms)) {
        return false;
    }
    if (point != NULL) {
        memcpy(digits, "000000", sizeof "000000");
        memcpy(digits, point + 1, parts);
        if (!cli_read_number(digits, 0, NS_PER_MS - 1, &rest)) {
            return false;
        }
    }
    *out_ns = ms * NS_PER_MS + rest;
    return true;
}

static unsigned size_of(const filch_cpus *cpus, size_kind which)
{
    return which == WHICH_IO        ? cpus->io_bound
           : which == WHICH_LOGICAL ? cpus->logical
                                    : cpus->cpu_bound;
}

static void print_env(const filch_cpus *cpus, size_kind which)
{
    static const char *const names[] = {
        "FILCH_WORKERS",     "OMP_NUM_THREADS",    "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",   "BLIS_NUM_THREADS",   "NUMEXPR_NUM_THREADS",
        "GOMAXPROCS",        "RAYON_NUM_THREADS",  "TOKIO_WORKER_THREADS",
        "JULIA_NUM_THREADS", "POLARS_MAX_THREADS", "DOTNET_PROCESSOR_COUNT",
        "VIPS_CONCURRENCY",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        printf("%s=%u\n", names[i], size_of(cpus, which));
    }
    printf("UV_THREADPOOL_SIZE=%u\n", cpus->io_bound); /* libuv's threads wait for files */
}

static void print_count(const char *name, unsigned count)
{
    if (count != 0) {
        printf("%-17s%u\n", name, count);
    } else {
        printf("%-17snot known\n", name);
    }
}

static void print_quota(const filch_cpus *cpus)
{
    if (cpus->cgroup == 0) {
        puts("cgroup           none that says anything about CPU time");
        return;
    }
    printf("cgroup           version %u", cpus->cgroup);
    if (cpus->weight != 0) {
        printf(", %s %" PRIu64 " (not counted)", cpus->cgroup == 2 ? "weight" : "shares",
               cpus->weight);
    }
    if (cpus->quota_us == 0) {
        puts("\nquota            none");
        return;
    }
    printf("\nquota            %.6g CPUs: %" PRIu64 " us each %" PRIu64 " us\n"
           "                 by %s\n",
           (double)cpus->quota_us / (double)cpus->period_us, cpus->quota_us, cpus->period_us,
           cpus->quota_file);
    printf("throttled        %" PRIu64 " of %" PRIu64 " periods, %.3f s in all\n", cpus->throttled,
           cpus->periods, (double)cpus->throttled_us / 1e6);
}

static void print_table(const filch_cpus *cpus, const char *list)
{
    print_count("CPUs online", cpus->online);
    printf("CPUs allowed     %u%s%s%s\n", cpus->allowed, list != NULL ? "  (affinity mask: " : "",
           list != NULL ? list : "", list != NULL ? ")" : "");
    if (cpus->cpuset != 0) {
        print_count("cpuset", cpus->cpuset);
    }
    print_count("cores", cpus->cores);
    if (cpus->threads_per_core > 1) {
        print_count("CPUs a core", cpus->threads_per_core);
    }
    print_count("packages", cpus->packages);
    print_count("last caches", cpus->caches);
    print_count("NUMA nodes", cpus->nodes);
    if (cpus->kinds > 1) {
        printf("kinds of cores   %u; %u CPU%s of the strongest\n", cpus->kinds, cpus->strong,
               cli_plural(cpus->strong));
    }
    print_quota(cpus);
    printf("\nworkers for      CPU-bound work  %u: %s\n", cpus->cpu_bound, cpus->why);
    printf("                 logical CPUs    %u: %s\n", cpus->logical, cpus->why_logical);
    printf("                 tasks that wait %u: %s\n", cpus->io_bound, cpus->why_io);
    if (cpus->ignored[0] != '\0') {
        printf("ignored          %s\n", cpus->ignored);
    }
}

static void json_count(json *j, const char *key, uint64_t count)
{
    if (count != 0) {
        json_number(j, key, count);
    } else {
        json_null(j, key);
    }
}

static void print_json_quota(json *j, const filch_cpus *cpus)
{
    json_count(j, "cgroup", cpus->cgroup);
    json_count(j, "weight", cpus->weight);
    if (cpus->quota_us == 0) {
        json_null(j, "quota");
        return;
    }
    json_open(j, "quota", '{');
    json_real(j, "cpus", (double)cpus->quota_us / (double)cpus->period_us);
    json_number(j, "quota_us", cpus->quota_us);
    json_number(j, "period_us", cpus->period_us);
    json_text(j, "file", cpus->quota_file);
    json_number(j, "periods", cpus->periods);
    json_number(j, "throttled", cpus->throttled);
    json_number(j, "throttled_us", cpus->throttled_us);
    json_close(j, '}');
}

static void print_json(const filch_cpus *cpus, const char *list)
{
    static const char *const sources[] = { "nothing", "affinity", "cores",
                                           "quota",   "limit",    "environment" };
    json j;
    json_begin(&j, stdout);
    json_text(&j, "command", "cpus");
    json_count(&j, "online", cpus->online);
    json_number(&j, "allowed", cpus->allowed);
    json_text(&j, "affinity", list);
    json_count(&j, "cpuset", cpus->cpuset);
    json_count(&j, "cores", cpus->cores);
    json_count(&j, "threads_per_core", cpus->threads_per_core);
    json_count(&j, "packages", cpus->packages);
    json_count(&j, "caches", cpus->caches);
    json_count(&j, "nodes", cpus->nodes);
    json_count(&j, "kinds", cpus->kinds);
    json_count(&j, "strong", cpus->strong);
    print_json_quota(&j, cpus);
    json_number(&j, "cpu_bound", cpus->cpu_bound);
    json_text(&j, "source", sources[cpus->source]);
    json_text(&j, "why", cpus->why);
    json_number(&j, "logical", cpus->logical);
    json_text(&j, "why_logical", cpus->why_logical);
    json_number(&j, "io_bound", cpus->io_bound);
    json_text(&j, "why_io", cpus->why_io);
    json_text(&j, "ignored", cpus->ignored[0] != '\0' ? cpus->ignored : NULL);
    json_end(&j);
}

/* CLI_OK, or a message was printed. */
static int read_option(wish *w, int found, char **argv)
{
    uint64_t number;
    switch (found) {
    case 'W':
    case 'C':
        if (!read_ms(optarg, found == 'W' ? &w->options.wait_ns : &w->options.compute_ns)) {
            return cli_misused("cpus", "--%s-ms takes milliseconds such as 0.25, not '%s'",
                               found == 'W' ? "wait" : "compute", optarg);
        }
        w->has_wait = w->has_wait || found == 'W';
        w->has_compute = w->has_compute || found == 'C';
        return CLI_OK;
    case OPTION_IO_LIMIT:
        if (!cli_read_number(optarg, 1, FILCH_MAX_WORKERS, &number)) {
            return cli_misused("cpus", "--io-limit takes a number from 1 to %u, not '%s'",
                               FILCH_MAX_WORKERS, optarg);
        }
        w->options.io_limit = (unsigned)number;
        return CLI_OK;
    case OPTION_LIMITS:
        w->options.limit_names = optarg;
        return CLI_OK;
    case OPTION_ROOT:
        w->options.root = optarg;
        w->options.flags |= FILCH_CPUS_NO_ENVIRONMENT;
        return CLI_OK;
    default:
        return cli_bad_option("cpus", found, argv);
    }
}

static bool is_output(int found, wish *w)
{
    switch (found) {
    case 'j':
    case 't':
        w->form = found == 'j' ? CLI_JSON : CLI_TABLE;
        return true;
    case 'c':
    case 'e':
        w->what = found == 'c' ? WHAT_COUNT : WHAT_ENV;
        return true;
    case 'l':
    case 'i':
        w->which = found == 'l' ? WHICH_LOGICAL : WHICH_IO;
        return true;
    default:
        return false;
    }
}

/* Do the options go together? */
static int check(const wish *w)
{
    struct stat info;
    if (w->has_wait != w->has_compute) {
        return cli_misused("cpus", "--wait-ms and --compute-ms go together");
    }
    if (w->has_wait && w->options.wait_ns == 0 && w->options.compute_ns == 0) {
        return cli_misused("cpus", "a task that neither waits nor computes has no size");
    }
    if (w->what != WHAT_ALL && w->form != CLI_AUTO) {
        return cli_misused("cpus", "--count and --env are neither JSON nor a table");
    }
    if (w->what == WHAT_ALL && w->which != WHICH_CPU_BOUND) {
        return cli_misused("cpus", "--logical and --io choose for --count or --env");
    }
    if (w->what == WHAT_ENV && w->which == WHICH_IO) {
        return cli_misused("cpus", "--env has the I/O-bound size where it belongs already");
    }
    if (w->options.root != NULL && (stat(w->options.root, &info) != 0 || !S_ISDIR(info.st_mode))) {
        return cli_trouble("cpus", "'%s' is no folder", w->options.root);
    }
    return CLI_OK;
}

static int show(const wish *w)
{
    char list[512];
    filch_cpus cpus = FILCH_CPUS_INIT;
    if (filch_cpus_read(&w->options, &cpus) != FILCH_OK) {
        return cli_trouble("cpus", "the library refuses these options");
    }
    if (w->what == WHAT_COUNT) {
        printf("%u\n", size_of(&cpus, w->which));
    } else if (w->what == WHAT_ENV) {
        print_env(&cpus, w->which);
    } else {
        const bool listed = w->options.root == NULL && list_cpus(list, sizeof list);
        (cli_wants_json(w->form) ? print_json : print_table)(&cpus, listed ? list : NULL);
    }
    return CLI_OK;
}

int cpus_main(int argc, char **argv)
{
    static const struct option options[] = {
        { "count", no_argument, NULL, 'c' },
        { "env", no_argument, NULL, 'e' },
        { "logical", no_argument, NULL, 'l' },
        { "io", no_argument, NULL, 'i' },
        { "wait-ms", required_argument, NULL, 'W' },
        { "compute-ms", required_argument, NULL, 'C' },
        { "io-limit", required_argument, NULL, OPTION_IO_LIMIT },
        { "limits", required_argument, NULL, OPTION_LIMITS },
        { "root", required_argument, NULL, OPTION_ROOT },
        { "json", no_argument, NULL, 'j' },
        { "table", no_argument, NULL, 't' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    wish w = { .options = FILCH_CPUS_OPTIONS_INIT };
    int found;
    opterr = 0;
    while ((found = getopt_long(argc, argv, ":celiW:C:jth", options, NULL)) != -1) {
        if (found == 'h') {
            print_help();
            return CLI_OK;
        }
        const int code = is_output(found, &w) ? CLI_OK : read_option(&w, found, argv);
        if (code != CLI_OK) {
            return code;
        }
    }
    if (optind < argc) {
        return cli_misused("cpus", "unexpected argument '%s'", argv[optind]);
    }
    const int code = check(&w);
    return code == CLI_OK ? show(&w) : code;
}
