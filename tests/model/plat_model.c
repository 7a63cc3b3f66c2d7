/* SPDX-License-Identifier: MIT */
/* The platform room inside the explorer: threads are fibers, locks are the explorer's, the clock is
 * a counter. Parking is not here: park_linux.c and park_posix.c are checked as they are, above the
 * explorer's futex and condition variable. */
#include "base/check.h"
#include "plat/cpus.h"
#include "plat/plat.h"
#include "rt/rt.h"

#include <string.h>

enum { CPUS = 2 };

#define CALLER __builtin_return_address(0)

bool filchi_thread_start(filchi_thread *out_thread, filchi_thread_main *main, void *arg,
                         size_t stack_bytes, const char *name)
{
    (void)stack_bytes;
    (void)name;
    if (rt->client->thread_may_fail && rt_choose_fault(2) != 0) {
        return false;
    }
    out_thread->handle = (pthread_t)model_spawn(main, arg);
    return true;
}

void filchi_thread_join(filchi_thread *thread)
{
    model_join((unsigned)thread->handle);
}

/* The client's model_join_all waits for it. */
void filchi_thread_detach_self(void)
{
}

void filchi_thread_yield(uint32_t turn)
{
    (void)turn;
    model_yield();
}

uintptr_t filchi_thread_self(void)
{
    return rt->self->id + 1;
}

bool filchi_thread_stack(char **out_low, size_t *out_bytes)
{
    uintptr_t low;
    uintptr_t high;
    rt_fiber_stacks(&low, &high);
    *out_low = (char *)(low + (uintptr_t)rt->self->id * RT_STACK);
    *out_bytes = RT_STACK;
    return true;
}

uint32_t filchi_thread_number(void)
{
    return rt->self->id;
}

void *filchi_thread_local_get(void)
{
    return rt->self->local;
}

void filchi_thread_local_set(void *value)
{
    rt->self->local = value;
}

bool filchi_mutex_init(filchi_mutex *mutex)
{
    return rt_mutex_init(&mutex->handle, CALLER);
}

void filchi_mutex_destroy(filchi_mutex *mutex)
{
    rt_mutex_destroy(&mutex->handle, CALLER);
}

void filchi_mutex_lock(filchi_mutex *mutex)
{
    rt_mutex_lock(&mutex->handle, CALLER);
}

bool filchi_mutex_try_lock(filchi_mutex *mutex)
{
    return rt_mutex_try(&mutex->handle, CALLER);
}

void filchi_mutex_unlock(filchi_mutex *mutex)
{
    rt_mutex_unlock(&mutex->handle, CALLER);
}

int64_t filchi_clock_coarse_ns(void)
{
    return filchi_clock_ns();
}

/* Moves when a deadline passes only: if others' readings moved it, so would deadlines, and states that
 * differ in nothing else would be searched one by one. */
int64_t filchi_clock_ns(void)
{
    return rt->clock_ns;
}

bool filchi_thread_slice(uint64_t slice_ns)
{
    (void)slice_ns;
    return false;
}

bool filchi_thread_bind(filchi_thread *thread, unsigned cpu)
{
    (void)thread;
    (void)cpu;
    return false;
}

bool filchi_thread_is_bound(const filchi_thread *thread, unsigned cpu)
{
    (void)thread;
    (void)cpu;
    return false;
}

/* Nobody is moved: a seat is about speed. */
unsigned filchi_cpu_here(void)
{
    return FILCHI_CPU_UNKNOWN;
}

bool filchi_seat_init(filchi_seat *seat)
{
    (void)seat;
    return false;
}

bool filchi_seat_move(const filchi_seat *seat, unsigned cpu)
{
    (void)seat;
    (void)cpu;
    return false;
}

void filchi_seat_restore(const filchi_seat *seat)
{
    (void)seat;
}

unsigned filchi_cpus_allowed(void)
{
    return CPUS;
}

void filchi_cpus_read(const filchi_files *files, bool in_full, filchi_cpu_facts *out_facts)
{
    (void)files;
    (void)in_full;
    memset(out_facts, 0, sizeof(*out_facts));
    out_facts->source = FILCHI_MASK_CALL;
    out_facts->allowed = CPUS;
}

bool filchi_cpus_throttling(const filchi_files *files, filchi_throttling *out_counts)
{
    (void)files;
    (void)out_counts;
    return false;
}

size_t filchi_cpus_spots(filchi_cpu_spot *out_spots, size_t most)
{
    (void)out_spots;
    (void)most;
    return 0;
}

bool filchi_files_stream(const filchi_files *files, const char *path, size_t most,
                         filchi_piece *piece, void *arg)
{
    (void)files;
    (void)path;
    (void)most;
    (void)piece;
    (void)arg;
    return false;
}

const char *filchi_env_get(const char *name)
{
    (void)name;
    return NULL;
}

int64_t filchi_clock_thread_ns(void)
{
    return filchi_clock_ns();
}

bool filchi_wait_works(void)
{
    return true;
}

bool filchi_barrier_works(void)
{
    return true;
}

bool filchi_barrier(void)
{
    model_membarrier();
    return true;
}

bool filchi_fork_watch(void)
{
    return true;
}

uint32_t filchi_fork_generation(void)
{
    return 0;
}

/* In place of base/check.c. */
void filchi_check_failed(const char *sentence)
{
    model_fail("filch: %s", sentence);
}
