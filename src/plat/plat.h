/* SPDX-License-Identifier: MIT */
/* The contract with the operating system: threads, locks, parking, clock, CPUs, fork. One file per
 * duty and system implements it; the build chooses the files. Nothing above this room includes a
 * header of the system.
 *
 * Pre-conditions for all: pointers are valid; objects are initialised once and destroyed once, by
 * a thread that knows that nobody uses them. No function here changes errno. */
#ifndef FILCHI_PLAT_PLAT_H
#define FILCHI_PLAT_PLAT_H

#include "base/atomic.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* Threads (thread_posix.c). */

typedef void filchi_thread_main(void *arg);

enum { FILCHI_THREAD_NAME_BYTES = 16 }; /* the zero included */

/* Stays where it is from the start to the end of the join. */
typedef struct filchi_thread {
    pthread_t handle;
    filchi_thread_main *main;
    void *arg;
    char name[FILCHI_THREAD_NAME_BYTES];
} filchi_thread;

/* Start a thread with a stack of its own of at least `stack_bytes` and a guard page, all signals
 * blocked but those that a fault raises in the thread itself, cancellation off, and a name. False
 * if it cannot start. */
bool filchi_thread_start(filchi_thread *thread, filchi_thread_main *main, void *arg,
                         size_t stack_bytes, const char *name);
/* Let a thread run on one CPU only. False: the system refuses. */
bool filchi_thread_bind(filchi_thread *thread, unsigned cpu);
/* Does it still? False too where the system does not say. */
bool filchi_thread_is_bound(const filchi_thread *thread, unsigned cpu);
void filchi_thread_join(filchi_thread *thread);
/* Nobody will join the calling thread. */
void filchi_thread_detach_self(void);

/* The calling thread runs for `slice_ns` at a time, 0: for as long as the system thinks right, and lets
 * threads with shorter slices go first. False: the system refuses, or the thread's policy has no
 * slices (slice_linux.c). The second form reads it; 0: the system does not say. */
bool filchi_thread_slice(uint64_t slice_ns);
uint64_t filchi_thread_slice_now(void);

/* Let others run; for waits that another running thread ends within a few instructions. `turn`
 * counts the calls of one wait from 0: later ones sleep for a moment, since under a real-time policy
 * a yield never lets a thread of lower priority run, and that may be the one we wait for. */
void filchi_thread_yield(uint32_t turn);

/* A number that no other live thread has. */
uintptr_t filchi_thread_self(void);

/* Lowest address and size of the calling thread's stack; false if the system does not say. */
bool filchi_thread_stack(char **out_low, size_t *out_bytes);

/* A small number that the calling thread keeps; threads number themselves as they come. */
uint32_t filchi_thread_number(void);

/* One pointer per thread, NULL at first. */
void *filchi_thread_local_get(void);
void filchi_thread_local_set(void *value);

/* Locks: for slow paths only (thread_posix.c). */

typedef struct filchi_mutex {
    pthread_mutex_t handle;
} filchi_mutex;

bool filchi_mutex_init(filchi_mutex *mutex);
void filchi_mutex_destroy(filchi_mutex *mutex);
void filchi_mutex_lock(filchi_mutex *mutex);
bool filchi_mutex_try_lock(filchi_mutex *mutex);
void filchi_mutex_unlock(filchi_mutex *mutex);

/* Parking (park_linux.c on a futex, park_posix.c on a condition variable). A parker holds at most
 * one token. Unpark adds it; park takes it, waiting for it if need be. */

typedef struct filchi_parker {
    filchi_atomic_u32 state;
    pthread_mutex_t lock;     /* park_posix.c only */
    pthread_cond_t condition; /* park_posix.c only */
} filchi_parker;

bool filchi_parker_init(filchi_parker *parker);
void filchi_parker_destroy(filchi_parker *parker);

/* Take the token. Only one thread parks on a parker. False: `deadline_ns` on the monotonic clock
 * passed first (INT64_MAX: never). What the unparker wrote before is visible afterwards. */
bool filchi_park(filchi_parker *parker, int64_t deadline_ns);

/* Add the token. From any thread. Once the parked thread has taken the token, this call does not
 * touch the parker any more: the parked thread may then free it. */
void filchi_unpark(filchi_parker *parker);

/* Does the system let a thread wait? On Linux libc's locks, conditions and joins are made of the
 * futex as well, and libc aborts the process where it is denied: so no fallback is left, whichever
 * file does the parking (wait_linux.c; docs/decisions/0005). Asks the system each time. */
bool filchi_wait_works(void);

/* A fence for others (barrier_linux.c): once this returns true, every thread of the process has
 * passed one since the call began, wherever it was; a compiler barrier on their side is enough. The
 * first form says whether the system can do that, and prepares it; it may take milliseconds once. */
bool filchi_barrier_works(void);
bool filchi_barrier(void);

/* "futex" or "condvar". */
const char *filchi_park_backend(void);

/* Clock (clock_posix.c): nanoseconds of the monotonic clock. */
int64_t filchi_clock_ns(void);
/* The same clock, a few milliseconds late, for a quarter of the price. */
int64_t filchi_clock_coarse_ns(void);

/* CPUs in the affinity mask of the calling thread, at least 1 (cpuset_linux.c). */
unsigned filchi_cpus_allowed(void);

/* Where a thread wakes up (seat_linux.c). */

#define FILCHI_CPU_UNKNOWN UINT32_MAX

typedef struct filchi_seat {
    int32_t thread;
    bool open;         /* nothing but the cpuset limits the thread */
    uint64_t mask[16]; /* the CPUs it may run on, a cpu_set_t */
} filchi_seat;

/* The CPU of the calling thread. */
unsigned filchi_cpu_here(void);

/* Of the calling thread; false: it has one CPU only, or its mask cannot be had. */
bool filchi_seat_init(filchi_seat *seat);

/* The thread sleeps, or is about to: it shall run anywhere but on `cpu`. False: nothing was changed; the
 * system refuses, or somebody has given the thread another mask. Until it restores its mask itself. */
bool filchi_seat_move(const filchi_seat *seat, unsigned cpu);
void filchi_seat_restore(const filchi_seat *seat);

/* Fork (atfork_posix.c): how many forks lie between this process and the one that loaded the
 * library. A pool made at another generation belongs to an ancestor. The first call makes sure that
 * forks are counted; false: no memory. */
bool filchi_fork_watch(void);
uint32_t filchi_fork_generation(void);

#endif
