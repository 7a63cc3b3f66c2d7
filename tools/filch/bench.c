/* SPDX-License-Identifier: MIT */
/* filch bench: the same work by Filch, by plain code, by other designs of pools and by other
 * runtimes, each in a process of its own. bench/grid/README.md says what the workloads are.
 *
 * Here are the options and the order of things. `filch bench --serve=NAME THREADS`, which is not in
 * the help text, is what the runner starts for the contestants of this program. */
#define _GNU_SOURCE

#include "bench.h"

#include "progress.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filch/cpus.h>
#include <filch/pool.h>

enum { DEFAULT_ROUNDS = 5, DEFAULT_SECONDS = 40, DEFAULT_TIMEOUT_S = 60, MOST_SECONDS = 1000000 };

static void print_help(void)
{
    puts("Usage: filch bench [WORKLOAD[=ARGUMENTS]]... [OPTION]...\n"
         "The same work by several contestants, each in a process of its own, turn by turn: plain\n"
         "code, Filch, pools of other designs, and other runtimes. Workloads, and the arguments\n"
         "that they are run with (a comma between two, as in heat=512,10):");
    for (int i = 0; i < GRID_WORKLOADS; i++) {
        const grid_workload_info *const info = &grid_workloads[i];
        printf("  %-8s %s: %s\n", info->name, info->what, info->sizes[0]);
    }
    printf(
        "'all' is all of them; none is all but uts, which is long, and sweep, which is six.\n"
        "\n"
        "  -c, --contestants LIST  names, 'own' (all below), 'designs', 'peers', 'all'; default:\n"
        "                          serial, serial-calls, filch and three designs\n"
        "  -p, --peers DIR         folder with programs of other runtimes; default: bench/grid of\n"
        "                          the build\n"
        "  -w, --workers N         threads of each contestant; default: see 'filch cpus'\n"
        "  -r, --rounds N          rounds that count, 1 to %d; default %d\n"
        "  -s, --seconds N         while so many last, what has a spread above %.0f %% is measured\n"
        "                          again, up to %d times in all; default %d\n"
        "      --timeout N         seconds to wait for an answer; default %d\n"
        "      --quick             tiny sizes, one round: does everything work?\n"
        "  -j, --json              JSON, also on a terminal\n"
        "  -t, --table             a table, also into a file or pipe\n"
        "  -q, --quiet             no progress on stderr\n"
        "  -h, --help              this text\n"
        "\n"
        "Contestants of its own:\n",
        BENCH_MOST_ROUNDS, DEFAULT_ROUNDS, BENCH_CALM * 100, BENCH_PASSES, DEFAULT_SECONDS,
        DEFAULT_TIMEOUT_S);
    for (int i = 0; i < GRID_CONTESTANTS; i++) {
        printf("  %s\n", grid_contestants[i]->name);
    }
    puts("\n"
         "Exit codes: 0 all results right; 1 a result is wrong, or a contestant crashed, hung or\n"
         "talked nonsense; 2 it could not run.");
}

/* ---- workloads ---- */

static bool add_row(bench *b, grid_workload workload, const char *args)
{
    if (b->row_count == BENCH_MOST_ROWS || strlen(args) >= GRID_ARGS_BYTES) {
        return false;
    }
    bench_row *const row = &b->rows[b->row_count++];
    row->workload = workload;
    memcpy(row->args, args, strlen(args) + 1);
    return true;
}

static bool add_workload(bench *b, grid_workload workload, bool quick)
{
    const grid_workload_info *const info = &grid_workloads[workload];
    const char *const *args = quick ? info->quick : info->sizes;
    bool added = true;
    for (; *args != NULL && added; args++) {
        added = add_row(b, workload, *args);
    }
    return added;
}

/* "name=1,2": the arguments are tried out first, so that a mistake is one of usage. */
static int add_with_args(bench *b, grid_workload workload, const char *text)
{
    char args[GRID_ARGS_BYTES];
    grid_input input = { .n = 0 };
    snprintf(args, sizeof args, "%s", text);
    for (char *comma = strchr(args, ','); comma != NULL; comma = strchr(comma, ',')) {
        *comma = ' ';
    }
    const char *const wrong = grid_prepare(&input, workload, args);
    grid_release(&input);
    if (wrong != NULL) {
        return cli_misused("bench", "%s=%s: %s", grid_workloads[workload].name, text, wrong);
    }
    return add_row(b, workload, args) ? CLI_OK : cli_misused("bench", "too many workloads");
}

