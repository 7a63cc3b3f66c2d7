/* SPDX-License-Identifier: MIT */
/* Jobs "coarse" and "handful": independent tasks that all take the same time, many and few. Any
 * design hands those out well; there is nothing for stealing to balance. */
#include "job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    COARSE_TASKS = 64,
    COARSE_STEPS = 400000, /* some 0.5 ms */
    HANDFUL_TASKS = 5,
    HANDFUL_STEPS = 6000000 /* some 8 ms */
};

/* A task is nothing but arithmetic, each step needing the one before. */
typedef struct even_task {
    design_task task;
    uint64_t seed;
    uint64_t steps;
    uint64_t result;
} even_task;

typedef struct even_job {
    job *base;
    size_t count;
    uint64_t sum;
    uint64_t expected;
    even_task tasks[];
} even_job;

static void run_steps(const design_cx *cx, void *arg)
{
    even_task *const t = arg;
    uint64_t x = t->seed;
    (void)cx;
    for (uint64_t i = 0; i < t->steps; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    }
    t->result = x >> 33;
}

static void run_root(const design_cx *cx, void *arg)
{
    even_job *const e = arg;
    job_run_all(cx, &e->tasks[0].task, sizeof e->tasks[0], e->count);
}

static void run_even(void *state, const contestant *on)
{
    even_job *const e = state;
    design_task root = { .fn = run_root, .arg = e };
    for (size_t i = 0; i < e->count; i++) {
        e->tasks[i].task = (design_task){ .fn = run_steps, .arg = &e->tasks[i] };
        e->tasks[i].result = 0;
    }
    on->design->life->run(on->pool, &root);
}

/* The step composed with itself: what `steps` of them do to x, in 64 squarings. */
static uint64_t jump(uint64_t x, uint64_t steps)
{
    uint64_t factor = UINT64_C(6364136223846793005);
    uint64_t addend = UINT64_C(1442695040888963407);
    for (; steps != 0; steps >>= 1) {
        if ((steps & 1U) != 0) {
            x = x * factor + addend;
        }
        addend = addend * factor + addend;
        factor *= factor;
    }
    return x;
}

static job_verdict check_even(void *state)
{
    const even_job *const e = state;
    uint64_t sum = 0;
    for (size_t i = 0; i < e->count; i++) {
        sum += e->tasks[i].result;
    }
    snprintf(e->base->result, sizeof e->base->result, "%" PRIx64, sum);
    if (sum == e->expected) {
        return JOB_EQUAL;
    }
    snprintf(e->base->note, sizeof e->base->note, "the sum is %" PRIx64 " instead of %" PRIx64, sum,
             e->expected);
    return JOB_DIFFERS;
}

static bool even_job_open(job *out_job, const char *name, size_t count, uint64_t steps)
{
    even_job *const e = calloc(1, sizeof *e + count * sizeof e->tasks[0]);
    if (e == NULL) {
        return false;
    }
    e->base = out_job;
    e->count = count;
    for (size_t i = 0; i < count; i++) {
        e->tasks[i].seed = i;
        e->tasks[i].steps = steps;
        e->expected += jump(i, steps) >> 33;
    }
    *out_job =
        (job){ .name = name, .state = e, .run = run_even, .check = check_even, .close = free };
    return true;
}

bool coarse_job_open(job *out_job)
{
    return even_job_open(out_job, "coarse", COARSE_TASKS, COARSE_STEPS);
}

bool handful_job_open(job *out_job)
{
    return even_job_open(out_job, "handful", HANDFUL_TASKS, HANDFUL_STEPS);
}
