/* SPDX-License-Identifier: MIT */
/* How many CPUs this process may use, how many workers fit them, and why.
 *
 * Read are the affinity mask, the cgroup quota of this process's group and of all its visible
 * ancestors (version 2, else version 1), and the cores behind the CPUs. From these:
 *
 *   CPU-bound work   min(physical cores allowed, quota rounded up), never below 1. Two workers on
 *                    one core with SMT gain little or lose; a third in a quota of 2 is throttled.
 *   logical          the same with logical CPUs in place of cores, for who asks for it.
 *   I/O-bound work   CPU-bound x (1 + waiting / computing), rounded up, up to a cap.
 *
 * Weights (cpu.shares, cpu.weight, what Kubernetes calls requests) say who goes first when CPUs are
 * short, not how many there are: they are reported and change no size.
 *
 * The environment: FILCH_WORKERS=<1 to FILCH_MAX_WORKERS> takes the place of all of this wherever a
 * program leaves the size to us. Anything else in it is ignored and reported. It is not looked at in
 * programs that run with another user's rights (secure_getenv), nor with FILCH_CPUS_NO_ENVIRONMENT. */
#ifndef FILCH_CPUS_H
#define FILCH_CPUS_H

#include <filch/pool.h>

FILCH_BEGIN_DECLS

#define FILCH_CPUS_PATH_BYTES 256
#define FILCH_CPUS_TEXT_BYTES 256
#define FILCH_CPUS_IO_LIMIT 256u /* I/O-bound workers at most, unless io_limit says otherwise */

/* Flags of filch_cpus_options. */
#define FILCH_CPUS_NO_ENVIRONMENT 1u /* no variable at all is read */

/* An "Options struct" (base.h). */
typedef struct filch_cpus_options {
    size_t size;
    unsigned flags;
    unsigned io_limit;       /* cap of the I/O-bound size; 0: FILCH_CPUS_IO_LIMIT */
    uint64_t wait_ns;        /* of a typical task: time it waits, and CPU time it takes; 0 and 0: */
    uint64_t compute_ns;     /* not known, taken as equal. filch_cpus_sample measures them */
    const char *limit_names; /* variables with a number of CPUs that an orchestrator sets, such as
                                "SLURM_CPUS_PER_TASK,CPU_LIMIT"; each that holds "2", "1.5" or
                                "1500m" is a limit like a quota; NULL: none */
    const char *root;        /* folder that holds the "proc" and "sys" to read; NULL: the machine */
    uintptr_t reserved[4];
} filch_cpus_options;

#define FILCH_CPUS_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(filch_cpus_options), 0, 0, 0, 0, NULL, NULL,                                        \
        {                                                                                          \
            0, 0, 0, 0                                                                             \
        }                                                                                          \
    }

/* What decided the CPU-bound size. */
typedef enum filch_cpus_source {
    FILCH_CPUS_BY_DEFAULT = 0,    /* nothing could be read: 1 */
    FILCH_CPUS_BY_AFFINITY = 1,   /* CPUs in the affinity mask */
    FILCH_CPUS_BY_CORES = 2,      /* cores behind them */
    FILCH_CPUS_BY_QUOTA = 3,      /* cgroup quota */
    FILCH_CPUS_BY_LIMIT = 4,      /* one of limit_names */
    FILCH_CPUS_BY_ENVIRONMENT = 5 /* FILCH_WORKERS */
} filch_cpus_source;

/* What was found. Counts are 0 where the system does not say; those of cores to strong are of the
 * allowed CPUs only. */
