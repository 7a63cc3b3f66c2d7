/* SPDX-License-Identifier: MIT */
/* What a figure was measured on: processor, cores, kernel, compiler, build.
 *
 * A figure without its machine says nothing, so every result carries this. The compiler is the one
 * of the benchmark; the build compiles the library with the same one. */
#ifndef BENCH_SUPPORT_MACHINE_H
#define BENCH_SUPPORT_MACHINE_H

#include "bench/support/json.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct machine {
    char cpu_model[128];
    char kernel[256];
    unsigned cpus_online;
    unsigned cpus_allowed; /* by the affinity mask of this thread */
    const char *compiler;  /* "gcc" or "clang" */
    const char *compiler_version;
    const char *build_type;
    const char *flags;
} machine;

void machine_describe(machine *out_machine);

/* Two members of the object that is open: "machine" and "compiler". */
void machine_write_json(const machine *here, json *out);

void machine_print(const machine *here, FILE *out);

/* True when the build optimises; figures of any other build are not judged. */
bool machine_build_is_optimised(const machine *here);

#endif
