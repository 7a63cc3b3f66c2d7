/* SPDX-License-Identifier: MIT */
/* What the litmus tests share: two words, two results, and two threads that fill them. */
#ifndef FILCH_MODEL_LITMUS_CLIENT_H
#define FILCH_MODEL_LITMUS_CLIENT_H

#include "base/atomic.h"
#include "model.h"

static filchi_atomic_u64 x, y;
static uint64_t r1, r2;

#define BITS2(a, b) (UINT64_C(1) << ((a)*2 + (b)))
#define ALL2 UINT64_C(0xf)

static void two(model_thread *first, model_thread *second)
{
    (void)model_spawn(first, NULL);
    (void)model_spawn(second, NULL);
    model_join_all();
    model_outcome((unsigned)(r1 * 2 + r2));
}

#endif
