/* SPDX-License-Identifier: MIT */
/* What this process may use of the machine: CPUs, cgroup quota, topology. Facts only; what follows
 * from them is decided in core/sizing.c.
 *
 * Parsers are pure functions over text (cpulist.c, cgroup_parse.c) and believe nothing: on any
 * doubt the answer is "not known". All files come through a filchi_files, so that a test or
 * `filch cpus --root` can put another tree in place of /proc and /sys. */
#ifndef FILCHI_PLAT_CPUS_H
#define FILCHI_PLAT_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of a text; not terminated. */
typedef struct filchi_text {
    const char *at;
    size_t bytes;
} filchi_text;

bool filchi_text_is(filchi_text text, const char *word);

/* Cut off and return what stands before the first `mark`; without one, all of it. */
filchi_text filchi_text_until(filchi_text *rest, char mark);

/* A whole number in decimal digits, nothing else; a newline may follow. False: it is none, or does
 * not fit. */
bool filchi_text_number(filchi_text text, uint64_t *out_number);

/* Sets of CPUs (cpulist.c). The kernel has at most 8,192 on any architecture. */

enum { FILCHI_CPUS_MAX = 8192 };

typedef struct filchi_cpu_set {
    uint64_t words[FILCHI_CPUS_MAX / 64];
} filchi_cpu_set;

/* "0-3,8" with or without newline, as the kernel writes it; an empty text is an empty set. On
 * failure the set is empty. */
bool filchi_cpu_set_parse(filchi_text text, filchi_cpu_set *out_set);
void filchi_cpu_set_add(filchi_cpu_set *set, unsigned cpu);
bool filchi_cpu_set_has(const filchi_cpu_set *set, unsigned cpu);
unsigned filchi_cpu_set_count(const filchi_cpu_set *set);
void filchi_cpu_set_unite(filchi_cpu_set *set, const filchi_cpu_set *other);
void filchi_cpu_set_intersect(filchi_cpu_set *set, const filchi_cpu_set *other);

/* The next CPU of the set from `cpu` on; FILCHI_CPUS_MAX: none. */
unsigned filchi_cpu_set_next(const filchi_cpu_set *set, unsigned cpu);

/* "0-3,8" into `out`, cut with "..." if it does not fit. */
void filchi_cpu_set_format(const filchi_cpu_set *set, char *out, size_t bytes);

/* cgroup files (cgroup_parse.c). */

typedef enum filchi_limit {
    FILCHI_LIMIT_UNKNOWN, /* no such file, or not what the kernel writes */
    FILCHI_LIMIT_NONE,
    FILCHI_LIMIT_SET
} filchi_limit;

typedef struct filchi_bandwidth {
    uint64_t quota_us;
    uint64_t period_us;
} filchi_bandwidth;

/* cpu.max of version 2; cpu.cfs_quota_us and cpu.cfs_period_us of version 1. */
filchi_limit filchi_cgroup_cpu_max(filchi_text text, filchi_bandwidth *out_limit);
filchi_limit filchi_cgroup_cfs(filchi_text quota, filchi_text period, filchi_bandwidth *out_limit);
bool filchi_bandwidth_tighter(filchi_bandwidth a, filchi_bandwidth b);

/* A line of /proc/self/cgroup: is it the hierarchy of `controller` (NULL: version 2)? */
bool filchi_cgroup_member(filchi_text line, const char *controller, filchi_text *out_path);

/* A line of /proc/self/mountinfo: does it mount that hierarchy? Both paths are escaped still. */
bool filchi_cgroup_mount(filchi_text line, const char *controller, filchi_text *out_root,
                         filchi_text *out_point);

/* \040 and the like become bytes. False: malformed, or it does not fit. */
bool filchi_cgroup_unescape(filchi_text text, char *out, size_t bytes);

/* What is left of the group `path` below the group `root` ("" or "/a/b"); NULL: it is not below,
 * or leaves it again with a "..". */
const char *filchi_cgroup_below(const char *root, const char *path);

typedef struct filchi_throttling {
    uint64_t periods;
    uint64_t throttled;
    uint64_t throttled_us;
} filchi_throttling;

/* cpu.stat of either version; false: it counts no periods. */
bool filchi_cgroup_stat(filchi_text text, filchi_throttling *out_counts);

/* Reading (files_posix.c). `stream` hands the file to `piece` piece by piece, together at most `most`
 * bytes; false: it cannot be read, or goes on after them. Never waits, keeps nothing open, allocates nothing. */

typedef void filchi_piece(void *arg, const char *bytes, size_t count);

typedef struct filchi_files {
    bool (*stream)(const struct filchi_files *files, const char *path, size_t most,
                   filchi_piece *piece, void *arg);
    const char
        *root; /* for filchi_files_stream: a folder in front of each path, "" for the machine */
    void *ctx;
} filchi_files;

