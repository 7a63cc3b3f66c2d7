/* SPDX-License-Identifier: MIT */
/* A pool is made while threads or memory run out: its workers, small ones here, pass the gate when
 * their number is known, or are told to end; a smaller pool works, and a strict one or none leaves
 * nothing behind. */
#include "base/alloc.h"
#include "core/pool.h"
#include "model.h"

static filchi_config config;

/* In place of core/config.c. */
filch_status filchi_config_fill(const filch_pool_config *from, filchi_config *out_config)
{
    (void)from;
    *out_config = config;
    return FILCH_OK;
}

void filchi_config_thread_name(const char *prefix, unsigned number,
                               char out_name[FILCHI_THREAD_NAME_BYTES])
{
    (void)prefix;
    (void)number;
    out_name[0] = '\0';
}

static void *count_alloc(void *ctx, size_t bytes, size_t align)
{
    void *block = filchi_libc_allocator.alloc(ctx, bytes, align);
    (void)model_ghost(0, block != NULL);
    return block;
}

static void count_free(void *ctx, void *block, size_t bytes)
{
    (void)model_ghost(0, (uint64_t)-1);
    filchi_libc_allocator.free(ctx, block, bytes);
}

/* In place of core/worker.c. */
filchi_worker *filchi_worker_create(filch_pool *pool, unsigned index)
{
    filchi_worker *worker = filchi_alloc_zeroed(&pool->config.allocator, sizeof(*worker));
    if (worker != NULL) {
        worker->index = index;
        worker->lane.pool = pool;
    }
    return worker;
}

void filchi_worker_main(void *arg)
{
    filchi_worker *worker = arg;
    const filch_pool *pool = worker->lane.pool;
    filchi_mutex_lock(&worker->lane.pool->gate);
    filchi_mutex_unlock(&worker->lane.pool->gate);
    if (!pool->given_up) {
        MODEL_ASSERT(worker->index < pool->worker_count);
        (void)model_ghost(1, 1);
    }
}

void filchi_worker_destroy(filchi_worker *worker)
{
    filchi_free(&worker->lane.pool->config.allocator, worker, sizeof(*worker));
}

static void make(unsigned flags)
{
    config = (filchi_config){ .flags = flags,
                              .workers = 2,
                              .max_workers = 2,
                              .stack_bytes = FILCH_MIN_STACK_BYTES,
                              .queue_tasks = 2,
                              .allocator = { count_alloc, count_free, NULL } };
    filch_pool *pool = NULL;
    const filch_status status = filch_pool_create(NULL, &pool);
    if (status == FILCH_OK) {
        const unsigned workers = filch_pool_workers(pool);
        MODEL_ASSERT(workers == 2 || (workers == 1 && (flags & FILCH_POOL_STRICT) == 0));
        MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
        MODEL_ASSERT(model_ghost(1, 0) == workers);
    } else {
        MODEL_ASSERT(status == FILCH_E_NOMEM || status == FILCH_E_THREAD);
        MODEL_ASSERT(pool == NULL && model_ghost(1, 0) == 0);
    }
    MODEL_ASSERT(model_ghost(0, 0) == 0); /* all memory is back */
}

static void smaller(void)
{
    make(0);
}

static void strict(void)
{
    make(FILCH_POOL_STRICT);
}

const model_client model_clients[] = {
    { .name = "pool_create_smaller",
      .body = smaller,
      .thread_may_fail = true,
      .no_spurious_wakes = true,
      .seconds = 0.6 },
    { .name = "pool_create_strict",
      .body = strict,
      .thread_may_fail = true,
      .no_spurious_wakes = true,
      .seconds = 0.6 },
    { .name = "pool_create_no_memory",
      .body = strict,
      .allocation_may_fail = true,
      .no_spurious_wakes = true,
      .seconds = 0.6 },
    { .name = NULL },
};
