/* SPDX-License-Identifier: MIT */
/* The steps of the injector. The turn of a cell is stored with seq_cst on both sides, because both
 * sides go on to look whether somebody sleeps: a producer for workers, a consumer for producers
 * that wait for room. */
#include "queue/injector.h"

#include "base/alloc.h"

enum { ROOM_PART = 4 /* a quarter of the ring must be free before those who wait for room wake */ };

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
    filchi_store_relaxed_u64(&injector->head, 0);
    return FILCH_OK;
}

void filchi_injector_fini(filchi_injector *injector)
{
    filchi_free(&injector->allocator, injector->cells,
                filchi_injector_capacity(injector) * sizeof(filchi_cell));
}

bool filchi_injector_put(filchi_injector *injector, const filchi_job *job)
{
    /* relaxed: the turn of the cell decides */
    uint64_t tail = filchi_load_relaxed_u64(&injector->tail);
    for (;;) {
        filchi_cell *cell = &injector->cells[tail & injector->mask];
        /* [INJ-1] seq_cst, pairs with INJ-4: the last taker has copied the job out; a producer
         * that registered to wait sees every cell that was freed without a look at it. */
        const int64_t ahead = (int64_t)(filchi_load_seq_cst_u64(&cell->turn) - tail);
        if (ahead < 0) {
            return false;
        }
        if (ahead > 0) {
            tail = filchi_load_relaxed_u64(&injector->tail);
            /* relaxed: claims the cell; its content is ordered by its turn */
        } else if (filchi_cas_relaxed_u64(&injector->tail, &tail, tail + 1)) {
            cell->job = *job;
            /* [INJ-2] seq_cst, pairs with INJ-3, INJ-5, SLEEP-1: the job is in the cell before its
             * turn says so; a sleeper sees it, or is seen. */
            filchi_store_seq_cst_u64(&cell->turn, tail + 1);
            return true;
        }
    }
}

bool filchi_injector_take(filchi_injector *injector, filchi_job *out_job)
{
    /* relaxed: the turn of the cell decides */
    uint64_t head = filchi_load_relaxed_u64(&injector->head);
    for (;;) {
        filchi_cell *cell = &injector->cells[head & injector->mask];
        /* [INJ-3] acquire, pairs with INJ-2: the job is there. */
        const int64_t ahead = (int64_t)(filchi_load_acquire_u64(&cell->turn) - (head + 1));
        if (ahead < 0) {
            return false;
        }
        if (ahead > 0) {
            head = filchi_load_relaxed_u64(&injector->head);
            /* [INJ-6] seq_cst, pairs with INJ-7: who frees a cell counts every take whose taker
             * did not see the producer that waits. The cell's content is ordered by its turn. */
        } else if (filchi_cas_seq_cst_u64(&injector->head, &head, head + 1)) {
            *out_job = cell->job;
            /* [INJ-4] seq_cst, pairs with INJ-1, SUBMIT-2: the job is copied out before the cell is
             * free; a producer that waits for room sees it, or is seen. */
            filchi_store_seq_cst_u64(&cell->turn, head + injector->mask + 1);
            return true;
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

uint64_t filchi_injector_room(const filchi_injector *injector)
{
    const uint64_t capacity = injector->mask + 1;
    /* relaxed: more puts mean more takes to come, and each of them asks again */
    const uint64_t tail = filchi_load_relaxed_u64(&injector->tail);
    /* [INJ-7] seq_cst, pairs with INJ-6: counts every take whose taker has asked already. */
    const uint64_t head = filchi_load_seq_cst_u64(&injector->head);
    const int64_t used = (int64_t)(tail - head);
    const uint64_t room = used > 0 ? capacity - (uint64_t)used : capacity;
    return room >= capacity / ROOM_PART ? room : 0;
}

size_t filchi_injector_capacity(const filchi_injector *injector)
{
    return (size_t)injector->mask + 1;
}

uint64_t filchi_injector_count(const filchi_injector *injector)
{
    /* relaxed: a moment's view */
    return filchi_load_relaxed_u64(&injector->tail);
}
