/* SPDX-License-Identifier: MIT */
/* What the clients about groups share: a pool by hand, one group, tasks that count themselves, and a
 * foreign thread that waits and destroys the group at once. */
#ifndef MODEL_GROUP_CLIENT_H
#define MODEL_GROUP_CLIENT_H

#include "parts_client.h"

enum { CLIENT_TASKS = 4 };

static filch_group *group;
static uint64_t client_ran[CLIENT_TASKS]; /* plain: who sees the end sees it */

static inline void client_task(filch_cx *cx, void *arg)
{
    MODEL_ASSERT(filchi_lane_isolated(filchi_lane_of(cx)));
    client_ran[(uintptr_t)arg]++;
}

static inline filch_status client_post_as(uintptr_t number, filch_full full, filch_token *stop)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.group = group;
    options.full = full;
    options.stop = stop;
    return filch_post(pool, client_task, (void *)number, 0, &options);
}

static inline void client_post(uintptr_t number)
{
    MODEL_ASSERT(client_post_as(number, FILCH_FULL_BLOCK, NULL) == FILCH_OK);
}

static inline void client_group(unsigned workers, size_t capacity, unsigned flags)
{
    filch_group_config config = FILCH_GROUP_CONFIG_INIT;
    config.flags = flags;
    client_pool_parts(workers, capacity);
    pool->worker_count = workers;
    MODEL_ASSERT(filch_group_create(pool, &config, &group) == FILCH_OK);
    model_name(group, sizeof(*group), "group");
}

/* Play worker `index`: one task of a group, if there is one. */
static inline bool client_group_one(unsigned index)
{
    filchi_work work;
    if (!filchi_groups_take(pool->workers[index], &work)) {
        return false;
    }
    filchi_lane *lane = &pool->workers[index]->lane;
    filchi_lane_run(lane, lane->cx, work);
    return true;
}

static inline void client_group_all(void *index)
{
    while (client_group_one((unsigned)(uintptr_t)index)) {}
}

static inline filch_status client_wait(filch_token *stop)
{
    filch_status first = FILCH_OK;
    const filch_status status = filch_group_wait(group, FILCH_FOREVER, stop, &first);
    return status != FILCH_OK ? status : first;
}

static inline void client_group_end(void)
{
    MODEL_ASSERT(filch_group_destroy(group) == FILCH_OK);
    model_join_all();
    MODEL_ASSERT(filchi_account_read(pool).tasks == 0);
    MODEL_ASSERT(filchi_load_seq_cst_u64(&pool->groups.waiting) == 0);
    client_free_parts();
}

#endif
