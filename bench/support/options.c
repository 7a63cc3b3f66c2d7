/* SPDX-License-Identifier: MIT */
/* Reads options into the variables the list points to. Plain and strict: long options only, each
 * number as a word of its own, decimal.
 *
 * Everything that is wrong is said on stderr with the word it is about; nothing is guessed. */
#include "bench/support/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_help(const option_spec *specs, size_t count, const char *program)
{
    printf("usage: %s [options]\n", program);
    for (size_t i = 0; i < count; i++) {
        const option_spec *spec = &specs[i];
        if (spec->number != NULL) {
            printf("  %-12s N  %s (%lu to %lu; %lu)\n", spec->name, spec->help, spec->low,
                   spec->high, *spec->number);
        } else {
            printf("  %-12s    %s\n", spec->name, spec->help);
        }
    }
}

static bool read_number(const option_spec *spec, const char *text)
{
    if (text == NULL || *text < '0' || *text > '9') {
        return false; /* strtoul alone would take blanks and a minus sign */
    }
    char *end = NULL;
    errno = 0;
    const unsigned long value = strtoul(text, &end, 10);
    if (errno != 0 || *end != '\0' || value < spec->low || value > spec->high) {
        return false;
    }
    *spec->number = value;
    return true;
}

static const option_spec *find(const option_spec *specs, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(specs[i].name, word) == 0) {
            return &specs[i];
        }
    }
    return NULL;
}

options_verdict options_parse(const option_spec *specs, size_t count, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            print_help(specs, count, argv[0]);
            return OPTIONS_DONE;
        }
        const option_spec *spec = find(specs, count, argv[i]);
        if (spec == NULL) {
            fprintf(stderr, "%s: unknown option '%s', try --help\n", argv[0], argv[i]);
            return OPTIONS_WRONG;
        }
        if (spec->flag != NULL) {
            *spec->flag = true;
            continue;
        }
        i++; /* argv[argc] is NULL, which read_number refuses */
        if (!read_number(spec, argv[i])) {
            fprintf(stderr, "%s: %s needs a number from %lu to %lu\n", argv[0], spec->name,
                    spec->low, spec->high);
            return OPTIONS_WRONG;
        }
    }
    return OPTIONS_GO;
}
