/* SPDX-License-Identifier: MIT */
/* The length of a task. */
#include "core/timing.h"

#include "core/worker.h"

/* A worker that begins or ends a task is busy. */
static uint64_t busy_ns(const filchi_worker *worker)
{
    return filchi_now() - worker->time.watches[FILCHI_BUSY].value;
}

filchi_timing filchi_timing_begin(filch_cx *cx)
{
    filchi_lengths *lengths = filchi_lane_of(cx)->worker->lengths;
    filchi_timing timing = { 0, 0 };
    if (lengths != NULL) {
        timing = (filchi_timing){ busy_ns(filchi_lane_of(cx)->worker), lengths->inner_ns };
        lengths->inner_ns = 0;
    }
    return timing;
}

void filchi_timing_end(filch_cx *cx, filchi_timing timing)
{
    filchi_lengths *lengths = filchi_lane_of(cx)->worker->lengths;
    if (lengths != NULL) {
        const uint64_t whole_ns = busy_ns(filchi_lane_of(cx)->worker) - timing.began;
        filchi_lengths_record(lengths, whole_ns - lengths->inner_ns);
        lengths->inner_ns = timing.outer_ns + whole_ns;
    }
}
