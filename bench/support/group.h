/* SPDX-License-Identifier: MIT */
/* cgroups with a CPU quota, made as root for a measurement or a test, and taken away again. In the
 * hierarchy that has the cpu controller, version 1 or 2; below its root, so that no quota above
 * disturbs: who may not leave its own group cannot make one either. */
#ifndef BENCH_SUPPORT_GROUP_H
#define BENCH_SUPPORT_GROUP_H

#include <stdbool.h>
#include <stdint.h>

enum { GROUP_PATH_BYTES = 256, GROUP_PERIOD_US = 100000 };

typedef struct group {
    char folder[GROUP_PATH_BYTES];
    bool unified; /* version 2 */
} group;

/* A group "<name>-<pid>"; a group inside of it that gets the processes (version 2 wants that only
 * leaves have some). False: errno says why. */
bool group_make(const char *name, group *out_group);
bool group_make_inside(const group *outer, const char *name, group *out_group);

/* CPU time in each period of GROUP_PERIOD_US, in microseconds; 0: no limit. */
bool group_set_quota(const group *g, uint64_t quota_us);

/* The calling process goes into the group. */
bool group_enter(const group *g);

/* Nobody is in it any more; one that has just been left can be busy for a moment, so it tries for a
 * while. False: it is still there. */
bool group_remove(const group *g);

/* Write `text` into a file of a group's folder. */
bool group_write(const char *folder, const char *file, const char *text);

#endif
