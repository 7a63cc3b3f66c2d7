/* SPDX-License-Identifier: MIT */
/* Describes the machine. What cannot be found out is written as "unknown", never left out.
 *
 * The processor's name comes from /proc/cpuinfo ("model name" on x86; other processors have no such
 * line, then the machine name of uname stands in). BENCH_BUILD_TYPE and BENCH_FLAGS come from the
 * build. */
#define _GNU_SOURCE /* sched_getaffinity, CPU_COUNT */
#include "bench/support/machine.h"

#include <sched.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifndef BENCH_BUILD_TYPE
#define BENCH_BUILD_TYPE "unknown"
#endif
#ifndef BENCH_FLAGS
#define BENCH_FLAGS "unknown"
#endif

#if defined(__clang__)
static const char compiler_name[] = "clang";
#elif defined(__GNUC__)
static const char compiler_name[] = "gcc";
#else
static const char compiler_name[] = "unknown";
#endif

static bool read_cpu_model(char *out_text, size_t size)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (file == NULL) {
        return false;
    }
    char line[512];
    bool found = false;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            const char *text = colon + 1 + strspn(colon + 1, " \t");
            snprintf(out_text, size, "%.*s", (int)strcspn(text, "\n"), text);
            found = true;
        }
    }
    fclose(file);
    return found;
}

void machine_describe(machine *out_machine)
{
    struct utsname names;
    const bool named = uname(&names) == 0;
    snprintf(out_machine->kernel, sizeof out_machine->kernel, "%.60s %.60s %.60s",
             named ? names.sysname : "unknown", named ? names.release : "",
             named ? names.machine : "");
    if (!read_cpu_model(out_machine->cpu_model, sizeof out_machine->cpu_model)) {
        snprintf(out_machine->cpu_model, sizeof out_machine->cpu_model, "%.60s",
                 named ? names.machine : "unknown");
    }
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    out_machine->cpus_online = online > 0 ? (unsigned)online : 0;
    cpu_set_t mask;
    out_machine->cpus_allowed = out_machine->cpus_online;
    if (sched_getaffinity(0, sizeof mask, &mask) == 0) {
        out_machine->cpus_allowed = (unsigned)CPU_COUNT(&mask);
    }
    out_machine->compiler = compiler_name;
    out_machine->compiler_version = __VERSION__;
    out_machine->build_type = BENCH_BUILD_TYPE;
    out_machine->flags = BENCH_FLAGS;
}

void machine_write_json(const machine *here, json *out)
{
    json_open(out, "machine", '{');
    json_text(out, "cpu_model", here->cpu_model);
    json_number(out, "cpus_online", here->cpus_online);
    json_number(out, "cpus_allowed", here->cpus_allowed);
    json_text(out, "kernel", here->kernel);
    json_close(out, '}');
    json_open(out, "compiler", '{');
    json_text(out, "name", here->compiler);
    json_text(out, "version", here->compiler_version);
    json_text(out, "build_type", here->build_type);
    json_text(out, "flags", here->flags);
    json_close(out, '}');
}

void machine_print(const machine *here, FILE *out)
{
    fprintf(out, "%s, %u cpus (%u allowed), %s\n%s %s, %s, %s\n", here->cpu_model,
            here->cpus_online, here->cpus_allowed, here->kernel, here->compiler,
            here->compiler_version, here->build_type, here->flags);
}

bool machine_build_is_optimised(const machine *here)
{
    return strcmp(here->build_type, "Release") == 0 ||
           strcmp(here->build_type, "RelWithDebInfo") == 0;
}
