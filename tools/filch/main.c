/* SPDX-License-Identifier: MIT */
/* The command `filch`: finds the sub-command, answers --help and --version.
 *
 * One file per sub-command; each reads its own options. Only here is stdout closed, so that a full
 * disk or a closed pipe is an error of every sub-command alike. */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <filch/base.h>

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    { "demo", demo_main, "six parallel jobs, three on your files: who wins, and why" },
    { "bench", bench_main, "the same work by Filch, plain code, other designs and other runtimes" },
    { "stats", stats_main, "run a small mixed workload and print the counters of the pool" },
    { "cpus", cpus_main, "the right number of workers for this process, and why" },
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void print_help(void)
{
    puts("Usage: filch COMMAND [OPTION]...\n"
         "Filch is a work-stealing task runtime and thread pool for C. Commands:\n");
    for (size_t i = 0; i < COMMANDS; i++) {
        printf("  %-7s %s\n", commands[i].name, commands[i].summary);
    }
    puts("\n"
         "  -h, --help     this text; 'filch COMMAND --help' has the options\n"
         "  -V, --version  the version\n"
         "\n"
         "Results are a table on a terminal and JSON otherwise.\n"
         "Exit codes: 0 ok, 1 the check a command makes failed, 2 it could not run.");
}

static void print_version(void)
{
    printf("filch %s\n", filch_version());
#ifdef FILCH_BUILD_ID
    printf("build %s\n", FILCH_BUILD_ID);
#endif
}

static int run_command(int argc, char **argv)
{
    const char *const name = argv[1];
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(name, commands[i].name) == 0) {
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    return cli_misused("", "no command '%s'", name);
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        return cli_misused("", "which command? demo, bench, stats or cpus");
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_help();
        return CLI_OK;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        print_version();
        return CLI_OK;
    }
    return run_command(argc, argv);
}

#ifndef FILCH_HAVE_DEMO
int demo_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return cli_trouble("demo", "left out of this build: libcrypto was missing");
}
#endif

int main(int argc, char **argv)
{
    const int code = run(argc, argv);
    const int failed_before = ferror(stdout);
    errno = 0;
    if (fclose(stdout) != 0 || failed_before) {
        return cli_trouble("", "cannot write the result%s%s", errno != 0 ? ": " : "",
                           errno != 0 ? strerror(errno) : "");
    }
    return code;
}
