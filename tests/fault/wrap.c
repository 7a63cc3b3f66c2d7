/* SPDX-License-Identifier: MIT */
/* The wrapped functions: see wrap.h. */
#include "fault/wrap.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { INTERRUPTS = 1000 }; /* in a row, at most: each is a turn of a loop */

static atomic_int armed = FAULT_KINDS; /* the kind; FAULT_KINDS: none */
static atomic_uint fail_at;
static atomic_bool fail_on;
static atomic_uint calls;
static atomic_uint failures;
static atomic_long held;
static _Thread_local bool creating_here;

static const char *const names[FAULT_KINDS] = {
    "memory",   "thread",    "thread attribute", "stack bounds",    "thread name", "signals",
    "mutex",    "condition", "woken early",      "futex at create", "futex EINTR", "futex denied",
    "affinity", "binding",   "sysconf",          "atfork",
};

const char *fault_name(fault_kind kind)
{
    return names[kind];
}

void fault_arm(fault_kind kind, unsigned nth, bool for_good)
{
    atomic_store(&fail_at, nth);
    atomic_store(&fail_on, for_good);
    atomic_store(&calls, 0);
    atomic_store(&failures, 0);
    atomic_store(&armed, (int)kind);
}

unsigned fault_disarm(void)
{
    atomic_store(&armed, FAULT_KINDS);
    return atomic_load(&failures);
}

void fault_creating(bool creating)
{
    creating_here = creating;
}

long fault_held(void)
{
    return atomic_load(&held);
}

/* Does this call fail? */
static bool hit(fault_kind kind)
{
    if (kind == FAULT_KINDS || atomic_load(&armed) != (int)kind) {
        return false;
    }
    const unsigned call = atomic_fetch_add(&calls, 1) + 1;
    const unsigned at = atomic_load(&fail_at);
    const unsigned last = at + (kind == FAULT_FUTEX_WAIT ? INTERRUPTS : UINT_MAX - at);
    const bool fails = call == at || (call > at && call < last && atomic_load(&fail_on));
    if (fails) {
        atomic_fetch_add(&failures, 1);
    }
    return fails;
}

/* Memory. */
void *__real_aligned_alloc(size_t align, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
    void *block = NULL;
    if (hit(FAULT_MEMORY)) {
        errno = ENOMEM;
    } else {
        block = __real_aligned_alloc(align, bytes);
    }
    atomic_fetch_add(&held, block != NULL ? 1 : 0);
    return block;
}

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
    void *block = hit(FAULT_MEMORY) ? NULL : __real_malloc(bytes);
    atomic_fetch_add(&held, block != NULL ? 1 : 0);
    return block;
}

void __real_free(void *block);
void __wrap_free(void *block);
void __wrap_free(void *block)
{
    atomic_fetch_sub(&held, block != NULL ? 1 : 0);
    __real_free(block);
}

cpu_set_t *__real___sched_cpualloc(size_t count);
cpu_set_t *__wrap___sched_cpualloc(size_t count);
cpu_set_t *__wrap___sched_cpualloc(size_t count)
{
    cpu_set_t *mask = hit(FAULT_MEMORY) ? NULL : __real___sched_cpualloc(count);
    atomic_fetch_add(&held, mask != NULL ? 1 : 0);
    return mask;
}

void __real___sched_cpufree(cpu_set_t *mask);
void __wrap___sched_cpufree(cpu_set_t *mask);
void __wrap___sched_cpufree(cpu_set_t *mask)
{
    atomic_fetch_sub(&held, mask != NULL ? 1 : 0);
    __real___sched_cpufree(mask);
}

/* Threads. */
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *),
                          void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *),
                          void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *),
                          void *arg)
{
    return hit(FAULT_THREAD) ? EAGAIN : __real_pthread_create(thread, attr, fn, arg);
}

/* What is made and unmade in pairs: counted, so that none is left behind. */
static int made(int error)
{
    atomic_fetch_add(&held, error == 0 ? 1 : 0);
    return error;
}

static int unmade(int error)
{
    atomic_fetch_sub(&held, error == 0 ? 1 : 0);
    return error;
}

