/* SPDX-License-Identifier: MIT */
/* The one place where Filch prints and aborts; only debug builds get here. */
#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

void filchi_check_failed(const char *sentence)
{
    fprintf(stderr, "filch: %s\n", sentence);
    abort();
}
