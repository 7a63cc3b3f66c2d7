/* SPDX-License-Identifier: MIT */
/* Threads, thread-locals and mutexes on POSIX threads. */
#include "plat/plat.h"

#include "base/check.h"
#include "base/fault.h"
#include "plat/cpus.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { YIELDS = 64 }; /* some tens of microseconds, then a wait sleeps in between */

/* Runs only if the thread ends before its main function has returned. */
static void ended_too_early(void *unused)
{
    (void)unused;
    FILCHI_RULE(false, "a task returns: it never ends its thread by pthread_exit or cancellation");
}

static void *thread_main(void *raw)
{
    const filchi_thread *thread = raw;
    /* a task that is cancelled half way would leave its joiner waiting for ever */
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    (void)pthread_setname_np(pthread_self(), thread->name);
    pthread_cleanup_push(ended_too_early, NULL);
    thread->main(thread->arg);
    pthread_cleanup_pop(0);
    return NULL;
}

/* Everything the process may be sent; not what a thread raises by its own fault, since a blocked
 * fault kills the process without asking its handler. */
static void signals_to_block(sigset_t *set)
{
    static const int own_faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
    (void)sigfillset(set);
    for (size_t i = 0; i < sizeof(own_faults) / sizeof(own_faults[0]); i++) {
        (void)sigdelset(set, own_faults[i]);
    }
}

/* What the system takes: no less than its minimum, which differs between machines, whole pages. */
static size_t usable_stack_bytes(size_t asked)
{
    const long least = sysconf(_SC_THREAD_STACK_MIN);
    const long page = sysconf(_SC_PAGESIZE);
    const size_t page_bytes = page > 0 ? (size_t)page : 4096;
    const size_t bytes = least > 0 && asked < (size_t)least ? (size_t)least : asked;
    return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

static bool start_with_stack(filchi_thread *thread, size_t stack_bytes)
{
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0) {
        return false;
    }
    bool started = pthread_attr_setstacksize(&attr, usable_stack_bytes(stack_bytes)) == 0;
    if (started) {
        sigset_t block;
        sigset_t before;
        signals_to_block(&block);
        /* the new thread inherits the mask: it never runs with a signal open */
        started = pthread_sigmask(SIG_SETMASK, &block, &before) == 0;
        if (started) {
            started = pthread_create(&thread->handle, &attr, thread_main, thread) == 0;
            (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        }
    }
    (void)pthread_attr_destroy(&attr);
    return started;
}

bool filchi_thread_start(filchi_thread *thread, filchi_thread_main *main, void *arg,
                         size_t stack_bytes, const char *name)
{
    if (filchi_point_hit(FILCHI_AT_THREAD_START)) {
        return false;
    }
    const int saved = errno;
    thread->main = main;
    thread->arg = arg;
    strncpy(thread->name, name, sizeof(thread->name) - 1);
    thread->name[sizeof(thread->name) - 1] = '\0';
    const bool started = start_with_stack(thread, stack_bytes);
    errno = saved;
    return started;
}

bool filchi_thread_bind(filchi_thread *thread, unsigned cpu)
{
    const int saved = errno;
    cpu_set_t *set = CPU_ALLOC((size_t)cpu + 1);
    bool bound = false;
    if (set != NULL) {
        const size_t bytes = CPU_ALLOC_SIZE((size_t)cpu + 1);
        CPU_ZERO_S(bytes, set);
        CPU_SET_S(cpu, bytes, set);
        bound = pthread_setaffinity_np(thread->handle, bytes, set) == 0;
        CPU_FREE(set);
    }
    errno = saved;
    return bound;
}

bool filchi_thread_is_bound(const filchi_thread *thread, unsigned cpu)
{
    const int saved = errno;
    cpu_set_t sets[FILCHI_CPUS_MAX / CPU_SETSIZE]; /* the kernel refuses to fill a short one */
    const bool bound = cpu < FILCHI_CPUS_MAX &&
                       pthread_getaffinity_np(thread->handle, sizeof(sets), sets) == 0 &&
                       CPU_COUNT_S(sizeof(sets), sets) == 1 && CPU_ISSET_S(cpu, sizeof(sets), sets);
    errno = saved;
    return bound;
}

void filchi_thread_join(filchi_thread *thread)
{
    (void)pthread_join(thread->handle, NULL);
}

void filchi_thread_detach_self(void)
{
    (void)pthread_detach(pthread_self());
}

void filchi_thread_yield(uint32_t turn)
{
    static const struct timespec moment = { .tv_nsec = 50000 };
    const int saved = errno;
    if (turn < YIELDS || nanosleep(&moment, NULL) != 0) {
        (void)sched_yield();
    }
    errno = saved;
}

uintptr_t filchi_thread_self(void)
{
    return (uintptr_t)pthread_self();
}

bool filchi_thread_stack(char **out_low, size_t *out_bytes)
{
    const int saved = errno;
    pthread_attr_t attr;
    bool known = false;
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        void *low = NULL;
        size_t bytes = 0;
        known = pthread_attr_getstack(&attr, &low, &bytes) == 0;
        if (known) {
            *out_low = low;
            *out_bytes = bytes;
        }
        (void)pthread_attr_destroy(&attr);
    }
    errno = saved;
    return known;
}

uint32_t filchi_thread_number(void)
{
    static filchi_atomic_u32 numbered;
    static _Thread_local uint32_t number; /* 0: none yet */
    if (number == 0) {
        /* relaxed: two threads with one number do no harm */
        number = filchi_add_relaxed_u32(&numbered, 1) + 1;
    }
    return number;
}

static _Thread_local void *thread_local_value;

void *filchi_thread_local_get(void)
{
    return thread_local_value;
}

void filchi_thread_local_set(void *value)
{
    thread_local_value = value;
}

bool filchi_mutex_init(filchi_mutex *mutex)
{
    return pthread_mutex_init(&mutex->handle, NULL) == 0;
}

void filchi_mutex_destroy(filchi_mutex *mutex)
{
    (void)pthread_mutex_destroy(&mutex->handle);
}

void filchi_mutex_lock(filchi_mutex *mutex)
{
    const int failed = pthread_mutex_lock(&mutex->handle);
    FILCHI_ASSERT(failed == 0);
    (void)failed;
}

bool filchi_mutex_try_lock(filchi_mutex *mutex)
{
    return pthread_mutex_trylock(&mutex->handle) == 0;
}

void filchi_mutex_unlock(filchi_mutex *mutex)
{
    (void)pthread_mutex_unlock(&mutex->handle);
}