#define WRAP_1(name, type, kind, error, count)                                                     \
    int __real_##name(type *object);                                                               \
    int __wrap_##name(type *object);                                                               \
    int __wrap_##name(type *object)                                                                \
    {                                                                                              \
        return hit(kind) ? (error) : count(__real_##name(object));                                 \
    }

#define WRAP_2(name, type, second, kind, error, count)                                             \
    int __real_##name(type *object, second value);                                                 \
    int __wrap_##name(type *object, second value);                                                 \
    int __wrap_##name(type *object, second value)                                                  \
    {                                                                                              \
        return hit(kind) ? (error) : count(__real_##name(object, value));                          \
    }

WRAP_1(pthread_attr_init, pthread_attr_t, FAULT_ATTRIBUTE, ENOMEM, made)
WRAP_1(pthread_attr_destroy, pthread_attr_t, FAULT_KINDS, 0, unmade)
WRAP_2(pthread_attr_setstacksize, pthread_attr_t, size_t, FAULT_ATTRIBUTE, EINVAL, )
WRAP_2(pthread_mutex_init, pthread_mutex_t, const pthread_mutexattr_t *, FAULT_MUTEX, ENOMEM, made)
WRAP_1(pthread_mutex_destroy, pthread_mutex_t, FAULT_KINDS, 0, unmade)
WRAP_1(pthread_condattr_init, pthread_condattr_t, FAULT_CONDITION, ENOMEM, made)
WRAP_1(pthread_condattr_destroy, pthread_condattr_t, FAULT_KINDS, 0, unmade)
WRAP_2(pthread_condattr_setclock, pthread_condattr_t, clockid_t, FAULT_CONDITION, EINVAL, )
WRAP_2(pthread_cond_init, pthread_cond_t, const pthread_condattr_t *, FAULT_CONDITION, EAGAIN, made)
WRAP_1(pthread_cond_destroy, pthread_cond_t, FAULT_KINDS, 0, unmade)

int __real_pthread_getattr_np(pthread_t thread, pthread_attr_t *attr);
int __wrap_pthread_getattr_np(pthread_t thread, pthread_attr_t *attr);
int __wrap_pthread_getattr_np(pthread_t thread, pthread_attr_t *attr)
{
    return hit(FAULT_STACK) ? ENOMEM : made(__real_pthread_getattr_np(thread, attr));
}

int __real_pthread_attr_getstack(const pthread_attr_t *attr, void **low, size_t *bytes);
int __wrap_pthread_attr_getstack(const pthread_attr_t *attr, void **low, size_t *bytes);
int __wrap_pthread_attr_getstack(const pthread_attr_t *attr, void **low, size_t *bytes)
{
    return hit(FAULT_STACK) ? EINVAL : __real_pthread_attr_getstack(attr, low, bytes);
}

int __real_pthread_setname_np(pthread_t thread, const char *name);
int __wrap_pthread_setname_np(pthread_t thread, const char *name);
int __wrap_pthread_setname_np(pthread_t thread, const char *name)
{
    return hit(FAULT_NAME) ? EPERM : __real_pthread_setname_np(thread, name);
}

int __real_pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    /* the call that puts the caller's mask back has no `old`; nothing can be done if it fails */
    return old != NULL && hit(FAULT_SIGNALS) ? EPERM : __real_pthread_sigmask(how, set, old);
}

int __real_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    static atomic_uint tries;
    const bool at_load = atomic_fetch_add(&tries, 1) == 0;
    return at_load || hit(FAULT_ATFORK) ? ENOMEM : __real_pthread_atfork(prepare, parent, child);
}

/* Waiting. */
static int wake_early(pthread_mutex_t *lock)
{
    (void)pthread_mutex_unlock(lock);
    (void)sched_yield();
    (void)pthread_mutex_lock(lock);
    return 0;
}

int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock)
{
    return hit(FAULT_COND_WAIT) ? wake_early(lock) : __real_pthread_cond_wait(condition, lock);
}

int __real_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock,
                                  const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock,
                                  const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock,
                                  const struct timespec *until)
{
    return hit(FAULT_COND_WAIT) ? wake_early(lock)
                                : __real_pthread_cond_timedwait(condition, lock, until);
}

/* The error of this futex call; 0: it is made. A wake is denied only while a pool is made: one that
 * is denied later is lost, and nothing above can help. */
static int futex_error(int operation)
{
    if (creating_here) {
        return hit(FAULT_FUTEX_ASK) ? EPERM : 0;
    }
    if ((operation & FUTEX_CMD_MASK) != FUTEX_WAIT_BITSET) {
        return 0;
    }
    if (hit(FAULT_FUTEX_WAIT)) {
        return EINTR;
    }
    return hit(FAULT_FUTEX_DENY) ? ENOSYS : 0;
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    long words[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) {
        words[i] = va_arg(list, long);
    }
    va_end(list);
    const int error = number == SYS_futex ? futex_error((int)words[1]) : 0;
    if (error != 0) {
        errno = error;
        return -1;
    }
    return __real_syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

/* The rest. */
int __real_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *mask);
int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *mask);
int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *mask)
{
    if (hit(FAULT_AFFINITY)) {
        errno = EPERM;
        return -1;
    }
    return __real_sched_getaffinity(pid, bytes, mask);
}

int __real_pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t *mask);
int __wrap_pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t *mask);
int __wrap_pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t *mask)
{
    return hit(FAULT_BIND) ? EPERM : __real_pthread_setaffinity_np(thread, bytes, mask);
}

long __real_sysconf(int name);
long __wrap_sysconf(int name);
long __wrap_sysconf(int name)
{
    return hit(FAULT_SYSCONF) ? -1 : __real_sysconf(name);
}
