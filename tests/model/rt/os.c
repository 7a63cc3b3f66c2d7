/* SPDX-License-Identifier: MIT */
/* The operating system as the code under test meets it: the futex system call, membarrier, POSIX
 * mutexes and condition variables. A futex orders nothing; a mutex hands on what its last holder
 * knew. Spurious wakes and interruptions are choices. */
#include "rt.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

enum { MUTEXES = 128 };

typedef struct mutex {
    const void *addr;
    const rt_view *message; /* of the last unlock */
    int owner;              /* -1: free */
    uint64_t order;         /* of its lockings, see visited.c */
} mutex;

typedef struct os_state {
    unsigned mutexes;
    mutex mutex[MUTEXES];
} os_state;

static os_state *state;

void rt_os_init(void)
{
    state = rt_map(sizeof(*state));
}

void rt_os_reset(void)
{
    state->mutexes = 0;
}

/* Mutexes. They are known by their address; the bytes of the object stay as they are. */

static mutex *find(const void *addr)
{
    for (unsigned i = state->mutexes; i-- > 0;) {
        if (state->mutex[i].addr == addr) {
            return &state->mutex[i];
        }
    }
    if (state->mutexes == MUTEXES) {
        model_fail("explorer: more than %d mutexes", MUTEXES);
    }
    mutex *m = &state->mutex[state->mutexes++];
    *m = (mutex){ addr, NULL, -1, 0 };
    return m;
}

static void take(mutex *m)
{
    m->owner = (int)rt->self->id;
    if (m->message != NULL) {
        rt_view_join(rt->self->cur, m->message);
    }
    rt_history_of_word(&m->order, rt_history_add((uintptr_t)m->addr, m->order));
    rt_event_done(0);
}

static void lock_now(mutex *m)
{
    while (m->owner >= 0) {
        if (m->owner == (int)rt->self->id) {
            model_fail("a thread locks a mutex that it holds");
        }
        (void)rt_sched_wait(RT_WAITS_MUTEX, m->addr, INT64_MAX);
    }
    take(m);
}

/* Making an object is a plain write: it must be published before others use it. */
bool rt_mutex_init(void *addr, const void *pc)
{
    rt_shadow_plain(addr, sizeof(pthread_mutex_t), true, pc);
    *find(addr) = (mutex){ addr, NULL, -1, 0 };
    return true;
}

void rt_mutex_lock(void *addr, const void *pc)
{
    rt_point(pc, false);
    rt->self->same_reads = 0;
    rt_touch(addr, pc);
    lock_now(find(addr));
    if (rt->tracing) {
        rt_trace(pc, "lock %s", rt_trace_where(addr));
    }
}

bool rt_mutex_try(void *addr, const void *pc)
{
    rt_point(pc, false);
    rt_touch(addr, pc);
    mutex *m = find(addr);
    const bool got = m->owner < 0;
    if (got) {
        take(m);
    } else {
        (void)rt_history_add((uintptr_t)addr, rt_mix(m->order, 'n'));
    }
    if (rt->tracing) {
        rt_trace(pc, "try lock %s: %s", rt_trace_where(addr), got ? "got it" : "no");
    }
    return got;
}

static void release(mutex *m)
{
    if (m->owner != (int)rt->self->id) {
        model_fail("a thread unlocks a mutex that it does not hold");
    }
    m->message = rt_view_message(rt->self);
    m->owner = -1;
    rt_history_of_word(&m->order, rt_history_add((uintptr_t)m->addr, 'u'));
    rt_event_done(0);
    (void)rt_sched_wake(RT_WAITS_MUTEX, m->addr, RT_THREADS);
}

void rt_mutex_unlock(void *addr, const void *pc)
{
    rt_touch(addr, pc);
    release(find(addr));
    if (rt->tracing) {
        rt_trace(pc, "unlock %s", rt_trace_where(addr));
    }
}

void rt_mutex_destroy(void *addr, const void *pc)
{
    rt_shadow_plain(addr, sizeof(pthread_mutex_t), true, pc);
    const mutex *m = find(addr);
    if (m->owner >= 0) {
        model_fail("a mutex is destroyed while T%d holds it", m->owner);
    }
}

/* The POSIX names, for code that is compiled as it ships. */

int __wrap_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_condattr_init(pthread_condattr_t *attr);
int __wrap_pthread_condattr_setclock(pthread_condattr_t *attr, clockid_t clock);
int __wrap_pthread_condattr_destroy(pthread_condattr_t *attr);
int __wrap_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr);
int __wrap_pthread_cond_destroy(pthread_cond_t *c);
int __wrap_pthread_cond_signal(pthread_cond_t *c);
int __wrap_pthread_cond_broadcast(pthread_cond_t *c);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                  const struct timespec *until);

#define CALLER __builtin_return_address(0)

int __wrap_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
    (void)attr;
    return rt_mutex_init(m, CALLER) ? 0 : ENOMEM;
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *m)
{
    rt_mutex_destroy(m, CALLER);
    return 0;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    rt_mutex_lock(m, CALLER);
    return 0;
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *m)
{
    return rt_mutex_try(m, CALLER) ? 0 : EBUSY;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
    rt_mutex_unlock(m, CALLER);
    return 0;
}

int __wrap_pthread_condattr_init(pthread_condattr_t *attr)
{
    (void)attr;
    return 0;
}

int __wrap_pthread_condattr_setclock(pthread_condattr_t *attr, clockid_t clock)
{
    (void)attr;
    return clock == CLOCK_MONOTONIC ? 0 : EINVAL;
}

int __wrap_pthread_condattr_destroy(pthread_condattr_t *attr)
{
    (void)attr;
    return 0;
}

