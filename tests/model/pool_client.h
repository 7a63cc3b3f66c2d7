/* SPDX-License-Identifier: MIT */
/* What the clients with a whole pool share. */
#ifndef MODEL_POOL_CLIENT_H
#define MODEL_POOL_CLIENT_H

#include <filch/fork.h>
#include <filch/pool.h>
#include <filch/task.h>

#include "model.h"

static inline filch_pool *client_pool(unsigned workers)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_pool *pool = NULL;
    config.workers = workers;
    config.queue_tasks = 2;
    MODEL_ASSERT(filch_pool_create(&config, &pool) == FILCH_OK);
    return pool;
}

static inline void client_end(filch_pool *pool, filch_shutdown_mode mode)
{
    MODEL_ASSERT(filch_pool_shutdown(pool, mode, FILCH_FOREVER, NULL) == FILCH_OK);
    MODEL_ASSERT(filch_pool_destroy(pool) == FILCH_OK);
}

#endif