typedef struct filch_cpus {
    size_t size;               /* sizeof(filch_cpus), set by the caller */
    unsigned cpu_bound;        /* workers for CPU-bound work: what a pool has by default */
    unsigned logical;          /* the same, counted in logical CPUs */
    unsigned io_bound;         /* workers for tasks that wait */
    filch_cpus_source source;  /* of cpu_bound */
    unsigned online;           /* CPUs of the machine that are on */
    unsigned allowed;          /* CPUs this thread may run on, at least 1 */
    unsigned cpuset;           /* CPUs of the group's cpuset */
    unsigned cores;            /* physical cores */
    unsigned threads_per_core; /* most logical CPUs that a core has */
    unsigned packages;         /* sockets */
    unsigned caches;           /* groups of CPUs that share a last-level cache */
    unsigned nodes;            /* NUMA nodes */
    unsigned kinds;            /* kinds of cores, by capacity */
    unsigned strong;           /* CPUs of the kind with the highest capacity */
    unsigned cgroup;           /* version of the hierarchy with the cpu controller: 1, 2; 0: none */
    uint64_t quota_us;         /* the tightest quota: CPU time in each period; 0: none */
    uint64_t period_us;
    uint64_t weight;       /* cpu.weight or cpu.shares of the group */
    uint64_t periods;      /* of the group with the quota: periods that it ran in, */
    uint64_t throttled;    /* those in which it was stopped, */
    uint64_t throttled_us; /* and for how long, all threads together */
    char quota_file[FILCH_CPUS_PATH_BYTES]; /* where the quota stands, its begin cut if too long */
    char why[FILCH_CPUS_TEXT_BYTES];        /* one English clause each, about cpu_bound, */
    char why_logical[FILCH_CPUS_TEXT_BYTES];
    char why_io[FILCH_CPUS_TEXT_BYTES];
    char ignored[FILCH_CPUS_TEXT_BYTES]; /* what was set but not understood; "" */
} filch_cpus;

#define FILCH_CPUS_INIT                                                                            \
    {                                                                                              \
        sizeof(filch_cpus), 0, 0, 0, FILCH_CPUS_BY_DEFAULT, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, 0, 0, 0, "", "", "", "", ""                                                         \
    }

/* Read all of it; NULL for all defaults. A file that is missing, malformed, endless, a FIFO or a
 * folder counts as not there.
 * Threads: any, but nobody may change the environment meanwhile.   Blocks: no; within 1 ms.
 * Fails:   FILCH_E_INVALID. */
FILCH_API filch_status filch_cpus_read(const filch_cpus_options *options, filch_cpus *out_cpus);

/* Measure a typical task: run fn(arg) once, here, and see how long it computed and how long it
 * waited, for filch_cpus_options. At least one of the two is not 0.
 * Threads: any.   Fails: FILCH_E_INVALID, FILCH_E_SYSTEM (no clock for the thread); fn has not run. */
FILCH_API filch_status filch_cpus_sample(void (*fn)(void *arg), void *arg, uint64_t *out_wait_ns,
                                         uint64_t *out_compute_ns);

/* Create a pool of the I/O-bound size, for tasks that wait for disks, peers or locks, beside the one for
 * tasks that compute. Options as for filch_cpus_read, config as for filch_pool_create, each may be NULL;
 * config->workers has to be 0. The size stays as it is: such a pool does not follow the machine.
 * Threads, blocking, ownership and errors: filch_pool_create. */
#if !defined(FILCH_INLINE)
FILCH_API filch_status filch_pool_create_io(const filch_cpus_options *options,
                                            const filch_pool_config *config, filch_pool **out_pool);
#endif
FILCH_API filch_status filch_priv_pool_create_io(const filch_cpus_options *options,
                                                 const filch_pool_config *config,
                                                 filch_pool **out_pool, unsigned inline_abi);

#if defined(FILCH_INLINE)

static inline filch_status filch_pool_create_io(const filch_cpus_options *options,
                                                const filch_pool_config *config,
                                                filch_pool **out_pool)
{
    return filch_priv_pool_create_io(options, config, out_pool, FILCH_INLINE_ABI);
}

#endif

/* CPUs in the affinity mask of the calling thread, at least 1; 1 too when the mask cannot be read.
 * Threads: any. */
FILCH_API unsigned filch_cpus_allowed(void);

FILCH_END_DECLS

#endif
