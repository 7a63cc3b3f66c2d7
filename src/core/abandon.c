/* SPDX-License-Identifier: MIT */
/* A pool that was abandoned is destroyed as any other, by a thread of its own that has the time. So
 * its workers, and foreign threads that are inside, meet nothing that they do not meet in a destroy
 * by the owner. */
#include "core/abandon.h"

#include "core/pool.h"

static const char thread_name[] = "filch-end";

void filchi_abandon_report(const filch_pool *pool, filch_shutdown_report *report)
{
    unsigned listed = 0;
    for (unsigned i = 0; i < pool->worker_count; i++) {
        const filchi_worker *worker = pool->workers[i];
        /* relaxed, all: a moment's view */
        const uint32_t running = filchi_load_relaxed_u32(&worker->running);
        report->running += running;
        if (running == 0 || listed == FILCH_REPORT_TASKS) {
            continue;
        }
        const uint64_t began_ns = filchi_load_relaxed_u64(&worker->began_ns);
        const uint64_t now = (uint64_t)filchi_clock_ns();
        report->tasks[listed++] = (filch_running_task){
            .label = (const char *)filchi_load_relaxed_uptr(&worker->label),
            .worker = i,
            .for_ns = began_ns != 0 && now > began_ns ? now - began_ns : 0,
        };
    }
}

static void wait_and_destroy(void *pool)
{
    filchi_thread_detach_self();
    /* busy until the owner has left `life`; or there is no memory to wait with */
    for (uint32_t turn = 0; filch_pool_destroy(pool) != FILCH_OK; turn++) {
        filchi_thread_yield(turn);
    }
}

filch_status filchi_abandon_hand_over(filch_pool *pool)
{
    pool->abandoned = false; /* before the thread looks, which takes `life` from us */
    if (!filchi_thread_start(&pool->undertaker, wait_and_destroy, pool, FILCH_MIN_STACK_BYTES,
                             thread_name)) {
        pool->abandoned = true;
        return FILCH_E_THREAD;
    }
    return FILCH_OK;
}
