/* SPDX-License-Identifier: MIT */
/* The injector: a bounded queue of jobs from many threads to many threads, lock-free but for a
 * thread that is descheduled between its claim of cells and the cells' turns. About FIFO.
 *
 * A ring of cells with a turn number each (Vyukov's bounded MPMC queue, 2010), of which several can
 * be claimed at once. Cell i of round r may be filled at turn r * cells + i and taken at that turn
 * + 1. README.md has the steps. */
#ifndef FILCHI_QUEUE_INJECTOR_H
#define FILCHI_QUEUE_INJECTOR_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "queue/job.h"

typedef filchi_job filchi_cell;

/* I: set at init   P: producers CAS   C: consumers CAS */
typedef struct filchi_injector {
    _Alignas(FILCHI_CACHELINE) filchi_atomic_u64 tail; /* P: next turn to fill */
    filchi_atomic_u64 limit; /* the owner's: a tail that is within its capacity (core/room.c) */
    _Alignas(FILCHI_CACHELINE) filchi_atomic_u64 head; /* C: next turn to take */
    _Alignas(FILCHI_CACHELINE) filchi_cell *cells;     /* I */
    uint64_t mask;                                     /* I */
    filch_allocator allocator;                         /* I */
} filchi_injector;

/* The ring gets a power of two of cells, at least 2 and at least `capacity`. */
filch_status filchi_injector_init(filchi_injector *injector, size_t capacity,
                                  const filch_allocator *allocator);
void filchi_injector_fini(filchi_injector *injector);

/* Any thread. Put the first of `count` jobs, as many as there is room for before turn `limit`;
 * returns how many. 0 with `*out_late`: there is room, but the taker of the next cell has not copied
 * its old job out yet. */
size_t filchi_injector_put_many(filchi_injector *injector, const filchi_job *jobs, size_t count,
                                uint64_t limit, bool *out_late);

/* Any thread. Take the oldest, at most `most`, into `*out_jobs[0]`, ...; returns how many, and the
 * number of the first, counted since the beginning. 0: empty, or the next cell is claimed but not
 * filled yet. */
size_t filchi_injector_take_many(filchi_injector *injector, filchi_job *const *out_jobs,
                                 size_t most, uint64_t *out_number);

/* Any thread: the last look of a thread that wants to sleep. */
bool filchi_injector_looks_empty(const filchi_injector *injector);

size_t filchi_injector_cells(const filchi_injector *injector);

/* How many jobs were ever put; how many of them lie here. A moment's view. */
uint64_t filchi_injector_count(const filchi_injector *injector);
uint64_t filchi_injector_length(const filchi_injector *injector);

#endif
