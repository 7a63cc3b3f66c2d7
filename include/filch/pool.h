/* SPDX-License-Identifier: MIT */
/* Pools: their life, their roots, and what they do at shutdown, fork, exit and dlclose.
 *
 * A pool is a set of workers (threads). Each owns its outstanding forks and a Chase-Lev deque of detached
 * tasks; foreign threads (all that are not workers of this pool) hand work in through one bounded
 * queue, the injector. An idle worker steals from random victims, then parks and uses no CPU.
 *
 * fork():   the child has no pool, see "In a child" in base.h; it can create pools of its own. A
 *           child made inside a task may leave by _exit or exec only, and must not return from it.
 * signals:  workers block all signals but those that a fault raises (SIGSEGV, SIGBUS, SIGFPE,
 *           SIGILL, SIGTRAP, SIGSYS, SIGABRT). A process that a task starts inherits that: set its
 *           mask first.
 * pools:    roots and posts of one pool into another block while that one is full or busy; workers
 *           of two pools that wait for each other can deadlock, unless posts have a deadline or do
 *           not wait (task.h, "When full").
 * exit():   ends the process at once, whatever the workers do: nothing is joined or drained. Shut
 *           the pool down first if its tasks matter.
 * dlclose(): the shared library stays mapped for good (it is linked with "nodelete"), so a pool
 *           that is still alive goes on working. */
#ifndef FILCH_POOL_H
#define FILCH_POOL_H

#include <filch/base.h>

FILCH_BEGIN_DECLS

/* With FILCH_INLINE (fork.h): does the library fork as the header does? FILCH_E_ABI, NULL: no. */
#define FILCH_INLINE_ABI 1u

#define FILCH_MAX_WORKERS 4096u
#define FILCH_MAX_QUEUE_TASKS ((size_t)1 << 24)
#define FILCH_MIN_STACK_BYTES ((size_t)64 << 10)
#define FILCH_MAX_STACK_BYTES ((size_t)1 << 30)

/* Flags of a pool. */
#define FILCH_POOL_STRICT 1u /* fail rather than start with fewer workers than asked for */
#define FILCH_POOL_FIFO                                                                            \
    2u /* a worker runs its own detached tasks oldest first, not newest first                      \
          (of those, it takes the oldest now and then, so that none starves) */
#define FILCH_POOL_TIME_TASKS 4u /* measure how long tasks take: filch_stats_read_lengths */

#define FILCH_POOL_FIXED                                                                           \
    8u /* workers 0: keep the first size, whatever becomes of the quota and the affinity mask */
#define FILCH_POOL_LOGICAL 16u        /* workers 0: count logical CPUs, not cores (cpus.h) */
#define FILCH_POOL_NO_ENVIRONMENT 32u /* workers 0: no variable of the environment is read */
#define FILCH_POOL_COMPACT 64u        /* bind each worker to a CPU of its own, near the others or */
#define FILCH_POOL_SPREAD 128u        /* far from them: see "Binding"; not both */
#define FILCH_POOL_SHARE 256u         /* workers 0: share the CPUs with other pools: "Sharing" */
#define FILCH_POOL_NO_BARRIER                                                                      \
    512u /* do without membarrier(2): a fork is only stolen after its worker has reached another     \
           fork or join; likewise where the system denies it (filch_stats says so) */
#define FILCH_POOL_NO_PLACING                                                                      \
    1024u /* leave it to the system on which CPU a worker wakes up: see "Placing" */
#define FILCH_POOL_TIME_QUEUE                                                                      \
    2048u /* measure how long tasks wait in the queue: filch_stats_read_waits */
#define FILCH_POOL_NO_PACE                                                                         \
    4096u /* workers 0: no worker works part-time under a fractional quota: "Following" */

