/* SPDX-License-Identifier: MIT */
/* cgroups for measurements and tests. */
#define _POSIX_C_SOURCE 200809L

#include "bench/support/group.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REMOVE_TRIES = 100000 };

bool group_write(const char *folder, const char *file, const char *text)
{
    char path[GROUP_PATH_BYTES + 64];
    (void)snprintf(path, sizeof path, "%s/%s", folder, file);
    const int handle = open(path, O_WRONLY | O_CLOEXEC);
    if (handle < 0) {
        return false;
    }
    const bool done = write(handle, text, strlen(text)) >= 0;
    (void)close(handle);
    return done;
}

static bool has(const char *folder, const char *file)
{
    char path[GROUP_PATH_BYTES + 64];
    (void)snprintf(path, sizeof path, "%s/%s", folder, file);
    return access(path, W_OK) == 0;
}

bool group_make(const char *name, group *out_group)
{
    static const char *const roots[] = { "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct",
                                         "/sys/fs/cgroup" };
    const size_t count = sizeof roots / sizeof roots[0];
    for (size_t i = 0; i < count; i++) {
        out_group->unified = i + 1 == count;
        (void)snprintf(out_group->folder, sizeof out_group->folder, "%s/%.64s-%ld", roots[i], name,
                       (long)getpid());
        if (mkdir(out_group->folder, 0755) != 0) {
            continue;
        }
        if (has(out_group->folder, out_group->unified ? "cpu.max" : "cpu.cfs_quota_us")) {
            return true;
        }
        (void)group_remove(out_group);
        errno = ENOTSUP;
    }
    return false;
}

bool group_make_inside(const group *outer, const char *name, group *out_group)
{
    if (outer->unified && !group_write(outer->folder, "cgroup.subtree_control", "+cpu")) {
        return false;
    }
    out_group->unified = outer->unified;
    (void)snprintf(out_group->folder, sizeof out_group->folder, "%.180s/%.64s", outer->folder,
                   name);
    return mkdir(out_group->folder, 0755) == 0;
}

bool group_set_quota(const group *g, uint64_t quota_us)
{
    char text[64];
    if (g->unified) {
        if (quota_us == 0) {
            (void)snprintf(text, sizeof text, "max %d", GROUP_PERIOD_US);
        } else {
            (void)snprintf(text, sizeof text, "%" PRIu64 " %d", quota_us, GROUP_PERIOD_US);
        }
        return group_write(g->folder, "cpu.max", text);
    }
    (void)snprintf(text, sizeof text, "%" PRIu64, quota_us);
    return group_write(g->folder, "cpu.cfs_quota_us", quota_us != 0 ? text : "-1");
}

bool group_enter(const group *g)
{
    return group_write(g->folder, "cgroup.procs", "0");
}

bool group_remove(const group *g)
{
    for (int tries = 0; rmdir(g->folder) != 0; tries++) {
        if (errno != EBUSY || tries == REMOVE_TRIES) {
            return false;
        }
        (void)sched_yield();
    }
    return true;
}
