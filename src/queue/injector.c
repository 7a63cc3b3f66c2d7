/* SPDX-License-Identifier: MIT */
/* The steps of the injector. A producer stores the turn of a cell with seq_cst, because it goes on to
 * look whether a worker sleeps. */
#include "queue/injector.h"

#include "base/alloc.h"

filch_status filchi_injector_init(filchi_injector *injector, size_t capacity,
                                  const filch_allocator *allocator)
{
    uint64_t cells = 2; /* with one cell "filled" and "free again" would be the same turn */
    while (cells < capacity) {
        cells *= 2;
    }
    injector->cells = filchi_alloc(allocator, (size_t)cells * sizeof(filchi_cell));
    if (injector->cells == NULL) {
        return FILCH_E_NOMEM;
    }
    for (uint64_t i = 0; i < cells; i++) {
        /* relaxed, as all here: nobody else knows the ring yet */
        filchi_store_relaxed_u64(&injector->cells[i].turn, i);
    }
    injector->mask = cells - 1;
    injector->allocator = *allocator;
    filchi_store_relaxed_u64(&injector->tail, 0);
    filchi_store_relaxed_u64(&injector->limit, 0);
    filchi_store_relaxed_u64(&injector->head, 0);
    return FILCH_OK;
}

void filchi_injector_fini(filchi_injector *injector)
{
    filchi_free(&injector->allocator, injector->cells,
                filchi_injector_cells(injector) * sizeof(filchi_cell));
}

/* How many of `count` cells from turn `first` on may be filled; *out_late: not one, and the first is
 * behind: its old job lies there still. */
static size_t free_cells(const filchi_injector *injector, uint64_t first, size_t count,
                         bool *out_late)
{
    size_t free = 0;
    *out_late = false;
    while (free < count) {
        const filchi_cell *cell = &injector->cells[(first + free) & injector->mask];
        /* [INJ-1] acquire, pairs with INJ-4: the last taker has copied the job out. */
        const int64_t ahead = (int64_t)(filchi_load_acquire_u64(&cell->turn) - (first + free));
        if (ahead != 0) {
            *out_late = free == 0 && ahead < 0;
            break;
        }
        free++;
    }
    return free;
}

static void fill(filchi_injector *injector, uint64_t turn, const filchi_job *job)
{
    filchi_cell *cell = &injector->cells[turn & injector->mask];
    filchi_job_copy(cell, job);
    /* [INJ-2] seq_cst, pairs with INJ-3, INJ-5, SLEEP-1: the job is in the cell before its turn says
     * so; a sleeper sees it, or is seen. */
    filchi_store_seq_cst_u64(&cell->turn, turn + 1);
}

size_t filchi_injector_put_many(filchi_injector *injector, const filchi_job *jobs, size_t count,
                                uint64_t limit, bool *out_late)
{
    /* relaxed: the turns of the cells decide */
    uint64_t tail = filchi_load_relaxed_u64(&injector->tail);
    *out_late = false;
    while ((int64_t)(limit - tail) > 0) {
        const uint64_t room = limit - tail;
        const size_t put =
            free_cells(injector, tail, count < room ? count : (size_t)room, out_late);
        if (*out_late) {
            return 0;
        }
        if (put == 0) {
            tail = filchi_load_relaxed_u64(&injector->tail);
            /* relaxed: claims the cells; their content is ordered by their turns */
        } else if (filchi_cas_relaxed_u64(&injector->tail, &tail, tail + put)) {
            for (size_t i = 0; i < put; i++) {
                fill(injector, tail + i, &jobs[i]);
            }
            return put;
        }
    }
    return 0;
}

/* How many of `most` cells from turn `first` on hold a job; *out_late: not one, and the first is
 * behind. */
static size_t full_cells(const filchi_injector *injector, uint64_t first, size_t most,
                         bool *out_late)
{
    size_t full = 0;
    *out_late = false;
    while (full < most) {
        const filchi_cell *cell = &injector->cells[(first + full) & injector->mask];
        /* [INJ-3] acquire, pairs with INJ-2: the job is there. */
        const int64_t ahead = (int64_t)(filchi_load_acquire_u64(&cell->turn) - (first + full + 1));
        if (ahead != 0) {
            *out_late = full == 0 && ahead < 0;
            break;
        }
        full++;
    }
    return full;
}

size_t filchi_injector_take_many(filchi_injector *injector, filchi_job *const *out_jobs,
                                 size_t most, uint64_t *out_number)
{
    /* relaxed: the turns of the cells decide */
    uint64_t head = filchi_load_relaxed_u64(&injector->head);
    for (;;) {
        bool late;
        const size_t taken = full_cells(injector, head, most, &late);
        if (late) {
            return 0;
        }
        if (taken == 0) {
            head = filchi_load_relaxed_u64(&injector->head);
            /* relaxed: claims the cells; their content is ordered by their turns */
        } else if (filchi_cas_relaxed_u64(&injector->head, &head, head + taken)) {
            for (size_t i = 0; i < taken; i++) {
                filchi_cell *cell = &injector->cells[(head + i) & injector->mask];
                filchi_job_copy(out_jobs[i], cell);
                /* [INJ-4] release, pairs with INJ-1: the job is copied out before the cell is
                 * free. */
                filchi_store_release_u64(&cell->turn, head + i + injector->mask + 1);
            }
            *out_number = head;
            return taken;
        }
    }
}

bool filchi_injector_looks_empty(const filchi_injector *injector)
{
    for (;;) {
        /* relaxed: an old head finds a turn that is ahead, and looks again */
        const uint64_t head = filchi_load_relaxed_u64(&injector->head);
        const filchi_cell *cell = &injector->cells[head & injector->mask];
        /* [INJ-5] seq_cst, pairs with INJ-2: sees each job whose producer did not see us. */
        const int64_t ahead = (int64_t)(filchi_load_seq_cst_u64(&cell->turn) - (head + 1));
        if (ahead <= 0) {
            return ahead < 0;
        }
    }
}

size_t filchi_injector_cells(const filchi_injector *injector)
{
    return (size_t)injector->mask + 1;
}

uint64_t filchi_injector_count(const filchi_injector *injector)
{
    /* relaxed: a moment's view */
    return filchi_load_relaxed_u64(&injector->tail);
}

uint64_t filchi_injector_length(const filchi_injector *injector)
{
    /* relaxed, both, the head first: a moment's view, never below 0 */
    const uint64_t head = filchi_load_relaxed_u64(&injector->head);
    const int64_t length = (int64_t)(filchi_load_relaxed_u64(&injector->tail) - head);
    return length > 0 ? (uint64_t)length : 0;
}
