/* SPDX-License-Identifier: MIT */
/* Cores, packages, caches, NUMA nodes and kinds of cores from /sys, for the allowed CPUs. Each group
 * is read once, through its first CPU; an offline or hidden CPU counts as a group of its own. */
#include "plat/cpus.h"

#include <stdio.h>
#include <string.h>

#define CPU_FOLDER "/sys/devices/system/cpu"

enum { KINDS_MOST = 16, PATH_BYTES = 128, CACHE_INDICES = 8 };

static bool read_set(const filchi_files *files, const char *path, filchi_cpu_set *out_set)
{
    char bytes[FILCHI_SMALL_BYTES];
    filchi_text text;
    return filchi_files_small(files, path, bytes, sizeof(bytes), &text) &&
           filchi_cpu_set_parse(text, out_set);
}

static bool read_number(const filchi_files *files, const char *path, uint64_t *out_number)
{
    char bytes[64];
    filchi_text text;
    return filchi_files_small(files, path, bytes, sizeof(bytes), &text) &&
           filchi_text_number(text, out_number);
}

static bool read_group_as(const filchi_files *files, unsigned cpu, const char *name,
                          filchi_cpu_set *out_set)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof(path), CPU_FOLDER "/cpu%u/%s", cpu, name);
    return read_set(files, path, out_set) && filchi_cpu_set_has(out_set, cpu);
}

/* The group of `cpu` from the first of two names that is there; `*hint` is the one that was there the
 * last time. */
static bool read_group(const filchi_files *files, unsigned cpu, const char *const names[2],
                       unsigned *hint, filchi_cpu_set *out_set)
{
    if (read_group_as(files, cpu, names[*hint], out_set)) {
        return true;
    }
    if (read_group_as(files, cpu, names[1 - *hint], out_set)) {
        *hint = 1 - *hint;
        return true;
    }
    return false;
}

/* Groups that the allowed CPUs lie in; 0: nothing is said of any. `out_largest` may be NULL. */
static unsigned count_groups(const filchi_files *files, const filchi_cpu_set *allowed,
                             const char *const names[2], unsigned *out_largest)
{
    filchi_cpu_set covered;
    filchi_cpu_set group;
    unsigned groups = 0;
    unsigned largest = 0;
    unsigned hint = 0;
    memset(&covered, 0, sizeof(covered));
    for (unsigned cpu = filchi_cpu_set_next(allowed, 0); cpu < FILCHI_CPUS_MAX;
         cpu = filchi_cpu_set_next(allowed, cpu + 1)) {
        if (filchi_cpu_set_has(&covered, cpu)) {
            continue;
        }
        groups++;
        if (read_group(files, cpu, names, &hint, &group)) {
            const unsigned members = filchi_cpu_set_count(&group);
            largest = members > largest ? members : largest;
            filchi_cpu_set_unite(&covered, &group);
        } else if (groups == 1) {
            return 0;
        }
    }
    if (out_largest != NULL) {
        *out_largest = largest;
    }
    return groups;
}

/* The new name and the old one. */
static const char *const core_names[2] = { "topology/core_cpus_list",
                                           "topology/thread_siblings_list" };
static const char *const package_names[2] = { "topology/package_cpus_list",
                                              "topology/core_siblings_list" };

static void read_cores(const filchi_files *files, const filchi_cpu_set *allowed,
                       filchi_topology *topology)
{
    uint64_t active;
    if (read_number(files, CPU_FOLDER "/smt/active", &active) && active == 0) {
        topology->cores = filchi_cpu_set_count(allowed); /* one file in place of one for each CPU */
        topology->threads_per_core = 1;
        return;
    }
    topology->cores = count_groups(files, allowed, core_names, &topology->threads_per_core);
}

/* The cache of the highest level that `cpu` has; false: caches are not described. */
static bool last_cache(const filchi_files *files, unsigned cpu, unsigned *out_index)
{
    uint64_t highest = 0;
    for (unsigned index = 0; index < CACHE_INDICES; index++) {
        char path[PATH_BYTES];
        uint64_t level;
        (void)snprintf(path, sizeof(path), CPU_FOLDER "/cpu%u/cache/index%u/level", cpu, index);
        if (!read_number(files, path, &level)) {
            break;
        }
        if (level >= highest) {
            highest = level;
            *out_index = index;
        }
    }
    return highest != 0;
}

/* The lists of that cache and, since small cores may lack the last level of the big ones, of the one
 * below. */
static bool last_cache_names(const filchi_files *files, unsigned cpu, char out_names[2][48])
{
    unsigned index = 0;
    if (!last_cache(files, cpu, &index)) {
        return false;
    }
    (void)snprintf(out_names[0], 48, "cache/index%u/shared_cpu_list", index);
    (void)snprintf(out_names[1], 48, "cache/index%u/shared_cpu_list", index != 0 ? index - 1 : 0);
    return true;
}

static void read_caches(const filchi_files *files, const filchi_cpu_set *allowed,
                        filchi_topology *topology)
{
    char shared[2][48];
    const char *const names[2] = { shared[0], shared[1] };
    if (last_cache_names(files, filchi_cpu_set_next(allowed, 0), shared)) {
        topology->caches = count_groups(files, allowed, names, NULL);
    }
}

