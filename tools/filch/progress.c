/* SPDX-License-Identifier: MIT */
/* The progress line of progress.h.
 * A line that is wider than the terminal would wrap and could not be overwritten, so it is cut.
 * Bytes above 127 are counted as a column each: too many at worst, never too few. */
#define _POSIX_C_SOURCE 200809L

#include "progress.h"

#include "cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool shown;

void progress_open(bool quiet)
{
    const char *const terminal = getenv("TERM");
    const bool capable = terminal != NULL && strcmp(terminal, "dumb") != 0;
    shown = !quiet && capable && isatty(STDERR_FILENO);
}

void progress_show(const char *format, ...)
{
    if (!shown) {
        return;
    }
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const unsigned columns = cli_columns(STDERR_FILENO);
    fprintf(stderr, "\r\033[K%.*s", (int)(columns - (columns > 0)), text);
    fflush(stderr);
}

void progress_clear(void)
{
    if (shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
}
