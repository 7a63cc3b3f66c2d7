/* SPDX-License-Identifier: MIT */
/* How a worker spends its time. Each activity has a stopwatch; at every turn from one activity to
 * another the worker stops the one and starts the other with the same reading of the clock. Turns
 * are searches, parks and waits: a worker with work at hand makes none.
 *
 * A stopwatch is one word, so that no reader sees half a turn of it, and one that readers keep: what
 * one of them was told nobody is told less than later, whatever order the stores come in. */
#ifndef FILCHI_REC_TIMESHEET_H
#define FILCHI_REC_TIMESHEET_H

#include "plat/plat.h"

/* O: the owner writes, one thread at a time   R: readers write */
typedef struct filchi_stopwatch {
    filchi_atomic_u64 word;  /* O: standing: twice what was spent; running: twice the time at which
                                it would have started without a break, plus one */
    filchi_atomic_u64 shown; /* R: the most that anybody was told */
    uint64_t value;          /* half of the word, for the owner: the explorer need not ask who else
                                may have written it */
} filchi_stopwatch;

static inline void filchi_stopwatch_start(filchi_stopwatch *watch, uint64_t now)
{
    watch->value = now - watch->value;
    /* relaxed, here and below: readers need one word each and no order between them */
    filchi_store_relaxed_u64(&watch->word, 2 * watch->value + 1);
}

static inline void filchi_stopwatch_stop(filchi_stopwatch *watch, uint64_t now)
{
    watch->value = now - watch->value;
    filchi_store_relaxed_u64(&watch->word, 2 * watch->value);
}

/* From any thread. `now` was read before: seen late, a stopwatch can only show less than is true,
 * never what it will not reach. */
static inline uint64_t filchi_stopwatch_read(filchi_stopwatch *watch, uint64_t now)
{
    const uint64_t word = filchi_load_relaxed_u64(&watch->word);
    const uint64_t value = word / 2;
    uint64_t spent = value;
    if ((word & 1) != 0) {
        spent = now > value ? now - value : 0; /* it may have started after `now` */
    }
    uint64_t shown = filchi_load_relaxed_u64(&watch->shown);
    while (shown < spent) {
        if (filchi_cas_relaxed_u64(&watch->shown, &shown, spent)) {
            return spent;
        }
    }
    return shown;
}

typedef enum filchi_activity {
    FILCHI_BUSY,
    FILCHI_SEARCHING,
    FILCHI_PARKED,
    FILCHI_RESTING,
    FILCHI_ACTIVITIES
} filchi_activity;

typedef struct filchi_timesheet {
    filchi_stopwatch watches[FILCHI_ACTIVITIES];
    filchi_activity present; /* its stopwatch runs; the owner's own */
} filchi_timesheet;

static inline uint64_t filchi_now(void)
{
    return (uint64_t)filchi_clock_ns();
}

static inline void filchi_timesheet_begin(filchi_timesheet *sheet, filchi_activity first,
                                          uint64_t now)
{
    sheet->present = first;
    filchi_stopwatch_start(&sheet->watches[first], now);
}

static inline void filchi_timesheet_end(filchi_timesheet *sheet, uint64_t now)
{
    filchi_stopwatch_stop(&sheet->watches[sheet->present], now);
}

/* From now on the worker does this. */
static inline void filchi_timesheet_turn(filchi_timesheet *sheet, filchi_activity next)
{
    if (sheet->present != next) {
        const uint64_t now = filchi_now();
        filchi_timesheet_end(sheet, now);
        filchi_timesheet_begin(sheet, next, now);
    }
}

#endif