static void read_nodes(const filchi_files *files, const filchi_cpu_set *allowed,
                       filchi_topology *topology)
{
    filchi_cpu_set nodes;
    filchi_cpu_set seen;
    unsigned known = 0;
    if (!read_set(files, "/sys/devices/system/node/online", &nodes)) {
        return;
    }
    memset(&seen, 0, sizeof(seen));
    for (unsigned node = filchi_cpu_set_next(&nodes, 0); node < FILCHI_CPUS_MAX;
         node = filchi_cpu_set_next(&nodes, node + 1)) {
        filchi_cpu_set cpus;
        char path[PATH_BYTES];
        (void)snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpulist", node);
        if (read_set(files, path, &cpus)) {
            filchi_cpu_set_intersect(&cpus, allowed);
            filchi_cpu_set_unite(&seen, &cpus);
            const unsigned now = filchi_cpu_set_count(&seen);
            topology->nodes += now != known; /* some have memory only, or others' CPUs */
            known = now;
        }
    }
}

/* x86 names its kinds. */
static void read_hybrid(const filchi_files *files, const filchi_cpu_set *allowed,
                        filchi_topology *topology)
{
    static const char *const names[] = { "/sys/devices/cpu_core/cpus", "/sys/devices/cpu_atom/cpus",
                                         "/sys/devices/cpu_lowpower/cpus" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        filchi_cpu_set cpus;
        if (!read_set(files, names[i], &cpus)) {
            continue;
        }
        filchi_cpu_set_intersect(&cpus, allowed);
        const unsigned count = filchi_cpu_set_count(&cpus);
        topology->strong = topology->kinds == 0 ? count : topology->strong;
        topology->kinds += count != 0;
    }
}

static bool is_new(const uint64_t *seen, unsigned count, uint64_t value)
{
    for (unsigned i = 0; i < count; i++) {
        if (seen[i] == value) {
            return false;
        }
    }
    return true;
}

static void read_kinds(const filchi_files *files, const filchi_cpu_set *allowed,
                       filchi_topology *topology)
{
    uint64_t seen[KINDS_MOST];
    uint64_t highest = 0;
    for (unsigned cpu = filchi_cpu_set_next(allowed, 0); cpu < FILCHI_CPUS_MAX;
         cpu = filchi_cpu_set_next(allowed, cpu + 1)) {
        char path[PATH_BYTES];
        uint64_t capacity;
        (void)snprintf(path, sizeof(path), CPU_FOLDER "/cpu%u/cpu_capacity", cpu);
        if (!read_number(files, path, &capacity)) {
            break;
        }
        if (capacity > highest) {
            highest = capacity;
            topology->strong = 0;
        }
        topology->strong += capacity == highest;
        if (topology->kinds < KINDS_MOST && is_new(seen, topology->kinds, capacity)) {
            seen[topology->kinds++] = capacity;
        }
    }
    if (topology->kinds == 0) {
        read_hybrid(files, allowed, topology);
    }
}

/* Where in a spot the name of a group goes. */
typedef unsigned *filchi_spot_field(filchi_cpu_spot *spot);

static unsigned *core_of(filchi_cpu_spot *spot)
{
    return &spot->core;
}

static unsigned *cache_of(filchi_cpu_spot *spot)
{
    return &spot->cache;
}

static unsigned *package_of(filchi_cpu_spot *spot)
{
    return &spot->package;
}

/* Name each spot after the first in its group; what has no group keeps what it has. */
static void name_groups(const filchi_files *files, filchi_cpu_spot *spots, size_t count,
                        const char *const names[2], filchi_spot_field *field)
{
    filchi_cpu_set named;
    filchi_cpu_set group;
    unsigned hint = 0;
    memset(&named, 0, sizeof(named));
    for (size_t i = 0; i < count; i++) {
        if (filchi_cpu_set_has(&named, spots[i].cpu)) {
            continue;
        }
        if (!read_group(files, spots[i].cpu, names, &hint, &group)) {
            if (i == 0) {
                return; /* nothing is said of any */
            }
            continue;
        }
        for (size_t k = i; k < count; k++) {
            if (filchi_cpu_set_has(&group, spots[k].cpu)) {
                *field(&spots[k]) = spots[i].cpu;
                filchi_cpu_set_add(&named, spots[k].cpu);
            }
        }
    }
}

size_t filchi_topology_spots(const filchi_files *files, const filchi_cpu_set *allowed,
                             filchi_cpu_spot *out_spots, size_t most)
{
    char shared[2][48];
    const char *const caches[2] = { shared[0], shared[1] };
    size_t count = 0;
    for (unsigned cpu = filchi_cpu_set_next(allowed, 0); cpu < FILCHI_CPUS_MAX && count < most;
         cpu = filchi_cpu_set_next(allowed, cpu + 1)) {
        out_spots[count++] = (filchi_cpu_spot){ .cpu = cpu, .core = cpu };
    }
    name_groups(files, out_spots, count, core_names, core_of);
    name_groups(files, out_spots, count, package_names, package_of);
    if (count != 0 && last_cache_names(files, out_spots[0].cpu, shared)) {
        name_groups(files, out_spots, count, caches, cache_of);
    }
    return count;
}

void filchi_topology_read(const filchi_files *files, const filchi_cpu_set *allowed, bool in_full,
                          filchi_topology *out_topology)
{
    memset(out_topology, 0, sizeof(*out_topology));
    if (filchi_cpu_set_count(allowed) == 0) {
        return;
    }
    read_cores(files, allowed, out_topology);
    if (in_full) {
        out_topology->packages = count_groups(files, allowed, package_names, NULL);
        read_caches(files, allowed, out_topology);
        read_nodes(files, allowed, out_topology);
        read_kinds(files, allowed, out_topology);
    }
}
