/* SPDX-License-Identifier: MIT */
/* The explorer's own test, fences: the same small programs as in litmus.c with the order on fences,
 * and the full fence that membarrier sends to other threads. */
#include "litmus_client.h"

/* Store buffering. */

static void sb_fence_1(void *arg)
{
    (void)arg;
    filchi_store_relaxed_u64(&x, 1);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    r1 = filchi_load_relaxed_u64(&y);
}

static void sb_fence_2(void *arg)
{
    (void)arg;
    filchi_store_relaxed_u64(&y, 1);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    r2 = filchi_load_relaxed_u64(&x);
}

static void sb_accesses_2(void *arg)
{
    (void)arg;
    filchi_store_seq_cst_u64(&y, 1);
    r2 = filchi_load_seq_cst_u64(&x);
}

static void sb_weak_fence_2(void *arg)
{
    (void)arg;
    filchi_store_relaxed_u64(&y, 1);
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
    r2 = filchi_load_relaxed_u64(&x);
}

static void sb_nothing_2(void *arg)
{
    (void)arg;
    filchi_store_relaxed_u64(&y, 1);
    r2 = filchi_load_relaxed_u64(&x);
}

static void sb_membarrier_1(void *arg)
{
    (void)arg;
    filchi_store_relaxed_u64(&x, 1);
    model_membarrier();
    r1 = filchi_load_relaxed_u64(&y);
}

static void sb_fences(void)
{
    two(sb_fence_1, sb_fence_2);
}

static void sb_fence_and_accesses(void)
{
    two(sb_fence_1, sb_accesses_2);
}

static void sb_weak_fence(void)
{
    two(sb_fence_1, sb_weak_fence_2);
}

static void sb_one_fence(void)
{
    two(sb_fence_1, sb_nothing_2);
}

static void sb_membarrier(void)
{
    two(sb_membarrier_1, sb_nothing_2);
}

/* Message passing. */

static void mp_fence_1(void *arg)
{
    (void)arg;
    filchi_store_relaxed_u64(&x, 1);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    filchi_store_relaxed_u64(&y, 1);
}

static void mp_fence_2(void *arg)
{
    (void)arg;
    r1 = filchi_load_relaxed_u64(&y);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    r2 = filchi_load_relaxed_u64(&x);
}

static void mp_acquire_2(void *arg)
{
    (void)arg;
    r1 = filchi_load_acquire_u64(&y);
    r2 = filchi_load_relaxed_u64(&x);
}

/* a fence after the store releases nothing before it */
static void mp_late_fence_1(void *arg)
{
    (void)arg;
    filchi_store_relaxed_u64(&x, 1);
    filchi_store_relaxed_u64(&y, 1);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void mp_fences(void)
{
    two(mp_fence_1, mp_fence_2);
}

static void mp_release_fence(void)
{
    two(mp_fence_1, mp_acquire_2);
}

static void mp_late_fence(void)
{
    two(mp_late_fence_1, mp_fence_2);
}

/* A plain word behind fences is no data race; behind membarrier alone it is one. */

static uint64_t data;

static void data_fence_1(void *arg)
{
    (void)arg;
    data = 7;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    filchi_store_relaxed_u64(&y, 1);
}

static void data_fence_2(void *arg)
{
    (void)arg;
    if (filchi_load_relaxed_u64(&y) == 1) {
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        MODEL_ASSERT(data == 7);
    }
}

static void data_membarrier_1(void *arg)
{
    (void)arg;
    data = 7;
    model_membarrier();
    filchi_store_relaxed_u64(&y, 1);
}

static void data_fences(void)
{
    two(data_fence_1, data_fence_2);
}

static void data_membarrier(void)
{
    two(data_membarrier_1, data_fence_2);
}

const model_client model_clients[] = {
    { .name = "sb_fences", .body = sb_fences, .outcomes = ALL2 & ~BITS2(0, 0) },
    { .name = "sb_fence_and_accesses",
      .body = sb_fence_and_accesses,
      .outcomes = ALL2 & ~BITS2(0, 0) },
    { .name = "sb_weak_fence", .body = sb_weak_fence, .outcomes = ALL2 },
    { .name = "sb_one_fence", .body = sb_one_fence, .outcomes = ALL2 },
    { .name = "sb_membarrier", .body = sb_membarrier, .outcomes = ALL2 & ~BITS2(0, 0) },
    { .name = "mp_fences", .body = mp_fences, .outcomes = ALL2 & ~BITS2(1, 0) },
    { .name = "mp_release_fence", .body = mp_release_fence, .outcomes = ALL2 & ~BITS2(1, 0) },
    { .name = "mp_late_fence", .body = mp_late_fence, .outcomes = ALL2 },
    { .name = "data_fences", .body = data_fences, .outcomes = 0x1 },
    { .name = "data_membarrier", .body = data_membarrier, .fails = "data race" },
    { .name = NULL },
};
