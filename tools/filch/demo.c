/* SPDX-License-Identifier: MIT */
/* filch demo: six jobs, three of them on real files, each by four contestants, with equal results.
 *
 * Here are the options, the choice of the folder, and the order of things: list the tree, read it
 * once, start the pools, run, print, judge. The files are only ever read. Trouble with single files
 * is counted and reported; only a folder that is not there or a lack of memory ends the demo. */
#define _POSIX_C_SOURCE 200809L

#include "demo.h"

#include "demo_sizes.h"
#include "progress.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <filch/filch.h>

enum {
    DEFAULT_MIB = 64,   /* so that all passes take about 20 s on two cores of 2020 */
    DEFAULT_BOARD = 15, /* 0.5 to 1 s for one core */
    DEFAULT_REPEATS = 5,
    OPTION_SIZES = 256,
    OPTION_QUOTA,
    WORTH_SHOWING = 4 << 20 /* bytes; a default folder with fewer is passed over for the next */
};

static const char *const default_paths[] = { "/usr/share/doc", "/usr/share", "/usr", "/etc" };
enum { DEFAULT_PATHS = sizeof default_paths / sizeof default_paths[0] };

/* List the first default folder that is worth showing, or else the last one that is there. */
static const char *list_default(uint64_t byte_limit, tree *out_tree, const char **out_path)
{
    const uint64_t enough = byte_limit / 2 < WORTH_SHOWING ? byte_limit / 2 : WORTH_SHOWING;
    const char *problem = NULL;
    for (size_t i = 0; i < DEFAULT_PATHS; i++) {
        tree_free(out_tree);
        *out_path = default_paths[i];
        problem = tree_list(default_paths[i], byte_limit, out_tree);
        if (problem == NULL && out_tree->counts.bytes >= enough) {
            break;
        }
    }
    return problem;
}

static void show_reading(void *ctx, uint64_t bytes)
{
    const demo_report *const report = ctx;
    char done[CLI_NUMBER_BYTES];
    char all[CLI_NUMBER_BYTES];
    progress_show("reading %s of %s", cli_size(bytes, done), cli_size(report->counts.bytes, all));
}

/* Like all steps below: false after a message. */
static bool read_tree(tree *t, demo_report *report)
{
    const demo_options *const options = report->options;
    progress_show("listing files");
    report->path = options->path;
    const char *problem = options->path == NULL
                              ? list_default(options->byte_limit, t, &report->path)
                              : tree_list(options->path, options->byte_limit, t);
    report->counts = t->counts;
    if (problem == NULL) {
        problem = tree_load(t, show_reading, report);
    }
    progress_clear();
    if (problem != NULL) {
        (void)cli_trouble("demo", "cannot read '%s': %s", report->path, problem);
        return false;
    }
    report->counts = t->counts;
    report->text_files = t->text.files;
    report->text_bytes = t->text.bytes;
    return true;
}

static bool run_contestants(job jobs[DEMO_JOBS], demo_report *report)
{
    contestant contestants[CONTESTANTS];
    const int error = contestants_open(report->workers, contestants);
    if (error != 0) {
        (void)cli_trouble("demo", "cannot start pools of %u threads: %s", report->workers,
                          strerror(error));
        return false;
    }
    demo_run(jobs, contestants, report);
    contestants_close(contestants);
    progress_clear();
    return true;
}

static bool save_sorted(const job *sort, const char *path)
{
    if (path == NULL || sort_job_save(sort, path)) {
        return true;
    }
    (void)cli_trouble("demo", "cannot write '%s': %s", path, strerror(errno));
    return false;
}

static bool run_jobs(tree *t, demo_report *report)
{
    const demo_options *const options = report->options;
    job jobs[DEMO_JOBS] = { { .state = NULL } };
    bool done = false;
    if (!hash_job_open(&jobs[0], t) || !sort_job_open(&jobs[1], &t->text) ||
        !queens_job_open(&jobs[2], options->board) || !coarse_job_open(&jobs[3]) ||
        !handful_job_open(&jobs[4]) || !flood_job_open(&jobs[5])) {
        (void)cli_trouble("demo", "cannot prepare the jobs: %s", strerror(ENOMEM));
    } else {
        report->text_lines = sort_job_lines(&jobs[1]);
        done = run_contestants(jobs, report) && save_sorted(&jobs[1], options->save_sorted);
    }
    for (int i = 0; i < DEMO_JOBS; i++) {
        if (jobs[i].state != NULL) {
            jobs[i].close(jobs[i].state);
        }
    }
    return done;
}