/* An "Options struct" (base.h). */
typedef struct filch_pool_config {
    size_t size;
    unsigned flags;
    unsigned workers;     /* at most FILCH_MAX_WORKERS; 0: FILCH_WORKERS, or the CPU-bound size of
                             filch_cpus_read (cpus.h), now and later: see "Following" below */
    unsigned max_workers; /* the most there can be, by filch_pool_resize or by following; less than
                             `workers`: as many as that */
    size_t stack_bytes;   /* of each worker, within FILCH_MIN/MAX_STACK_BYTES; 0: 8 MiB on every
                           libc */
    size_t queue_tasks;   /* capacity: tasks and roots from foreign threads that have not started,
                           wherever they wait; at most FILCH_MAX_QUEUE_TASKS; 0: 1024. 128 bytes
                           each, rounded up to a power of two, taken when the pool is created */
    const char *name; /* prefix of the thread names "<name>-<worker>", cut so that the number fits
                           into 15 bytes; NULL: "filch" */
    void (*on_start)(void *hook_arg, unsigned worker);   /* on each worker before its first task */
    void (*on_stop)(void *hook_arg, unsigned worker);    /* on each worker after its last task */
    void (*on_resize)(void *hook_arg, unsigned workers); /* after the number of workers on duty has
                                  changed, on the thread that changed it */
    void *hook_arg;                   /* a hook that waits for its pool gets FILCH_E_ON_WORKER */
    const filch_allocator *allocator; /* copied; NULL: aligned_alloc and free */
    const char
        *limit_names; /* workers 0: variables with limits, as in filch_cpus_options; not kept */
    size_t own_tasks; /* a worker's own tasks that have not started; with more it runs them inside
                         the call; at most FILCH_MAX_OWN_TASKS (task.h); 0: just that */
    filch_full full;  /* when the queue is full, unless the call says so; 0: FILCH_FULL_BLOCK */
    uintptr_t reserved[3];
} filch_pool_config;

#define FILCH_POOL_CONFIG_INIT                                                                     \
    {                                                                                              \
        sizeof(filch_pool_config), 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0,     \
            FILCH_FULL_DEFAULT,                                                                    \
        {                                                                                          \
            0, 0, 0                                                                                \
        }                                                                                          \
    }

/* Following: a pool whose size was left to the library goes with the machine. Its workers look at
 * quota and affinity mask between two tasks or two pieces of a loop, every 100 ms at most, and a
 * change that two looks in a row have seen is made as by filch_pool_resize: so it takes 100 to 200 ms
 * and what the workers have in hand. A pool that sleeps looks when it is woken. With max_workers 0 it
 * can grow to the CPUs that were allowed when it was created; limit_names are asked once. It does not
 * follow if FILCH_WORKERS gave its size, or with FILCH_POOL_FIXED.
 * Under a quota of 1.5 CPUs the second worker works part-time: when it has used its half of a CPU, less
 * 0.05 for the program's other threads, it rests for some milliseconds, at most 100, before its next
 * task, so that the system does not stop the whole process. A task or loop that it has begun is not
 * interrupted. Likewise under any fractional quota above one CPU, as long as the size follows it and is
 * not shared; FILCH_POOL_NO_PACE: all work until the process is stopped. While one works part-time, all ask the
 * system for longer slices of CPU time (10 ms), so that other threads go first; threads and processes
 * that a task starts inherit that. */

/* Binding: with FILCH_POOL_COMPACT or _SPREAD worker i runs on one CPU only, the i-th of those allowed to
 * the creator, from the start again when there are more workers; filch_pool_rebind does it anew. A core
 * gets a second worker when each has one. Compact fills a last-level cache, then the next one; spread
 * takes packages and caches in turns. The mask of the calling thread is not touched, but threads and
 * processes that a task starts inherit its worker's. Such a pool keeps its size, as with FILCH_POOL_FIXED.
 * What the system refuses to bind runs unbound (filch_stats has the number); a strict pool then fails with
 * FILCH_E_SYSTEM.
 * A bound worker waits for its CPU even while others are idle. It steals from workers on its core first,
 * then from those of its last-level cache, its package, all: each with 3/4 of the tries that are left. */

