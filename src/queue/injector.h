/* SPDX-License-Identifier: MIT */
/* The injector: a bounded queue of jobs from many threads to many threads, lock-free but for a
 * thread that is descheduled between its claim of a cell and the cell's turn. About FIFO.
 *
 * A ring of cells with a turn number each (Vyukov's bounded MPMC queue, 2010). Cell i of round r
 * may be filled at turn r * capacity + i and taken at that turn + 1. README.md has the steps. */
#ifndef FILCHI_QUEUE_INJECTOR_H
#define FILCHI_QUEUE_INJECTOR_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "queue/job.h"

typedef struct filchi_cell {
    filchi_job job;
    filchi_atomic_u64 turn;
} filchi_cell;

/* I: set at init   P: producers CAS   C: consumers CAS */
typedef struct filchi_injector {
    _Alignas(FILCHI_CACHELINE) filchi_atomic_u64 tail; /* P: next turn to fill */
    _Alignas(FILCHI_CACHELINE) filchi_atomic_u64 head; /* C: next turn to take */
    _Alignas(FILCHI_CACHELINE) filchi_cell *cells;     /* I */
    uint64_t mask;                                     /* I */
    filch_allocator allocator;                         /* I */
} filchi_injector;

/* `capacity` is rounded up to a power of two, at least 2. */
filch_status filchi_injector_init(filchi_injector *injector, size_t capacity,
                                  const filch_allocator *allocator);
void filchi_injector_fini(filchi_injector *injector);

/* Any thread. False: full. Safe to tell from "not full" by a waiter that registered before. */
bool filchi_injector_put(filchi_injector *injector, const filchi_job *job);

/* Any thread. False: empty, or the next cell is claimed but not filled yet. */
bool filchi_injector_take(filchi_injector *injector, filchi_job *out_job);

/* Any thread: the last look of a thread that wants to sleep. */
bool filchi_injector_looks_empty(const filchi_injector *injector);

/* For a consumer that has taken a job and sees producers waiting: how many of them to wake. 0 while
 * less than a quarter is free: there are jobs then whose takers will ask again. */
uint64_t filchi_injector_room(const filchi_injector *injector);

size_t filchi_injector_capacity(const filchi_injector *injector);

/* How many jobs were ever put.  A moment's view. */
uint64_t filchi_injector_count(const filchi_injector *injector);

#endif
