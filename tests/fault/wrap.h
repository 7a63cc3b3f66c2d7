/* SPDX-License-Identifier: MIT */
/* Failing on purpose what the library asks libc and the kernel for. The program is linked with
 * -Wl,--wrap for each function of wrap.c, so that calls from the library (and from the test) come
 * here; libc's own calls among themselves do not. Armed, the n-th call of one kind fails, once or
 * from then on. What was got and not given back is counted whether armed or not. */
#ifndef FILCH_FAULT_WRAP_H
#define FILCH_FAULT_WRAP_H

#include <stdbool.h>

typedef enum fault_kind {
    FAULT_MEMORY,     /* aligned_alloc, and the mask of CPUs: no memory */
    FAULT_THREAD,     /* pthread_create: EAGAIN */
    FAULT_ATTRIBUTE,  /* pthread_attr_init, _setstacksize */
    FAULT_STACK,      /* pthread_getattr_np, pthread_attr_getstack */
    FAULT_NAME,       /* pthread_setname_np */
    FAULT_SIGNALS,    /* pthread_sigmask, blocking */
    FAULT_MUTEX,      /* pthread_mutex_init */
    FAULT_CONDITION,  /* pthread_condattr_init, _setclock, pthread_cond_init */
    FAULT_COND_WAIT,  /* a wait on a condition comes back for nothing */
    FAULT_FUTEX_ASK,  /* the futex is denied while a pool is made */
    FAULT_FUTEX_WAIT, /* a wait is interrupted */
    FAULT_FUTEX_DENY, /* a wait is denied */
    FAULT_AFFINITY,   /* sched_getaffinity: EPERM */
    FAULT_BIND,       /* pthread_setaffinity_np: EPERM */
    FAULT_SYSCONF,    /* sysconf: unknown */
    FAULT_ATFORK,     /* pthread_atfork: ENOMEM; the call at load always fails */
    FAULT_KINDS
} fault_kind;

const char *fault_name(fault_kind kind);

/* Let the `nth` call of this kind from now on fail, and all later ones if `for_good`. */
void fault_arm(fault_kind kind, unsigned nth, bool for_good);

/* No failures any more; returns how many there were since fault_arm. */
unsigned fault_disarm(void);

/* Whether pool creation is going on in the calling thread; FAULT_FUTEX_ASK needs to know. */
void fault_creating(bool creating);

/* What is held: blocks, mutexes, conditions, attributes. */
long fault_held(void);

#endif
