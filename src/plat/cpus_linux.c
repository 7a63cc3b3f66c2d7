/* SPDX-License-Identifier: MIT */
/* All the facts in one reading: which CPUs are allowed, then what they are and what the quota is.
 *
 * The kernel's answer is the truth about the mask (it has the cpuset in it already). A sandbox may
 * deny the call, and another root has no such call: then the status file says it, then the cpuset,
 * then what is online. */
#include "plat/cpus.h"

#include <string.h>

enum { STATUS_MOST_BYTES = 1 << 16 };

static const filchi_files machine = { filchi_files_stream, "", NULL };

static bool online_set(const filchi_files *files, filchi_cpu_set *out_set)
{
    char bytes[FILCHI_SMALL_BYTES];
    filchi_text text;
    return filchi_files_small(files, "/sys/devices/system/cpu/online", bytes, sizeof(bytes),
                              &text) &&
           filchi_cpu_set_parse(text, out_set) && filchi_cpu_set_count(out_set) != 0;
}

static void note_allowed(void *arg, filchi_text line)
{
    static const char key[] = "Cpus_allowed_list:\t";
    const size_t length = sizeof(key) - 1;
    if (line.bytes > length && memcmp(line.at, key, length) == 0) {
        line.at += length;
        line.bytes -= length;
        (void)filchi_cpu_set_parse(line, arg);
    }
}

static bool status_set(const filchi_files *files, filchi_cpu_set *out_set)
{
    static const char *const paths[] = { "/proc/thread-self/status", "/proc/self/status" };
    memset(out_set, 0, sizeof(*out_set));
    for (size_t i = 0; i < 2 && filchi_cpu_set_count(out_set) == 0; i++) {
        filchi_files_lines(files, paths[i], STATUS_MOST_BYTES, note_allowed, out_set);
    }
    return filchi_cpu_set_count(out_set) != 0;
}

/* Both files list CPUs as well that are possible but not there. */
static bool keep_online(const filchi_cpu_set *online, filchi_cpu_facts *facts)
{
    if (facts->online != 0) {
        filchi_cpu_set_intersect(&facts->mask, online);
    }
    return filchi_cpu_set_count(&facts->mask) != 0;
}

/* Where the mask cannot be had from the kernel. */
static filchi_mask_source find_mask(const filchi_files *files, const filchi_cpu_set *online,
                                    filchi_cpu_facts *facts)
{
    if (status_set(files, &facts->mask) && keep_online(online, facts)) {
        return FILCHI_MASK_STATUS;
    }
    if (facts->quota.has_cpuset) {
        facts->mask = facts->quota.cpuset;
        if (keep_online(online, facts)) {
            return FILCHI_MASK_CPUSET;
        }
    }
    if (facts->online != 0) {
        facts->mask = *online;
        return FILCHI_MASK_ONLINE;
    }
    return FILCHI_MASK_UNKNOWN;
}

void filchi_cpus_read(const filchi_files *files, bool in_full, filchi_cpu_facts *out_facts)
{
    filchi_cpu_set online;
    memset(out_facts, 0, sizeof(*out_facts));
    if (files == NULL) {
        files = &machine;
        out_facts->source =
            filchi_cpus_mask(&out_facts->mask) ? FILCHI_MASK_CALL : FILCHI_MASK_UNKNOWN;
    }
    const bool needs_mask = out_facts->source == FILCHI_MASK_UNKNOWN;
    filchi_cgroup_read(files, in_full, in_full || needs_mask, &out_facts->quota);
    if ((in_full || needs_mask) && online_set(files, &online)) {
        out_facts->online = filchi_cpu_set_count(&online);
    }
    if (needs_mask) {
        out_facts->source = find_mask(files, &online, out_facts);
    }
    filchi_topology_read(files, &out_facts->mask, in_full, &out_facts->topology);
    out_facts->allowed = filchi_cpu_set_count(&out_facts->mask);
    if (out_facts->allowed == 0) {
        out_facts->allowed = 1;
    }
}

bool filchi_cpus_throttling(const filchi_files *files, filchi_throttling *out_counts)
{
    filchi_quota quota;
    filchi_cgroup_read(files != NULL ? files : &machine, true, false, &quota);
    if (quota.limit != FILCHI_LIMIT_SET || !quota.has_throttling) {
        return false;
    }
    *out_counts = quota.throttling;
    return true;
}

size_t filchi_cpus_spots(filchi_cpu_spot *out_spots, size_t most)
{
    filchi_cpu_facts facts;
    filchi_cpus_read(NULL, false, &facts);
    return filchi_topology_spots(&machine, &facts.mask, out_spots, most);
}