bool filchi_files_stream(const filchi_files *files, const char *path, size_t most,
                         filchi_piece *piece, void *arg);

/* A variable of the environment; NULL: not set, or the process runs with another's rights. */
const char *filchi_env_get(const char *name);

/* CPU time of the calling thread in ns; -1: not known. */
int64_t filchi_clock_thread_ns(void);

/* On top of it (files.c): a small file in whole, and each line of a large one (lines of more than
 * FILCHI_LINE_BYTES are left out). */

enum { FILCHI_SMALL_BYTES = 4096, FILCHI_LINE_BYTES = 4096 };

bool filchi_files_small(const filchi_files *files, const char *path, char *out, size_t bytes,
                        filchi_text *out_text);

typedef void filchi_line(void *arg, filchi_text line);
void filchi_files_lines(const filchi_files *files, const char *path, size_t most, filchi_line *line,
                        void *arg);

/* The group this process is in, and the tightest quota above it (cgroup_linux.c). */

enum { FILCHI_CGROUP_PATH_BYTES = 1024 };

typedef struct filchi_quota {
    filchi_limit limit;
    filchi_bandwidth bandwidth;          /* FILCHI_LIMIT_SET */
    char file[FILCHI_CGROUP_PATH_BYTES]; /* that sets it; "" */
    unsigned version;                    /* of the hierarchy that was read: 1, 2; 0: none */
    uint64_t weight;                     /* cpu.weight or cpu.shares of the group; 0: not known */
    bool has_throttling;
    filchi_throttling throttling; /* of the group that sets the quota */
    bool has_cpuset;
    filchi_cpu_set cpuset; /* effective; only if asked for */
} filchi_quota;

void filchi_cgroup_read(const filchi_files *files, bool in_full, bool with_cpuset,
                        filchi_quota *out_quota);

/* Cores and the rest of the topology, of the allowed CPUs only (topology_linux.c). Each is 0 where
 * the system does not say. */

typedef struct filchi_topology {
    unsigned cores;
    unsigned threads_per_core; /* the most that one core has */
    unsigned packages;
    unsigned caches; /* groups that share a last-level cache */
    unsigned nodes;  /* NUMA */
    unsigned kinds;  /* of cores, by capacity */
    unsigned strong; /* CPUs of the kind with the highest capacity */
} filchi_topology;

void filchi_topology_read(const filchi_files *files, const filchi_cpu_set *allowed, bool in_full,
                          filchi_topology *out_topology);

/* One allowed CPU and what it shares with others, each named by the lowest allowed CPU in it; a CPU
 * the system says nothing about is a core of its own in cache 0 and package 0. */
typedef struct filchi_cpu_spot {
    unsigned cpu;
    unsigned core;
    unsigned cache; /* last level */
    unsigned package;
    unsigned thread_rank; /* for core/bind.c */
    unsigned core_rank;
    unsigned cache_rank;
} filchi_cpu_spot;

/* The allowed CPUs in order, `most` of them at most; returns how many. */
size_t filchi_topology_spots(const filchi_files *files, const filchi_cpu_set *allowed,
                             filchi_cpu_spot *out_spots, size_t most);

/* All of it (cpus_linux.c). `files` NULL: the machine. In short: only what decides the size of a
 * pool. Within 1 ms: tests/unit/plat/test_cpus.c counts the system calls. */

typedef enum filchi_mask_source {
    FILCHI_MASK_UNKNOWN, /* 1 CPU is assumed */
    FILCHI_MASK_CALL,    /* sched_getaffinity */
    FILCHI_MASK_STATUS,  /* Cpus_allowed_list of /proc/thread-self/status or /proc/self/status */
    FILCHI_MASK_CPUSET,  /* the effective cpuset of the group */
    FILCHI_MASK_ONLINE   /* /sys/devices/system/cpu/online */
} filchi_mask_source;

typedef struct filchi_cpu_facts {
    unsigned online;  /* 0: not known */
    unsigned allowed; /* at least 1 */
    filchi_mask_source source;
    filchi_cpu_set mask;
    filchi_topology topology;
    filchi_quota quota;
} filchi_cpu_facts;

void filchi_cpus_read(const filchi_files *files, bool in_full, filchi_cpu_facts *out_facts);

/* The allowed CPUs of the calling thread on this machine, in order; at most `most` of them. */
size_t filchi_cpus_spots(filchi_cpu_spot *out_spots, size_t most);

/* How often the group with the quota was stopped so far; false: there is no quota, or nothing counts. */
bool filchi_cpus_throttling(const filchi_files *files, filchi_throttling *out_counts);

/* The mask of the calling thread; false: the system does not say, or has more than
 * FILCHI_CPUS_MAX (cpuset_linux.c). */
bool filchi_cpus_mask(filchi_cpu_set *out_mask);

#endif