static int judge(const demo_report *report)
{
    int code = CLI_OK;
    if (demo_has_difference(report)) {
        (void)cli_trouble("demo", "results differ between contestants");
        code = CLI_FAILED;
    }
    if (demo_lacks_steals(report)) {
        (void)cli_trouble("demo", "%u workers, and not one steal", report->workers);
        code = CLI_FAILED;
    }
    return code;
}

static int run_demo(const demo_options *options)
{
    demo_report *const report = calloc(1, sizeof *report);
    tree t = { .text = { .data = NULL } };
    if (report == NULL || !sha_open()) {
        free(report);
        return cli_trouble("demo", "cannot start: no memory, or no SHA-256 in libcrypto");
    }
    const filch_time start = filch_time_now();
    report->options = options;
    report->cpus = filch_cpus_allowed();
    report->workers = options->workers != 0 ? options->workers : report->cpus;
    progress_open(options->quiet);
    int code = CLI_TROUBLE;
    if (read_tree(&t, report) && run_jobs(&t, report)) {
        report->seconds = (double)(filch_time_now() - start) / 1e9;
        demo_print(report);
        code = judge(report);
    }
    tree_free(&t);
    sha_close();
    free(report);
    return code;
}

static void print_help(void)
{
    printf(
        "Usage: filch demo [PATH] [OPTION]...\n"
        "Six jobs, each by four contestants with the same code and the same cut-offs: plain\n"
        "calls, a static partition, one shared queue behind a mutex, and work stealing.\n"
        "Three jobs that are hard to cut into equal pieces:\n"
        "  hash     SHA-256 of the directory tree PATH, links not followed\n"
        "  sort     all lines of its text files, in the order of LC_ALL=C sort\n"
        "  queens   count the ways to place N queens on a board\n"
        "and three that do not need stealing:\n"
        "  coarse   64 equal tasks of half a millisecond\n"
        "  handful  5 equal tasks\n"
        "  flood    200,000 empty tasks from one thread\n"
        "Files are only read. Without PATH: the first of /usr/share/doc, /usr/share, /usr and\n"
        "/etc that is there and has 4 MiB.\n"
        "\n"
        "  -w, --workers N         workers of each pool; default: see 'filch cpus'\n"
        "  -b, --bytes MAX         read at most so many bytes, such as 300K or 2G; default %dM\n"
        "  -r, --repeats N         timed repeats after the warm-up, 1 to %d; default %d\n"
        "  -n, --queens N          size of the board, %d to %d; default %d\n"
        "  -s, --save-sorted FILE  write the sorted lines to FILE\n"
        "      --sizes N,...       not the jobs, but pools of these sizes at full load: tasks a\n"
        "                          second, how late a thread beside the pool is, and how often\n"
        "                          the cgroup is throttled; a second for each size and repeat\n"
        "      --quota CPUS        with --sizes: in a cgroup with this quota, such as 1.5 (root)\n"
        "  -j, --json              JSON, also on a terminal\n"
        "  -t, --table             a table, also into a file or pipe\n"
        "  -q, --quiet             no progress on stderr\n"
        "  -h, --help              this text\n"
        "\n"
        "Exit codes: 0 all results equal; 1 a result differs, or two or more workers made no\n"
        "steal in 50 ms of work; 2 it could not run. Files that change meanwhile are reported\n"
        "as 'changed'; that is no failure.\n",
        DEFAULT_MIB, DEMO_MOST_REPEATS, DEFAULT_REPEATS, QUEENS_LEAST, QUEENS_MOST, DEFAULT_BOARD);
}

static bool read_unsigned(const char *text, unsigned least, unsigned most, unsigned *out_number)
{
    uint64_t number = 0;
    if (!cli_read_number(text, least, most, &number)) {
        return false;
    }
    *out_number = (unsigned)number;
    return true;
}

/* "1,2,4,8" */
static bool read_sizes(const char *text, demo_options *o)
{
    char number[8];
    o->size_count = 0;
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        if (length >= sizeof number || o->size_count == DEMO_MOST_SIZES) {
            return false;
        }
        memcpy(number, at, length);
        number[length] = '\0';
        if (!read_unsigned(number, 1, DEMO_LARGEST_SIZE, &o->sizes[o->size_count++])) {
            return false;
        }
        at += length;
        if (*at == '\0') {
            return true;
        }
    }
}

