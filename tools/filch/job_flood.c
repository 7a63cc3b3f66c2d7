/* SPDX-License-Identifier: MIT */
/* Job "flood": one thread outside of the pool posts empty tasks as fast as it can and waits for
 * them. What is measured is the hand-over alone. */
#include "job.h"

#include <stdio.h>
#include <stdlib.h>

enum { FLOOD_TASKS = 200000 };

typedef struct drop {
    design_task task;
    unsigned ran;
} drop;

typedef struct flood_job {
    job *base;
    drop drops[FLOOD_TASKS];
} flood_job;

static void run_drop(const design_cx *cx, void *arg)
{
    (void)cx;
    ((drop *)arg)->ran++;
}

static void prepare_flood(void *state)
{
    flood_job *const f = state;
    for (size_t i = 0; i < FLOOD_TASKS; i++) {
        f->drops[i] = (drop){ .task = { .fn = run_drop, .arg = &f->drops[i] } };
    }
}

static void run_flood(void *state, const contestant *on)
{
    flood_job *const f = state;
    for (size_t i = 0; i < FLOOD_TASKS; i++) {
        on->design->life->post(on->pool, &f->drops[i].task);
    }
    on->design->life->drain(on->pool);
}

static job_verdict check_flood(void *state)
{
    const flood_job *const f = state;
    size_t once = 0;
    for (size_t i = 0; i < FLOOD_TASKS; i++) {
        once += f->drops[i].ran == 1;
    }
    snprintf(f->base->result, sizeof f->base->result, "%zu", once);
    if (once == FLOOD_TASKS) {
        return JOB_EQUAL;
    }
    snprintf(f->base->note, sizeof f->base->note, "%zu of %d tasks ran once", once, FLOOD_TASKS);
    return JOB_DIFFERS;
}

bool flood_job_open(job *out_job)
{
    flood_job *const f = malloc(sizeof *f);
    if (f == NULL) {
        return false;
    }
    f->base = out_job;
    *out_job = (job){ .name = "flood",
                      .state = f,
                      .prepare = prepare_flood,
                      .run = run_flood,
                      .check = check_flood,
                      .close = free };
    return true;
}
