/* SPDX-License-Identifier: MIT */
/* Two workers take nodes for their posts from the pool's store and give them back: no node is given
 * out twice, and what one wrote into a node is done before another one gets it. */
#include "parts_client.h"

enum { NODES = 33 /* one more than a worker takes at a time */, KEPT = 64 };

static void fill(filchi_node_list *list, uint32_t nodes)
{
    for (uint32_t i = 0; i < nodes; i++) {
        filchi_job_node *node = filchi_alloc_small(&filchi_libc_allocator, sizeof(*node));
        node->next = list->first;
        list->first = node;
        list->count++;
    }
}

static void get(void *arg)
{
    filchi_job_node *node = filchi_job_node_get(arg);
    MODEL_ASSERT(node != NULL);
    node->job.arg = arg;
    model_yield();
    MODEL_ASSERT(node->job.arg == arg);
    filchi_job_node_put(arg, node);
}

static void two_get(void)
{
    client_pool_parts(2, 2);
    fill(&pool->nodes.spare, NODES);
    (void)model_spawn(get, pool->workers[1]);
    get(pool->workers[0]);
    model_join_all();
    client_free_parts();
}

/* A worker that has too many gives some to the store, where another one finds them. */
static void put(void *arg)
{
    filchi_job_node *node = filchi_job_node_get(arg);
    node->job.arg = arg;
    filchi_job_node_put(arg, node);
    fill(&((filchi_worker *)arg)->nodes, KEPT);
    node = filchi_job_node_get(arg);
    filchi_job_node_put(arg, node);
}

static void get_and_put(void)
{
    client_pool_parts(2, 2);
    (void)model_spawn(put, pool->workers[1]);
    get(pool->workers[0]);
    model_join_all();
    client_free_parts();
}

const model_client model_clients[] = {
    { .name = "job_nodes", .body = two_get },
    { .name = "job_nodes_given_back", .body = get_and_put },
    { .name = NULL },
};