/* Placing: a system may put a worker that was woken onto the CPU of the thread that woke it, where it
 * waits for milliseconds, although another CPU is idle (seen on virtual machines). A pool that finds
 * its workers there takes that CPU out of the affinity mask of the worker it wakes for a fork or a loop;
 * the worker puts its mask back as soon as it runs, before it runs a task. Not for bound workers, nor
 * for one whose mask was changed since it started, nor with more than 1,024 CPUs. */

/* Sharing: pools with FILCH_POOL_SHARE, and the default pool, count together. With n of them in the
 * process each has its size divided by n, rounded down, at least one worker: when one is created or
 * destroyed the others follow, as above (a FILCH_POOL_FIXED or bound pool keeps what it got). So a
 * library that makes a pool of its own does not double the threads that compete for the CPUs. A pool
 * keeps its share while it is idle. A size that FILCH_WORKERS gave is not divided. */

/* A capacity for `queue_tasks`: room for a burst of that many tasks at once, but no more than `workers`
 * that need `service_ns` for a task get through in `budget_ns`, so that who is let in has started by
 * then: min(burst, workers * budget_ns / service_ns), at least 1, at most FILCH_MAX_QUEUE_TASKS. A
 * service_ns of 0: the burst alone counts; 0 workers count as one.  Threads: any. */
FILCH_API size_t filch_queue_capacity(size_t burst, uint64_t service_ns, unsigned workers,
                                      uint64_t budget_ns);

/* Create a pool and start its workers; NULL for all defaults.
 * Threads: any.            Blocks: until the threads are started.
 * Owns:    the caller destroys the pool; everything in `config` is copied.
 * Fails:   FILCH_E_INVALID, FILCH_E_NOMEM, FILCH_E_THREAD (not one thread, or a strict pool not
 *          complete), FILCH_E_SYSTEM (the system denies the futex, by a seccomp filter for instance;
 *          without it libc's own locks abort the process, so there is no other way to wait). If
 *          only some threads can be had the pool is smaller and says so in filch_stats (workers <
 *          workers_asked). */
#if !defined(FILCH_INLINE)
FILCH_API filch_status filch_pool_create(const filch_pool_config *config, filch_pool **out_pool);
#endif

/* Workers on duty; workers there can be; slots a loop may use (the latter + 1), which does not
 * change.  Threads: any.  0 for NULL. */
FILCH_API unsigned filch_pool_workers(const filch_pool *pool);
FILCH_API unsigned filch_pool_max_workers(const filch_pool *pool);
FILCH_API unsigned filch_slots(const filch_pool *pool);

/* Change how many workers take work, from 1 to filch_pool_max_workers. Those who are too many finish
 * what they run - a task, a piece of a loop - and rest; what they have queued is taken by others.
 * More are woken, or started if they have no thread yet (then on_start runs).
 * A pool that follows the machine goes back to its own size at the next looks: see FILCH_POOL_FIXED.
 * Threads: any, workers too.   Blocks: while threads are started.
 * Fails:   FILCH_E_INVALID, FILCH_E_CLOSED (the workers are being stopped), FILCH_E_FORKED;
 *          FILCH_E_THREAD: not all threads could be had, the pool has grown as far as it could. */
FILCH_API filch_status filch_pool_resize(filch_pool *pool, unsigned workers);

/* Pause: from the return on no worker begins a detached task or root, until there were as many
 * resumes as pauses. What runs goes on, with its forks and loops; posts are accepted as ever, and
 * wait, as do filch_run, filch_pool_wait_quiet, and whoever waits for room. A task that was taken
 * before the call may begin during it. A worker with nothing else to do sleeps. A post that would
 * run its task inside the call (task.h) gets FILCH_E_FULL meanwhile. The plain calls of filch_run on
 * a worker are part of its task, and so is what it runs while it waits for a group or a future. A shutdown ends
 * all pauses, and no new one begins.
 * Threads: any, workers too.   Blocks: never for tasks.
 * Order:   a task sees what was written before the resume that let it begin.
 * Fails:   FILCH_E_INVALID (also a resume without a pause), FILCH_E_CLOSED, FILCH_E_FORKED. */
