/* SPDX-License-Identifier: MIT */
/* From /proc/self/cgroup (which group) and /proc/self/mountinfo (where it is mounted) to the folders
 * of the group and of all its visible ancestors, and from there to the tightest quota.
 *
 * A mount shows the hierarchy from its root field down. If our group is below that root, the rest of
 * its path leads to its folder; of several mounts the one with the shortest root shows the most
 * ancestors. A root of nothing but ".." (a mount made outside our cgroup namespace) shows an ancestor,
 * but what lies between has no names here: the mount point alone counts. Any other mount shows groups
 * that are not above ours. Where several mounts share a mount point, the last one hides the others.
 *
 * Only one hierarchy has the cpu controller, so version 1 is looked at where version 2 has no
 * cpu.max anywhere on the way. */
#include "plat/cpus.h"

#include <stdio.h>
#include <string.h>

enum { TABLE_MOST_BYTES = 1 << 20, PATH_BYTES = FILCHI_CGROUP_PATH_BYTES };

typedef struct hierarchy {
    const char *controller;  /* NULL: version 2 */
    const char *usual_point; /* where it is if there is no mount table */
    char path[PATH_BYTES];   /* of our group; "": not in this hierarchy */
    char folder[PATH_BYTES]; /* "": not mounted */
    size_t point_length;     /* of the folder: its mount point */
    size_t root_length;      /* of the mount; SIZE_MAX: only ".." */
    bool mounted;            /* somewhere, if only with other groups */
} hierarchy;

enum { UNIFIED, CPU, CPUSET, HIERARCHIES };

static void note_group(void *arg, filchi_text line)
{
    hierarchy *all = arg;
    for (int i = 0; i < HIERARCHIES; i++) {
        filchi_text path;
        if (filchi_cgroup_member(line, all[i].controller, &path) && path.bytes < PATH_BYTES) {
            memcpy(all[i].path, path.at, path.bytes);
            all[i].path[path.bytes] = '\0';
        }
    }
}

/* "/..", "/../.." and so on. */
static bool only_up(const char *root)
{
    while (strncmp(root, "/..", 3) == 0) {
        root += 3;
    }
    return *root == '\0';
}

/* Take a mount if it is better than the one known, or hides it. */
static void consider(hierarchy *h, const char *root, const char *point)
{
    const char *rest = filchi_cgroup_below(root, h->path);
    const size_t root_length = rest != NULL ? strlen(root) : SIZE_MAX;
    const size_t point_length = strcmp(point, "/") == 0 ? 0 : strlen(point);
    const bool hides = h->folder[0] != '\0' && h->point_length == point_length &&
                       strncmp(h->folder, point, point_length) == 0;
    h->mounted = true;
    if (hides) {
        h->folder[0] = '\0';
    }
    if ((rest == NULL && !only_up(root)) ||
        (h->folder[0] != '\0' && root_length >= h->root_length)) {
        return;
    }
    if (rest == NULL) {
        rest = "";
    }
    if (point_length + strlen(rest) + 1 > PATH_BYTES || point_length + strlen(rest) == 0) {
        return;
    }
    memcpy(h->folder, point, point_length);
    memcpy(h->folder + point_length, rest, strlen(rest) + 1);
    h->point_length = point_length;
    h->root_length = root_length;
}

static void note_mount(void *arg, filchi_text line)
{
    hierarchy *all = arg;
    char root[PATH_BYTES];
    char point[PATH_BYTES];
    for (int i = 0; i < HIERARCHIES; i++) {
        filchi_text root_text;
        filchi_text point_text;
        if (all[i].path[0] != '\0' &&
            filchi_cgroup_mount(line, all[i].controller, &root_text, &point_text) &&
            filchi_cgroup_unescape(root_text, root, sizeof(root)) &&
            filchi_cgroup_unescape(point_text, point, sizeof(point))) {
            consider(&all[i], root, point);
        }
    }
}

/* The file `name` in the first `length` bytes of the folder. */
static bool read_in(const filchi_files *files, const hierarchy *h, size_t length, const char *name,
                    char out[FILCHI_SMALL_BYTES], filchi_text *out_text)
{
    char path[PATH_BYTES + 32];
    (void)snprintf(path, sizeof(path), "%.*s/%s", (int)length, h->folder, name);
    return filchi_files_small(files, path, out, FILCHI_SMALL_BYTES, out_text);
}

static filchi_limit read_limit(const filchi_files *files, const hierarchy *h, size_t length,
                               filchi_bandwidth *out_limit)
{
    char first[FILCHI_SMALL_BYTES];
    char second[64];
    filchi_text text;
    filchi_text period = { second, 0 };
    if (h->controller == NULL) {
        return read_in(files, h, length, "cpu.max", first, &text)
                   ? filchi_cgroup_cpu_max(text, out_limit)
                   : FILCHI_LIMIT_UNKNOWN;
    }
    if (!read_in(files, h, length, "cpu.cfs_quota_us", first, &text)) {
        return FILCHI_LIMIT_UNKNOWN;
    }
    if (text.bytes != 0 && text.at[0] != '-') { /* without a quota the period says nothing */
        char path[PATH_BYTES + 32];
        (void)snprintf(path, sizeof(path), "%.*s/cpu.cfs_period_us", (int)length, h->folder);
        (void)filchi_files_small(files, path, second, sizeof(second), &period);
    }
    return filchi_cgroup_cfs(text, period, out_limit);
}

