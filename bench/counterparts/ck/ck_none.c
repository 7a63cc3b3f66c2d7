/* SPDX-License-Identifier: MIT */
/* Stands in for ck.c where Concurrency Kit was not found; the build chooses. */
#include "bench/counterparts/work.h"

const counterpart counterpart_ck = { .name = "ck ring", .missing = "built without libck-dev" };
