/* SPDX-License-Identifier: MIT */
/* Filch: what every other header needs: version, export marks, status codes, time, allocator.
 *
 * Shared rules, named here and referred to by the other headers:
 *   "Threads: any"   - may be called from every thread, also at the same time; no function of
 *                      Filch may be called from a signal handler.
 *   "On failure"     - outputs and arguments are untouched unless a line says otherwise.
 *   "Options struct" - the first field is the size, set by its INIT macro; zero in the other
 *                      fields means the default; a size of 0, unknown flags or a reserved field
 *                      that is not zero give FILCH_E_INVALID.
 *   "In a child"     - after fork() the child has no pool: calls on a pool of the parent return
 *                      FILCH_E_FORKED; filch_pool_destroy then frees what memory it safely can.
 *                      A child made inside a task may go on with that task's own calls, which then
 *                      run serially, but must not join what was forked before. Handlers of
 *                      pthread_atfork that were installed before the library was loaded run too
 *                      early to see it.
 *
 * The library never prints, never exits, installs no signal handler, and does not touch errno.
 * Debug builds (CMAKE_BUILD_TYPE=Debug) abort on misuse with one sentence that names the rule. */
#ifndef FILCH_BASE_H
#define FILCH_BASE_H

#include <stddef.h>
#include <stdint.h>

#define FILCH_VERSION_MAJOR 0
#define FILCH_VERSION_MINOR 1
#define FILCH_VERSION_PATCH 0
#define FILCH_VERSION_STRING "0.1.0"

#if defined(__GNUC__)
#define FILCH_API __attribute__((visibility("default")))
#else
#define FILCH_API
#endif

/* For fork_inline.h: which of two ways to the same word the compiler makes more of. */
#if defined(__clang__)
#define FILCH_PRIV_RELOADS 1
#else
#define FILCH_PRIV_RELOADS 0
#endif

#ifdef __cplusplus
#define FILCH_BEGIN_DECLS extern "C" {
#define FILCH_END_DECLS }
#else
#define FILCH_BEGIN_DECLS
#define FILCH_END_DECLS
#endif

FILCH_BEGIN_DECLS

/* Every function that can fail returns one of these; 0 is success, failures are negative. */
typedef enum filch_status {
    FILCH_OK = 0,
    FILCH_E_INVALID = -1,   /* an argument breaks the contract of the call */
    FILCH_E_NOMEM = -2,     /* the allocator returned NULL */
    FILCH_E_THREAD = -3,    /* no thread could be started (or fewer than a strict pool asked for) */
    FILCH_E_CLOSED = -4,    /* the pool is shutting down or has shut down */
    FILCH_E_FULL = -5,      /* a queue is at its limit */
    FILCH_E_TIMEOUT = -6,   /* the deadline passed first */
    FILCH_E_ON_WORKER = -7, /* the caller is inside this pool, as its worker or in a loop of it, and
                               would wait for itself */
    FILCH_E_BUSY = -8,      /* it is in use: another thread is shutting it down, or waits with it */
    FILCH_E_CANCELLED = -9, /* the task was cancelled before it started */
    FILCH_E_FORKED = -10,   /* the pool belongs to the parent of this process */
    FILCH_E_SYSTEM = -11,   /* the system denies what a pool cannot do without, such as the futex */
    FILCH_E_ABI = -12,      /* the caller was compiled with FILCH_INLINE for another library */
    FILCH_E_STOPPED = -13,  /* the token of the wait was stopped first */
    FILCH_E_DROPPED = -14,  /* nobody will set the future: its promise, or its task, was dropped */
    FILCH_E_SET = -15       /* the future has ended already */
} filch_status;

/* The text of a status: one short English clause without a full stop, never NULL.
 * Threads: any.  Owns: the text is static. */
FILCH_API const char *filch_strerror(filch_status status);

/* The version of the library that is loaded, such as "0.1.0".
 * Threads: any.  Owns: the text is static. */
FILCH_API const char *filch_version(void);

/* A point in time: nanoseconds of the monotonic clock. Deadlines are absolute. */
typedef int64_t filch_time;
#define FILCH_NOW ((filch_time)0)             /* already over: look once, do not wait */
#define FILCH_FOREVER ((filch_time)INT64_MAX) /* no deadline */

/* Now, and now plus a duration (saturating at FILCH_FOREVER).  Threads: any. */
FILCH_API filch_time filch_time_now(void);
FILCH_API filch_time filch_time_after_ns(uint64_t duration_ns);
FILCH_API filch_time filch_time_after_ms(uint64_t duration_ms);

/* Where memory comes from. `alloc` returns `bytes` bytes aligned to `align` (a power of two), or
 * NULL; `free` gets the size that was asked for. Both may be called from any thread at once. */
typedef struct filch_allocator {
    void *(*alloc)(void *ctx, size_t bytes, size_t align);
    void (*free)(void *ctx, void *block, size_t bytes);
    void *ctx;
} filch_allocator;

/* What a foreign thread's task does that finds the queue of a pool full: task.h, "When full". */
typedef enum filch_full {
    FILCH_FULL_DEFAULT = 0,    /* a pool: FILCH_FULL_BLOCK; a call: what the pool says */
    FILCH_FULL_BLOCK = 1,      /* wait for room */
    FILCH_FULL_REJECT = 2,     /* FILCH_E_FULL */
    FILCH_FULL_RUN = 3,        /* run it inside the call */
    FILCH_FULL_DROP_OLDEST = 4 /* give up the oldest task that has not started */
} filch_full;

typedef struct filch_pool filch_pool;
typedef struct filch_token filch_token; /* asks to stop: task.h */

/* The stack a task runs on. Every callback gets it and hands it to what it calls; never keep it
 * beyond the call, never hand it to another thread. */
typedef struct filch_cx filch_cx;

/* A task. It must return normally: no longjmp out of it, no pthread_exit, no C++ exception that
 * leaves it. Debug builds abort when a task ends its thread, and when it returns past a fork or
 * scope that longjmp left open; undefined in release builds. An exception that nobody catches calls
 * std::terminate in both. Cancellation (pthread_cancel) is off in workers. */
typedef void filch_fn(filch_cx *cx, void *arg);

/* A word in, a word out: the cheapest form (fork.h). */
typedef uintptr_t filch_word_fn(filch_cx *cx, uintptr_t arg);

typedef struct filch_pair {
    uintptr_t first;
    uintptr_t second;
} filch_pair;

FILCH_END_DECLS

#endif
