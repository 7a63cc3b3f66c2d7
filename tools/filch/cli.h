/* SPDX-License-Identifier: MIT */
/* What the sub-commands share: their entry points, exit codes, messages, and numbers in and out.
 *
 * A sub-command gets its own name as argv[0], prints its result on stdout and everything else on
 * stderr, and returns an exit code. Result: a table on a terminal, JSON otherwise. */
#ifndef FILCH_TOOLS_CLI_H
#define FILCH_TOOLS_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes of every sub-command. */
enum {
    CLI_OK = 0,
    CLI_FAILED = 1, /* it ran, and the check it makes failed */
    CLI_TROUBLE = 2 /* it could not run: bad usage, no such folder, no memory */
};

int cpus_main(int argc, char **argv);
int stats_main(int argc, char **argv);
int demo_main(int argc, char **argv);
int bench_main(int argc, char **argv);

/* Print "filch <command>: <message>" on stderr and return CLI_TROUBLE. */
int cli_trouble(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a wrong option or argument; adds where to find help. */
int cli_misused(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Say what getopt_long found wrong about `option` (optopt or the text in argv). */
int cli_bad_option(const char *command, int found, char *const *argv);

/* Read a whole number, or a number of bytes with an optional K, M, G or T (powers of 1024). */
bool cli_read_number(const char *text, uint64_t least, uint64_t most, uint64_t *out_number);
bool cli_read_bytes(const char *text, uint64_t *out_bytes);

/* Which form the result takes. */
typedef enum cli_form { CLI_AUTO, CLI_TABLE, CLI_JSON } cli_form;
bool cli_wants_json(cli_form form);

/* Columns of the terminal behind `fd`; 80 when it is none. */
unsigned cli_columns(int fd);

/* Print a sentence, its words broken at 80 columns, and a newline. */
void cli_print_wrapped(const char *text);

/* "1,234,567"; "64.0 MiB"; "12.3 ms". All return `out`. */
enum { CLI_NUMBER_BYTES = 32 };
const char *cli_grouped(uint64_t number, char out[CLI_NUMBER_BYTES]);
const char *cli_size(uint64_t bytes, char out[CLI_NUMBER_BYTES]);
const char *cli_duration(uint64_t ns, char out[CLI_NUMBER_BYTES]);

/* "" for one thing, "s" for any other number of them. */
const char *cli_plural(uint64_t number);

#endif
