/* SPDX-License-Identifier: MIT */
/* Under a quota that is no whole number of CPUs the last worker works part-time, so that the group is
 * not stopped: docs/decisions/0010. Looked at between two tasks only. */
#ifndef FILCHI_CORE_PACE_H
#define FILCHI_CORE_PACE_H

#include <filch/base.h>

#include "base/atomic.h"

#define FILCHI_PACE_SLICE_NS ((int64_t)2000000)  /* CPU time at a time */
#define FILCHI_PACE_LOOK_NS ((int64_t)500000)    /* the thread's clock is a system call */
#define FILCHI_PACE_REST_NS ((int64_t)100000000) /* the longest rest */
#define FILCHI_PACE_TURN_NS UINT64_C(10000000)   /* a worker's time on a CPU that others want too */

enum {
    FILCHI_PACE_RESERVE = 50, /* thousandths of a CPU, for the other threads of the process */
    FILCHI_PACE_LEAST = 20    /* that the last worker always has: a slice in the longest rest */
};

typedef struct filchi_worker filchi_worker;

/* A worker's account. Its own. */
typedef struct filchi_pace {
    int64_t looked_ns;
    int64_t cpu_ns;    /* of its thread then */
    int64_t credit_ns; /* CPU time it may use; negative: it has used too much */
    unsigned part;     /* 0: not paced */
    bool yields;       /* its thread has asked for long slices */
} filchi_pace;

/* Which worker is paced, and its part in thousandths of a CPU, in one word; 0: none. */
uint32_t filchi_pace_of(unsigned workers, unsigned part);

/* A look at the clocks. How long to rest; 0: not now. Pure. */
int64_t filchi_pace_charge(filchi_pace *pace, unsigned part, int64_t now_ns, int64_t cpu_ns);

/* Rest until then, or the stop, or a wake because the pool has grown. Holding nothing. */
void filchi_pace_rest_until(filchi_worker *worker, int64_t until_ns);

/* Between two tasks. True: the worker has rested. */
bool filchi_pace_rest(filchi_worker *worker);

#endif
