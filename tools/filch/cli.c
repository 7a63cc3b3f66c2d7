/* SPDX-License-Identifier: MIT */
/* Messages, terminal and numbers for the sub-commands; the contracts are in cli.h.
 * Nothing here knows what any sub-command does. Numbers are read strictly: no sign, no blanks,
 * nothing left over, no overflow, since a misread limit would be worse than an error. */
#define _GNU_SOURCE

#include "cli.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void print_message(const char *command, const char *format, va_list args)
{
    fflush(stdout);
    fprintf(stderr, *command != '\0' ? "filch %s: " : "filch%s: ", command);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

int cli_trouble(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message(command, format, args);
    va_end(args);
    return CLI_TROUBLE;
}

int cli_misused(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message(command, format, args);
    va_end(args);
    fprintf(stderr, "Try 'filch%s%s --help'.\n", *command != '\0' ? " " : "", command);
    return CLI_TROUBLE;
}

int cli_bad_option(const char *command, int found, char *const *argv)
{
    const char *const text = argv[optind - 1];
    if (found == ':') {
        return cli_misused(command, "option '%s' needs a value", text);
    }
    /* A cluster of short options stays at optind until its end, so only the letter is sure. */
    if (optopt != 0 && strncmp(text, "--", 2) != 0) {
        return cli_misused(command, "unknown option '-%c'", optopt);
    }
    return cli_misused(command, "unknown or ambiguous option '%s'", text);
}

static bool read_digits(const char **text, uint64_t *out_number)
{
    uint64_t number = 0;
    const char *at = *text;
    for (; *at >= '0' && *at <= '9'; at++) {
        const uint64_t digit = (uint64_t)(*at - '0');
        if (number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    const bool any = at != *text;
    *text = at;
    *out_number = number;
    return any;
}

bool cli_read_number(const char *text, uint64_t least, uint64_t most, uint64_t *out_number)
{
    uint64_t number = 0;
    if (!read_digits(&text, &number) || *text != '\0' || number < least || number > most) {
        return false;
    }
    *out_number = number;
    return true;
}

bool cli_read_bytes(const char *text, uint64_t *out_bytes)
{
    static const char units[] = "KMGT";
    uint64_t number = 0;
    if (!read_digits(&text, &number)) {
        return false;
    }
    unsigned shift = 0;
    if (*text != '\0') {
        const char *const unit = strchr(units, *text >= 'a' ? *text - ('a' - 'A') : *text);
        if (unit == NULL || *unit == '\0' || text[1] != '\0') {
            return false;
        }
        shift = 10 * (unsigned)(unit - units + 1);
    }
    if (number > UINT64_MAX >> shift) {
        return false;
    }
    *out_bytes = number << shift;
    return true;
}

bool cli_wants_json(cli_form form)
{
    return form == CLI_JSON || (form == CLI_AUTO && !isatty(STDOUT_FILENO));
}

unsigned cli_columns(int fd)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return 80;
    }
    return size.ws_col;
}

void cli_print_wrapped(const char *text)
{
    enum { WRAP = 79 };
    int column = 0;
    while (*text != '\0') {
        const int length = (int)strcspn(text, " ");
        if (column > 0 && column + 1 + length > WRAP) {
            putchar('\n');
            column = 0;
        }
        printf("%s%.*s", column > 0 ? " " : "", length, text);
        column += length + (column > 0);
        text += length + (text[length] == ' ');
    }
    putchar('\n');
}

const char *cli_grouped(uint64_t number, char out[CLI_NUMBER_BYTES])
{
    char digits[CLI_NUMBER_BYTES];
    const size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, number);
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            out[used++] = ',';
        }
        out[used++] = digits[i];
    }
    out[used] = '\0';
    return out;
}

const char *cli_size(uint64_t bytes, char out[CLI_NUMBER_BYTES])
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    double amount = (double)bytes;
    size_t unit = 0;
    while (amount >= 1024 && unit + 1 < sizeof units / sizeof units[0]) {
        amount /= 1024;
        unit++;
    }
    snprintf(out, CLI_NUMBER_BYTES, unit == 0 ? "%.0f %s" : "%.1f %s", amount, units[unit]);
    return out;
}

const char *cli_duration(uint64_t ns, char out[CLI_NUMBER_BYTES])
{
    static const char *const units[] = { "ns", "us", "ms", "s" };
    double amount = (double)ns;
    size_t unit = 0;
    while (amount >= 1000 && unit + 1 < sizeof units / sizeof units[0]) {
        amount /= 1000;
        unit++;
    }
    int decimals = amount < 10 ? 2 : amount < 100 ? 1 : 0;
    decimals = unit != 0 ? decimals : 0;
    snprintf(out, CLI_NUMBER_BYTES, "%.*f %s", decimals, amount, units[unit]);
    return out;
}

const char *cli_plural(uint64_t number)
{
    return number == 1 ? "" : "s";
}
