/* SPDX-License-Identifier: MIT */
/* Two threads ask for the default pool at once: both get the same, complete one, and no other is
 * made. What is made of the configuration, and the workers, are replaced by very small
 * ones.
 * Covers: POOL-1, POOL-2, POOL-3, POOL-4 */
#include "base/alloc.h"
#include "core/pool.h"
#include "model.h"

/* In place of core/config.c. */
filch_status filchi_config_fill(const filch_pool_config *config, filchi_config *out_config)
{
    MODEL_ASSERT(config->workers == 0 && config->flags == FILCH_POOL_SHARE);
    *out_config = (filchi_config){ .workers = 1,
                                   .max_workers = 1,
                                   .stack_bytes = FILCH_MIN_STACK_BYTES,
                                   .queue_tasks = 2,
                                   .allocator = filchi_libc_allocator };
    return FILCH_OK;
}

void filchi_config_thread_name(const char *prefix, unsigned number,
                               char out_name[FILCHI_THREAD_NAME_BYTES])
{
    (void)prefix;
    (void)number;
    out_name[0] = '\0';
}

/* In place of core/worker.c. */
filchi_worker *filchi_worker_create(filch_pool *pool, unsigned index)
{
    filchi_worker *worker = filchi_alloc_zeroed(&pool->config.allocator, sizeof(*worker));
    worker->index = index;
    worker->lane.pool = pool;
    (void)model_ghost(0, 1);
    return worker;
}

void filchi_worker_main(void *arg)
{
    filchi_worker *worker = arg;
    filchi_mutex_lock(&worker->lane.pool->gate);
    filchi_mutex_unlock(&worker->lane.pool->gate);
}

void filchi_worker_destroy(filchi_worker *worker)
{
    filchi_free(&filchi_libc_allocator, worker, sizeof(*worker));
}

static filch_pool *got[2];

static void ask(void *arg)
{
    const uintptr_t number = (uintptr_t)arg;
    got[number] = filch_default_pool();
    MODEL_ASSERT(got[number] != NULL && filch_pool_workers(got[number]) != 0);
}

static void body(void)
{
    const unsigned other = model_spawn(ask, (void *)1);
    ask((void *)0);
    model_join(other);
    MODEL_ASSERT(got[0] == got[1]);
    MODEL_ASSERT(model_ghost(0, 0) == 1);
    MODEL_ASSERT(filch_pool_destroy(got[0]) == FILCH_E_INVALID);
    MODEL_ASSERT(filch_pool_shutdown(got[0], FILCH_DRAIN, FILCH_FOREVER, NULL) == FILCH_OK);
}

const model_client model_clients[] = {
    { .name = "pool_default", .body = body, .no_spurious_wakes = true },
    { .name = NULL },
};
