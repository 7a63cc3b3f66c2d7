/* SPDX-License-Identifier: MIT */
/* One line of progress on stderr, overwritten in place and removed at the end.
 *
 * Shown only if stderr is a terminal that can do that and the user did not ask for quiet;
 * otherwise every call does nothing. */
#ifndef FILCH_TOOLS_PROGRESS_H
#define FILCH_TOOLS_PROGRESS_H

#include <stdbool.h>

void progress_open(bool quiet);
void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_clear(void);

#endif
