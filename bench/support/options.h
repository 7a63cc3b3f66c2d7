/* SPDX-License-Identifier: MIT */
/* Command-line options of the benchmarks: flags (`--table`) and numbers (`--reps 21`).
 *
 * Each benchmark lists what it takes; a number outside its limits or an unknown word is an error.
 * `--help` is understood everywhere and prints the list with the present values. */
#ifndef BENCH_SUPPORT_OPTIONS_H
#define BENCH_SUPPORT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct option_spec {
    const char *name; /* with its dashes */
    const char *help;
    bool *flag;            /* either this ... */
    unsigned long *number; /* ... or this */
    unsigned long low;
    unsigned long high;
} option_spec;

typedef enum options_verdict {
    OPTIONS_GO,   /* run with what was read */
    OPTIONS_DONE, /* help was printed: leave with success */
    OPTIONS_WRONG /* the mistake was printed to stderr: leave with 2 */
} options_verdict;

options_verdict options_parse(const option_spec *specs, size_t count, int argc, char **argv);

#endif
