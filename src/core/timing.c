/* SPDX-License-Identifier: MIT */
/* The length of a task. */
#include "core/timing.h"

/* A worker that begins or ends a task is busy. */
static uint64_t busy_ns(const filchi_worker *worker)
{
    return filchi_now() - worker->time.watches[FILCHI_BUSY].value;
}

FILCHI_COLD filchi_timing filchi_timing_begin_timed(filchi_worker *worker)
{
    filchi_lengths *lengths = worker->lengths;
    const filchi_timing timing = { busy_ns(worker), lengths->inner_ns };
    lengths->inner_ns = 0;
    return timing;
}

FILCHI_COLD void filchi_timing_end_timed(filchi_worker *worker, filchi_timing timing)
{
    filchi_lengths *lengths = worker->lengths;
    const uint64_t whole_ns = busy_ns(worker) - timing.began;
    filchi_lengths_record(lengths, whole_ns - lengths->inner_ns);
    lengths->inner_ns = timing.outer_ns + whole_ns;
}
