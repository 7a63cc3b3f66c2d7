/* SPDX-License-Identifier: MIT */
/* Reading how long the tasks of a pool took, and how long they waited. */
#include <filch/stats.h>

#include "core/spi.h"

static void add_worker(const filchi_lengths *from, filch_lengths *to)
{
    /* relaxed: a moment's view */
    for (unsigned i = 0; i < FILCH_LENGTH_BUCKETS; i++) {
        const uint64_t count = filchi_load_relaxed_u64(&from->counts[i]);
        to->counts[i] += count;
        to->tasks += count;
    }
    to->sum_ns += filchi_load_relaxed_u64(&from->sum_ns);
}

typedef const filchi_lengths *spi_fn(const filch_pool *pool, unsigned worker);

static filch_status read_all(const filch_pool *pool, spi_fn *of_worker, filch_lengths *out_lengths)
{
    if (pool == NULL || out_lengths == NULL || out_lengths->size != sizeof(*out_lengths)) {
        return FILCH_E_INVALID;
    }
    if (filchi_spi_forked(pool)) {
        return FILCH_E_FORKED;
    }
    if (of_worker(pool, 0) == NULL) {
        return FILCH_E_INVALID;
    }
    filch_lengths lengths = FILCH_LENGTHS_INIT;
    for (unsigned i = 0; i < filch_pool_max_workers(pool); i++) {
        add_worker(of_worker(pool, i), &lengths);
    }
    *out_lengths = lengths;
    return FILCH_OK;
}

filch_status filch_stats_read_lengths(const filch_pool *pool, filch_lengths *out_lengths)
{
    return read_all(pool, filchi_spi_lengths, out_lengths);
}

filch_status filch_stats_read_waits(const filch_pool *pool, filch_lengths *out_waits)
{
    return read_all(pool, filchi_spi_waits, out_waits);
}

uint64_t filch_length_from(unsigned bucket)
{
    return bucket < FILCH_LENGTH_BUCKETS ? filchi_length_from(bucket) : UINT64_MAX;
}

/* How many of `tasks` the part `q` is, rounded up: at least one and at most all. */
static uint64_t rank_of(double q, uint64_t tasks)
{
    if (!(q > 0)) {
        return 1;
    }
    const double exact = q * (double)tasks;
    if (q >= 1 || exact >= (double)tasks) {
        return tasks;
    }
    const uint64_t whole = (uint64_t)exact;
    return whole + ((double)whole < exact);
}

uint64_t filch_lengths_quantile(const filch_lengths *lengths, double q)
{
    if (lengths == NULL || lengths->tasks == 0) {
        return 0;
    }
    uint64_t left = rank_of(q, lengths->tasks);
    unsigned bucket = 0;
    while (bucket < FILCH_LENGTH_BUCKETS - 1 && lengths->counts[bucket] < left) {
        left -= lengths->counts[bucket];
        bucket++;
    }
    return bucket < FILCH_LENGTH_BUCKETS - 1 ? filchi_length_from(bucket + 1) - 1 : UINT64_MAX;
}