static int choose_workloads(bench *b, int count, char **words, bool quick)
{
    if (count == 0 && quick) {
        static char all[] = "all";
        static char *every[] = { all };
        return choose_workloads(b, 1, every, quick);
    }
    for (int w = 0; w < GRID_WORKLOADS && count == 0; w++) {
        if (w != GRID_UTS && w != GRID_SWEEP) {
            add_row(b, (grid_workload)w, grid_workloads[w].sizes[0]);
        }
    }
    for (int i = 0; i < count; i++) {
        const char *const word = words[i];
        const size_t length = strcspn(word, "=");
        const grid_workload workload = grid_find_workload(word, length);
        bool added = true;
        if (strcmp(word, "all") == 0) {
            for (int w = 0; w < GRID_WORKLOADS && added; w++) {
                added = add_workload(b, (grid_workload)w, quick);
            }
        } else if (workload == GRID_WORKLOADS) {
            return cli_misused("bench", "no workload '%s'", word);
        } else if (word[length] == '=') {
            const int code = add_with_args(b, workload, word + length + 1);
            if (code != CLI_OK) {
                return code;
            }
        } else {
            added = add_workload(b, workload, quick);
        }
        if (!added) {
            return cli_misused("bench", "too many workloads");
        }
    }
    return CLI_OK;
}

/* ---- options ---- */

typedef struct choice {
    const char *contestants;
    const char *serve;
    bool quick;
    bool help;
    bool rounds_given;
} choice;

static bool read_unsigned(unsigned least, unsigned most, unsigned *out_number)
{
    uint64_t number = 0;
    if (!cli_read_number(optarg, least, most, &number)) {
        return false;
    }
    *out_number = (unsigned)number;
    return true;
}

static int take_number(bench *b, choice *c, int option)
{
    static const struct number {
        int option;
        const char *name;
        unsigned least;
        unsigned most;
    } numbers[] = { { 'w', "--workers", 1, FILCH_MAX_WORKERS },
                    { 'r', "--rounds", 1, BENCH_MOST_ROUNDS },
                    { 's', "--seconds", 0, MOST_SECONDS },
                    { 'T', "--timeout", 1, MOST_SECONDS } };
    unsigned *const places[] = { &b->workers, &b->rounds, &b->seconds, &b->timeout_s };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const struct number *const n = &numbers[i];
        if (n->option == option && !read_unsigned(n->least, n->most, places[i])) {
            return cli_misused("bench", "%s takes a number from %u to %u, not '%s'", n->name,
                               n->least, n->most, optarg);
        }
    }
    c->rounds_given = c->rounds_given || option == 'r';
    return CLI_OK;
}

static int take_option(bench *b, choice *c, int option)
{
    switch (option) {
    case 'c':
        c->contestants = optarg;
        return CLI_OK;
    case 'p':
        b->peers = optarg;
        return CLI_OK;
    case 'S':
        c->serve = optarg;
        return CLI_OK;
    case 'Q':
        c->quick = true;
        return CLI_OK;
    case 'q':
        b->quiet = true;
        return CLI_OK;
    case 'h':
        c->help = true;
        return CLI_OK;
    case 'j':
    case 't':
        b->form = option == 'j' ? CLI_JSON : CLI_TABLE;
        return CLI_OK;
    default:
        return take_number(b, c, option);
    }
}

static const struct option long_options[] = { { "contestants", required_argument, NULL, 'c' },
                                              { "peers", required_argument, NULL, 'p' },
                                              { "workers", required_argument, NULL, 'w' },
                                              { "rounds", required_argument, NULL, 'r' },
                                              { "seconds", required_argument, NULL, 's' },
                                              { "timeout", required_argument, NULL, 'T' },
                                              { "serve", required_argument, NULL, 'S' },
                                              { "quick", no_argument, NULL, 'Q' },
                                              { "json", no_argument, NULL, 'j' },
                                              { "table", no_argument, NULL, 't' },
                                              { "quiet", no_argument, NULL, 'q' },
                                              { "help", no_argument, NULL, 'h' },
                                              { NULL, 0, NULL, 0 } };