/* "1.5", at most three decimals, as thousandths. The kernel takes a hundredth of a CPU and more. */
static bool read_quota(const char *text, unsigned *out_milli)
{
    char digits[16] = "";
    const size_t whole = strcspn(text, ".");
    const size_t parts = text[whole] == '.' ? strlen(text + whole + 1) : 0;
    if (whole == 0 || whole > 4 || parts > 3 || (text[whole] == '.' && parts == 0)) {
        return false;
    }
    memcpy(digits, text, whole);
    memcpy(digits + whole, "000", sizeof "000");
    memcpy(digits + whole, text + whole + (parts != 0), parts);
    return read_unsigned(digits, 10, FILCH_MAX_WORKERS * 1000, out_milli);
}

/* Take one option; CLI_OK, or the exit code after a message. */
static int take_option(int option, demo_options *o)
{
    switch (option) {
    case 'w':
        return read_unsigned(optarg, 1, FILCH_MAX_WORKERS, &o->workers)
                   ? CLI_OK
                   : cli_misused("demo", "--workers takes a number from 1 to %u, not '%s'",
                                 FILCH_MAX_WORKERS, optarg);
    case 'r':
        return read_unsigned(optarg, 1, DEMO_MOST_REPEATS, &o->repeats)
                   ? CLI_OK
                   : cli_misused("demo", "--repeats takes a number from 1 to %d, not '%s'",
                                 DEMO_MOST_REPEATS, optarg);
    case 'n':
        return read_unsigned(optarg, QUEENS_LEAST, QUEENS_MOST, &o->board)
                   ? CLI_OK
                   : cli_misused("demo", "--queens takes a number from %d to %d, not '%s'",
                                 QUEENS_LEAST, QUEENS_MOST, optarg);
    case 'b':
        return cli_read_bytes(optarg, &o->byte_limit) && o->byte_limit > 0
                   ? CLI_OK
                   : cli_misused("demo", "--bytes takes a size such as 300K or 2G, not '%s'",
                                 optarg);
    case 's':
        o->save_sorted = optarg;
        return CLI_OK;
    case OPTION_SIZES:
        return read_sizes(optarg, o)
                   ? CLI_OK
                   : cli_misused("demo", "--sizes takes 1 to %d numbers from 1 to %d, not '%s'",
                                 DEMO_MOST_SIZES, DEMO_LARGEST_SIZE, optarg);
    case OPTION_QUOTA:
        return read_quota(optarg, &o->quota_milli)
                   ? CLI_OK
                   : cli_misused("demo", "--quota takes CPUs such as 1.5, not '%s'", optarg);
    case 'q':
        o->quiet = true;
        return CLI_OK;
    default:
        o->form = option == 'j' ? CLI_JSON : CLI_TABLE;
        return CLI_OK;
    }
}

static const struct option long_options[] = { { "workers", required_argument, NULL, 'w' },
                                              { "bytes", required_argument, NULL, 'b' },
                                              { "repeats", required_argument, NULL, 'r' },
                                              { "queens", required_argument, NULL, 'n' },
                                              { "save-sorted", required_argument, NULL, 's' },
                                              { "sizes", required_argument, NULL, OPTION_SIZES },
                                              { "quota", required_argument, NULL, OPTION_QUOTA },
                                              { "json", no_argument, NULL, 'j' },
                                              { "table", no_argument, NULL, 't' },
                                              { "quiet", no_argument, NULL, 'q' },
                                              { "help", no_argument, NULL, 'h' },
                                              { NULL, 0, NULL, 0 } };

int demo_main(int argc, char **argv)
{
    demo_options options = { .byte_limit = (uint64_t)DEFAULT_MIB << 20,
                             .repeats = DEFAULT_REPEATS,
                             .board = DEFAULT_BOARD };
    int found;
    opterr = 0;
    while ((found = getopt_long(argc, argv, ":w:b:r:n:s:jtqh", long_options, NULL)) != -1) {
        if (found == 'h') {
            print_help();
            return CLI_OK;
        }
        if (found == '?' || found == ':') {
            return cli_bad_option("demo", found, argv);
        }
        const int code = take_option(found, &options);
        if (code != CLI_OK) {
            return code;
        }
    }
    if (argc - optind > 1) {
        return cli_misused("demo", "one PATH only, not also '%s'", argv[optind + 1]);
    }
    options.path = argv[optind]; /* NULL if there is none */
    if (options.quota_milli != 0 && options.size_count == 0) {
        return cli_misused("demo", "--quota goes with --sizes");
    }
    if (options.size_count != 0 &&
        (options.path != NULL || options.workers != 0 || options.save_sorted != NULL)) {
        return cli_misused("demo",
                           "--sizes does none of the jobs: no PATH, --workers, --save-sorted");
    }
    return options.size_count != 0 ? sizes_run(&options) : run_demo(&options);
}