FILCH_API filch_status filch_pool_pause(filch_pool *pool);
FILCH_API filch_status filch_pool_resume(filch_pool *pool);

/* Bind the workers anew, as at the creation, to the CPUs that the calling thread may use now: for pools
 * with FILCH_POOL_COMPACT or _SPREAD whose cpuset was rewritten, or whose masks somebody has changed.
 * Neither their number changes nor whom each steals from first. *out_strayed, if not NULL, gets how many
 * had another mask than the pool gave them.
 * Threads: any foreign thread; tasks go on meanwhile.   Blocks: while threads are started.
 * Fails:   FILCH_E_INVALID (also: the pool does not bind), FILCH_E_ON_WORKER (it sees its own CPU only),
 *          FILCH_E_NOMEM, FILCH_E_CLOSED (the workers are being stopped), FILCH_E_FORKED;
 *          FILCH_E_SYSTEM: the CPUs are not known, and nothing was changed; or a strict pool could not
 *          bind all. Otherwise who cannot be bound runs where it may (filch_stats has the number). */
FILCH_API filch_status filch_pool_rebind(filch_pool *pool, unsigned *out_strayed);

/* How to shut down. */
typedef enum filch_shutdown_mode {
    FILCH_DRAIN = 1,  /* run all that was accepted, also what these tasks post in turn */
    FILCH_CANCEL = 2, /* let running tasks finish; end what has not started as FILCH_CANCELLED */
    FILCH_ABANDON = 3 /* drain until the deadline, then give up: cancel as above, and let
                         filch_pool_destroy wait for nobody */
} filch_shutdown_mode;

/* A detached task that runs now, or whose end does. */
typedef struct filch_running_task {
    const char
        *label; /* as posted (task.h), valid as long as the caller of the post keeps it; NULL:
                          none, or a root */
    unsigned worker;
    uint64_t for_ns; /* since it began, in pools with FILCH_POOL_TIME_TASKS; else 0 */
} filch_running_task;

#define FILCH_REPORT_TASKS 8u

/* What became of the tasks of a pool; accepted = ran + cancelled + dropped once the pool is quiet; before, a
 * moment's view, without those that run or have not started. Over its whole life; a call of filch_run
 * counts as one task, a loop is not counted. */
typedef struct filch_shutdown_report {
    uint64_t accepted;
    uint64_t refused;
    uint64_t ran;
    uint64_t cancelled;
    uint64_t dropped; /* given up for newer ones, the queue being full */
    uint64_t running; /* on workers, begun and not ended; 0 after FILCH_OK */
    filch_running_task
        tasks[FILCH_REPORT_TASKS]; /* the newest of each worker that runs some, in the
                                                     order of workers; the rest is zero */
} filch_shutdown_report;

/* Close the pool, wait until its tasks have ended, and stop its workers.
 * Threads: any foreign thread.   Blocks: until `until`.
 * Order:   what the tasks wrote is visible to the caller when it returns FILCH_OK.
 * Fails:   FILCH_E_TIMEOUT (closed, tasks still running: call again, also with another mode, or
 *          destroy, which drains unless the last call was to abandon),
 *          FILCH_E_BUSY (another thread is in this call), FILCH_E_ON_WORKER, FILCH_E_INVALID,
 *          FILCH_E_NOMEM, FILCH_E_FORKED. FILCH_OK again if it was shut down before.
 * `out_report` may be NULL; it is filled on FILCH_OK and on FILCH_E_TIMEOUT. */