static int read_options(bench *b, choice *c, int argc, char **argv)
{
    int found;
    opterr = 0;
    while ((found = getopt_long(argc, argv, ":c:p:w:r:s:jtqh", long_options, NULL)) != -1) {
        const int code = found == '?' || found == ':' ? cli_bad_option("bench", found, argv)
                                                      : take_option(b, c, found);
        if (code != CLI_OK) {
            return code;
        }
    }
    if (c->quick && !c->rounds_given) {
        b->rounds = 1;
        b->seconds = 0;
    }
    return CLI_OK;
}

/* ---- the run ---- */

/* The folder of the peers, if this program lies where it was built. NULL otherwise; free() it. */
static char *find_peers(void)
{
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    struct stat status;
    char *peers = NULL;
    path[length > 0 ? length : 0] = '\0';
    for (int up = 0; up < 3; up++) { /* <build>/tools/filch/filch */
        char *const slash = strrchr(path, '/');
        if (slash == NULL) {
            return NULL;
        }
        *slash = '\0';
    }
    if (asprintf(&peers, "%s/bench/grid", path) < 0) {
        return NULL;
    }
    if (stat(peers, &status) != 0 || !S_ISDIR(status.st_mode)) {
        free(peers);
        return NULL;
    }
    return peers;
}

/* Say on stderr what the table says too: output may be JSON for a program. */
static int judge(const bench *b)
{
    int code = CLI_OK;
    for (unsigned r = 0; r < b->row_count; r++) {
        const bench_row *const row = &b->rows[r];
        for (unsigned i = 0; i < b->contestant_count; i++) {
            const bench_cell *const cell = &row->cells[i];
            if (cell->state == BENCH_BROKE || cell->state == BENCH_WRONG) {
                (void)cli_trouble("bench", "%s %s: %s: %s", grid_workloads[row->workload].name,
                                  row->args, b->contestants[i].name, cell->note);
                code = CLI_FAILED;
            }
        }
    }
    return code;
}

/* As many as a pool has by default. */
static unsigned default_workers(void)
{
    filch_cpus cpus = FILCH_CPUS_INIT;
    return filch_cpus_read(NULL, &cpus) == FILCH_OK ? cpus.cpu_bound : filch_cpus_allowed();
}

static int run_bench(bench *b, const choice *c, int count, char **words)
{
    char *const found = b->peers == NULL ? find_peers() : NULL;
    b->peers = found != NULL ? found : b->peers;
    b->workers = b->workers > 0 ? b->workers : default_workers();
    int code = bench_choose(b, c->contestants);
    code = code == CLI_OK ? choose_workloads(b, count, words, c->quick) : code;
    if (code == CLI_OK) {
        signal(SIGPIPE, SIG_IGN);
        progress_open(b->quiet);
        bench_run(b);
        const char *const problem = b->contestants[0].skipped;
        code =
            problem[0] != '\0' ? cli_trouble("bench", "cannot run serial: %s", problem) : judge(b);
    }
    if (code != CLI_TROUBLE) {
        bench_print(b);
    }
    for (unsigned i = 0; i < b->contestant_count; i++) {
        free(b->contestants[i].program);
    }
    free(found);
    return code;
}

static int serve(const char *name, char *threads)
{
    const grid_contestant *const contestant = grid_find_contestant(name);
    char *arguments[] = { "filch bench --serve", threads, NULL };
    if (contestant == NULL) {
        return cli_misused("bench", "no contestant '%s'", name);
    }
    return grid_serve(contestant, threads != NULL ? 2 : 1, arguments);
}

int bench_main(int argc, char **argv)
{
    bench *const b = calloc(1, sizeof *b);
    bench_row *const rows = calloc(BENCH_MOST_ROWS, sizeof *rows);
    choice c = { .contestants = NULL };
    int code = CLI_TROUBLE;
    if (b == NULL || rows == NULL) {
        code = cli_trouble("bench", "no memory");
    } else {
        b->rounds = DEFAULT_ROUNDS;
        b->seconds = DEFAULT_SECONDS;
        b->timeout_s = DEFAULT_TIMEOUT_S;
        b->rows = rows;
        code = read_options(b, &c, argc, argv);
        if (code == CLI_OK && c.help) {
            print_help();
        } else if (code == CLI_OK && c.serve != NULL) {
            code = serve(c.serve, argv[optind]);
        } else if (code == CLI_OK) {
            code = run_bench(b, &c, argc - optind, argv + optind);
        }
    }
    free(rows);
    free(b);
    return code;
}
