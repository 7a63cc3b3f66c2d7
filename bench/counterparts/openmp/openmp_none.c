/* SPDX-License-Identifier: MIT */
/* Stands in for openmp.c where the compiler has no OpenMP; the build chooses. */
#include "bench/counterparts/work.h"

const counterpart counterpart_openmp = { .name = "openmp", .missing = "built without OpenMP" };