FILCH_API filch_status filch_pool_shutdown(filch_pool *pool, filch_shutdown_mode mode,
                                           filch_time until, filch_shutdown_report *out_report);

/* Shut down by draining, if that has not happened yet, and free the pool. NULL is FILCH_OK.
 * If the last shutdown was FILCH_ABANDON and ran out of time the call returns at once: a thread of the
 * pool's own waits for what still runs, cancels the rest as soon as a worker is free, joins the workers,
 * and frees the pool. Whoever is inside a call then, or waits in filch_run, gets its answer as ever.
 * What the tasks use, the hooks and the allocator have to stay for so long; the last free tells that.
 * No thread is killed.
 * Threads: any foreign thread; nobody may use the pool during this call or after it (debug builds
 *          abort if the memory still tells).
 * Blocks:  until all accepted tasks have run.   In a child: joins nobody, frees what it safely can.
 * Fails:   FILCH_E_ON_WORKER, FILCH_E_BUSY (another thread is shutting it down; or, then shut down, groups
 *          of it are left), FILCH_E_NOMEM, FILCH_E_THREAD (no thread to be had for an abandoned pool):
 *          still alive. The default pool cannot be destroyed: FILCH_E_INVALID. */
FILCH_API filch_status filch_pool_destroy(filch_pool *pool);

/* The pool of the process with the default configuration, created at the first call. It lives until
 * the process ends. After fork() the child gets a new one.
 * Threads: any.  NULL if it cannot be created; a later call tries again. */
#if !defined(FILCH_INLINE)
FILCH_API filch_pool *filch_default_pool(void);
#endif

/* Run `fn` as a root on the pool and wait for it. From a worker of this pool it is a plain call.
 * Threads: any.   Blocks: until `fn` has returned; first while the injector is full.
 * Order:   writes before the call are visible to `fn`, those of `fn` to the caller afterwards.
 * Fails:   FILCH_E_INVALID, FILCH_E_CLOSED, FILCH_E_NOMEM, FILCH_E_FORKED;
 *          FILCH_E_CANCELLED if a cancelling shutdown came before the start. */
FILCH_API filch_status filch_run(filch_pool *pool, filch_fn *fn, void *arg);

/* Wait until no task is queued or running and no other thread is inside a call that hands work in.
 * Threads: any foreign thread.   Blocks: until `until`.
 * Order:   what the tasks wrote is visible to the caller when it returns FILCH_OK.
 * Fails:   FILCH_E_TIMEOUT, FILCH_E_ON_WORKER, FILCH_E_INVALID, FILCH_E_NOMEM, FILCH_E_FORKED. */
FILCH_API filch_status filch_pool_wait_quiet(filch_pool *pool, filch_time until);

/* The context of the calling worker, NULL on a foreign thread. Looks up a thread-local: not for hot
 * paths, callbacks are given their context.  Threads: any. */
FILCH_API filch_cx *filch_here(void);

/* The pool that `cx` belongs to, and the number of the worker (below filch_pool_max_workers; just
 * that for a foreign thread that takes part in a loop).  Threads: the one `cx` was given to. */
FILCH_API filch_pool *filch_cx_pool(const filch_cx *cx);
FILCH_API unsigned filch_cx_worker(const filch_cx *cx);

FILCH_API filch_status filch_priv_pool_create(const filch_pool_config *config,
                                              filch_pool **out_pool, unsigned inline_abi);
FILCH_API filch_pool *filch_priv_default_pool(unsigned inline_abi);

#if defined(FILCH_INLINE)

static inline filch_status filch_pool_create(const filch_pool_config *config, filch_pool **out_pool)
{
    return filch_priv_pool_create(config, out_pool, FILCH_INLINE_ABI);
}

static inline filch_pool *filch_default_pool(void)
{
    return filch_priv_default_pool(FILCH_INLINE_ABI);
}

#endif

FILCH_END_DECLS

#endif
