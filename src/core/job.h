/* SPDX-License-Identifier: MIT */
/* Running detached tasks, and the nodes that hold them while they lie in a worker's deque. Nodes
 * are recycled by whoever ran them: each worker keeps a few, the pool the rest, so that a warm pool
 * allocates nothing even if one worker posts and others run. */
#ifndef FILCHI_CORE_JOB_H
#define FILCHI_CORE_JOB_H

#include "plat/plat.h"
#include "queue/job.h"

typedef struct filchi_worker filchi_worker;

typedef union filchi_job_node {
    filchi_job job;
    union filchi_job_node *next; /* of a spare one */
} filchi_job_node;

typedef struct filchi_node_list {
    filchi_job_node *first;
    uint32_t count;
} filchi_node_list;

/* Shared by the workers of a pool. */
typedef struct filchi_node_store {
    filchi_mutex lock;
    filchi_node_list spare;
} filchi_node_store;

/* Is it too late to start? 0: never. */
static inline bool filchi_too_late(filch_time start_by)
{
    return start_by != 0 && filchi_clock_ns() > start_by;
}

/* A node for a post by this worker; NULL without memory. */
filchi_job_node *filchi_job_node_get(filchi_worker *worker);
void filchi_job_node_put(filchi_worker *worker, filchi_job_node *node);
/* By a thread that is no worker. */
filchi_job_node *filchi_job_node_find(filch_pool *pool);
void filchi_job_node_discard(filch_pool *pool, filchi_job_node *node);
void filchi_job_nodes_free(filchi_node_list *list, const filch_allocator *allocator);

/* Run functions for items (core/cx.h): a filchi_job, a filchi_job_node, a filch_task. Each runs the
 * task, or ends it if the pool is being cancelled, and takes it off the pool's account. */
void filchi_job_run(filch_cx *cx, void *job);
void filchi_job_node_run(filch_cx *cx, void *node);
void filchi_job_task_run(filch_cx *cx, void *task);

/* All of that but the account, by a worker; returns how it ended. Then the account: the worker's count. */
filch_end filchi_job_finish(filch_cx *cx, filchi_job *job);
void filchi_job_count(filchi_worker *worker, filch_end how);

/* Likewise by a foreign thread: end a job that never started, or run it on this lane; nothing of the
 * account. */
void filchi_job_end(filch_pool *pool, filchi_job *job, filch_end how);
void filchi_job_run_as_guest(filch_cx *cx, filchi_job *job);

/* Run its function only, as the task that runs on the lane meanwhile. */
void filchi_job_run_nested(filch_cx *cx, void *job);

/* What a job, a submitted filch_task keeps of its options, which may be NULL. The job's argument is
 * still to come. */
void filchi_job_set_options(filchi_job *job, const filch_submit_options *options);
void filchi_job_task_store(filch_task *task, const filch_submit_options *options);
/* And back; where its group keeps the next one. */
void filchi_job_of_task(filchi_job *job, const filch_task *task);
uintptr_t *filchi_job_task_next(filch_task *task);

#endif