/* The folder one step up; 0: there is none that we see. */
static size_t step_up(const hierarchy *h, size_t length)
{
    if (length <= h->point_length) {
        return 0;
    }
    while (length > h->point_length && h->folder[length - 1] != '/') {
        length--;
    }
    return length > h->point_length ? length - 1 : 0;
}

/* The throttling of the group that sets the quota, the weight of ours. */
static void read_rest(const filchi_files *files, const hierarchy *h, size_t tightest,
                      filchi_quota *quota)
{
    char bytes[FILCHI_SMALL_BYTES];
    filchi_text text;
    const size_t whole = strlen(h->folder);
    if (read_in(files, h, tightest, "cpu.stat", bytes, &text)) {
        quota->has_throttling = filchi_cgroup_stat(text, &quota->throttling);
    }
    if (read_in(files, h, whole, h->controller == NULL ? "cpu.weight" : "cpu.shares", bytes,
                &text)) {
        (void)filchi_text_number(text, &quota->weight);
    }
}

static void walk(const filchi_files *files, const hierarchy *h, bool in_full, filchi_quota *quota)
{
    size_t tightest = strlen(h->folder);
    for (size_t length = tightest; length != 0; length = step_up(h, length)) {
        filchi_bandwidth found;
        const filchi_limit limit = read_limit(files, h, length, &found);
        if (limit == FILCHI_LIMIT_SET && (quota->limit != FILCHI_LIMIT_SET ||
                                          filchi_bandwidth_tighter(found, quota->bandwidth))) {
            quota->bandwidth = found;
            tightest = length;
        }
        quota->limit = limit > quota->limit ? limit : quota->limit;
    }
    if (quota->limit == FILCHI_LIMIT_UNKNOWN) {
        return;
    }
    quota->version = h->controller == NULL ? 2 : 1;
    if (quota->limit == FILCHI_LIMIT_SET) {
        (void)snprintf(quota->file, sizeof(quota->file), "%.*s/%s", (int)tightest, h->folder,
                       h->controller == NULL ? "cpu.max" : "cpu.cfs_quota_us");
    }
    if (in_full) {
        read_rest(files, h, tightest, quota);
    }
}

/* The nearest group that says what it has. */
static void read_cpuset(const filchi_files *files, const hierarchy *h, filchi_quota *quota)
{
    static const char *const names[2][2] = { { "cpuset.effective_cpus", "cpuset.cpus" },
                                             { "cpuset.cpus.effective", NULL } };
    char bytes[FILCHI_SMALL_BYTES];
    filchi_text text;
    if (h->folder[0] == '\0') {
        return;
    }
    for (size_t length = strlen(h->folder); length != 0; length = step_up(h, length)) {
        for (int i = 0; i < 2 && names[h->controller == NULL][i] != NULL; i++) {
            if (read_in(files, h, length, names[h->controller == NULL][i], bytes, &text) &&
                filchi_cpu_set_parse(text, &quota->cpuset) &&
                filchi_cpu_set_count(&quota->cpuset) != 0) {
                quota->has_cpuset = true;
                return;
            }
        }
    }
}

void filchi_cgroup_read(const filchi_files *files, bool in_full, bool with_cpuset,
                        filchi_quota *out_quota)
{
    hierarchy all[HIERARCHIES];
    memset(out_quota, 0, sizeof(*out_quota));
    memset(all, 0, sizeof(all));
    all[UNIFIED].usual_point = "/sys/fs/cgroup";
    all[CPU].controller = "cpu";
    all[CPU].usual_point = "/sys/fs/cgroup/cpu";
    all[CPUSET].controller = "cpuset";
    all[CPUSET].usual_point = "/sys/fs/cgroup/cpuset";
    filchi_files_lines(files, "/proc/self/cgroup", TABLE_MOST_BYTES, note_group, all);
    filchi_files_lines(files, "/proc/self/mountinfo", TABLE_MOST_BYTES, note_mount, all);
    for (int i = 0; i < HIERARCHIES; i++) {
        if (all[i].path[0] != '\0' && !all[i].mounted) {
            consider(&all[i], "/", all[i].usual_point);
        }
    }
    if (all[UNIFIED].folder[0] != '\0') {
        walk(files, &all[UNIFIED], in_full, out_quota);
    }
    if (out_quota->limit == FILCHI_LIMIT_UNKNOWN && all[CPU].folder[0] != '\0') {
        walk(files, &all[CPU], in_full, out_quota);
    }
    if (with_cpuset) {
        read_cpuset(files, &all[CPUSET], out_quota);
        if (!out_quota->has_cpuset) {
            read_cpuset(files, &all[UNIFIED], out_quota);
        }
    }
}