int __wrap_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr)
{
    (void)attr;
    rt_shadow_plain(c, sizeof(*c), true, CALLER);
    return 0;
}

int __wrap_pthread_cond_destroy(pthread_cond_t *c)
{
    rt_shadow_plain(c, sizeof(*c), true, CALLER);
    return 0;
}

static void signal_some(pthread_cond_t *c, unsigned limit, const void *pc)
{
    rt_point(pc, false);
    rt_touch(c, pc);
    const unsigned woken = rt_sched_wake(RT_WAITS_CONDITION, c, limit);
    (void)rt_history_add((uintptr_t)c, woken);
    if (rt->tracing) {
        rt_trace(pc, "signal %s: wakes %u", rt_trace_where(c), woken);
    }
}

int __wrap_pthread_cond_signal(pthread_cond_t *c)
{
    signal_some(c, 1, CALLER);
    return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *c)
{
    signal_some(c, RT_THREADS, CALLER);
    return 0;
}

static int64_t nanoseconds(const struct timespec *until)
{
    return until == NULL ? INT64_MAX : (int64_t)until->tv_sec * 1000000000 + until->tv_nsec;
}

static bool spurious(void)
{
    return !rt->client->no_spurious_wakes && rt_choose_fault(2) != 0;
}

static int condition_wait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until,
                          const void *pc)
{
    rt_point(pc, false);
    rt_touch(c, pc);
    mutex *lock = find(m);
    const bool early = spurious();
    if (rt->tracing) {
        rt_trace(pc, "wait on %s%s", rt_trace_where(c), early ? ": wakes for no reason" : "");
    }
    release(lock);
    bool woken = true;
    if (!early) {
        woken = rt_sched_wait(RT_WAITS_CONDITION, c, nanoseconds(until));
    }
    lock_now(lock);
    if (rt->tracing) {
        rt_trace(pc, "waited on %s: %s", rt_trace_where(c), woken ? "woken" : "TIMED OUT");
    }
    return woken ? 0 : ETIMEDOUT;
}

int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    return condition_wait(c, m, NULL, CALLER);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                  const struct timespec *until)
{
    return condition_wait(c, m, until, CALLER);
}

/* System calls. */

static long failed(int why)
{
    errno = why;
    return -1;
}

static long futex_wait(const uint32_t *word, uint32_t expected, const struct timespec *until,
                       const void *pc)
{
    rt_point(pc, false);
    (void)rt_history_add((uintptr_t)word, rt_peek(word, 4));
    if (rt_peek(word, 4) != expected) {
        if (rt->tracing) {
            rt_trace(pc, "futex wait on %s: the word has changed", rt_trace_where(word));
        }
        return failed(EAGAIN);
    }
    if (!rt->client->no_spurious_wakes) {
        const unsigned fault = rt_choose_fault(3);
        if (fault != 0) {
            if (rt->tracing) {
                rt_trace(pc, "futex wait on %s: %s", rt_trace_where(word),
                         fault == 1 ? "WAKES for no reason" : "INTERRUPTED");
            }
            rt->self->same_reads = 0;
            return fault == 1 ? 0 : failed(EINTR);
        }
    }
    if (rt->tracing) {
        rt_trace(pc, "futex wait on %s: sleeps", rt_trace_where(word));
    }
    const bool woken = rt_sched_wait(RT_WAITS_FUTEX, word, nanoseconds(until));
    if (rt->tracing) {
        rt_trace(pc, "futex wait on %s: %s", rt_trace_where(word), woken ? "woken" : "TIMED OUT");
    }
    return woken ? 0 : failed(ETIMEDOUT);
}

static long futex_wake(const uint32_t *word, uint32_t limit, const void *pc)
{
    rt_point(pc, false);
    const unsigned woken = rt_sched_wake(RT_WAITS_FUTEX, word, limit);
    (void)rt_history_add((uintptr_t)word, woken);
    if (rt->tracing) {
        rt_trace(pc, "futex wake on %s: wakes %u", rt_trace_where(word), woken);
    }
    return woken;
}

static void membarrier(const void *pc)
{
    if (rt->tracing) {
        rt_trace(pc, "membarrier begins");
    }
    rt_point(pc, false);
    rt_full_fence(rt->self); /* what the caller did before comes before every fence it sends */
    for (unsigned i = 0; i < rt->threads; i++) {
        rt_point(pc, false);
        rt_full_fence(&rt->thread[i]);
    }
    rt_full_fence(rt->self);
    rt_event_done(0);
    if (rt->tracing) {
        rt_trace(pc, "membarrier ends");
    }
}

void model_membarrier(void)
{
    membarrier(CALLER);
}

long __wrap_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
    va_list args;
    va_start(args, number);
    long result = 0;
    if (number == SYS_futex) {
        const uint32_t *word = va_arg(args, const uint32_t *);
        const int command = va_arg(args, int) & FUTEX_CMD_MASK;
        const uint32_t value = va_arg(args, uint32_t);
        const struct timespec *until = va_arg(args, const struct timespec *);
        if (command == FUTEX_WAIT_BITSET) {
            result = futex_wait(word, value, until, CALLER);
        } else if (command == FUTEX_WAKE) {
            result = futex_wake(word, value, CALLER);
        } else {
            model_fail("explorer: futex command %d is not modelled", command);
        }
    } else if (number == SYS_membarrier) {
        if (va_arg(args, int) == MEMBARRIER_CMD_PRIVATE_EXPEDITED) {
            membarrier(CALLER);
        }
    } else {
        model_fail("explorer: system call %ld is not modelled", number);
    }
    va_end(args);
    return result;
}
