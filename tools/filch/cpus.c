/* SPDX-License-Identifier: MIT */
/* filch cpus: how many CPUs this process may use, and which.
 *
 * The number is the library's, since that is what a pool with the default size gets. The list is
 * read here, only to show it. What the number does not know about is said plainly. */
#define _GNU_SOURCE

#include "cli.h"
#include "json.h"

#include <getopt.h>
#include <sched.h>
#include <stdio.h>

#include <filch/cpus.h>

static void print_help(void)
{
    puts("Usage: filch cpus [--json | --table]\n"
         "Print the CPUs this process may use: those in its affinity mask. That is the number of\n"
         "workers of a pool with the default size. The cgroup quota and the number of physical\n"
         "cores are not read yet: in a container with a quota, give the number of workers.\n"
         "\n"
         "  -j, --json   JSON, also on a terminal\n"
         "  -t, --table  a table, also into a file or pipe\n"
         "  -h, --help   this text");
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

static void print_result(cli_form form)
{
    char list[512];
    const bool have_list = list_cpus(list, sizeof list);
    const unsigned allowed = filch_cpus_allowed();
    if (!cli_wants_json(form)) {
        printf("CPUs allowed   %u%s%s%s\n", allowed, have_list ? "  (affinity mask: " : "",
               have_list ? list : "", have_list ? ")" : "");
        puts("cgroup quota   not read yet");
        puts("cores          not read yet");
        return;
    }
    json j;
    json_begin(&j, stdout);
    json_text(&j, "command", "cpus");
    json_number(&j, "allowed", allowed);
    json_text(&j, "affinity", have_list ? list : NULL);
    json_null(&j, "cgroup_quota");
    json_null(&j, "cores");
    json_text(&j, "note", "cgroup quota and physical cores are not read yet");
    json_end(&j);
}

int cpus_main(int argc, char **argv)
{
    static const struct option options[] = { { "json", no_argument, NULL, 'j' },
                                             { "table", no_argument, NULL, 't' },
                                             { "help", no_argument, NULL, 'h' },
                                             { NULL, 0, NULL, 0 } };
    cli_form form = CLI_AUTO;
    int found;
    opterr = 0;
    while ((found = getopt_long(argc, argv, ":jth", options, NULL)) != -1) {
        switch (found) {
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
            return cli_bad_option("cpus", found, argv);
        }
    }
    if (optind < argc) {
        return cli_misused("cpus", "unexpected argument '%s'", argv[optind]);
    }
    print_result(form);
    return CLI_OK;
}
