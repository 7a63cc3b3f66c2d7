/* SPDX-License-Identifier: MIT */
/* Atomic words. The memory order stands in the name of each access; there is no default. Only the
 * combinations that are used exist. Every access that is not relaxed carries a label at its call
 * site, `[ROOM-n] order, pairs with ROOM-m: promise`; docs/memory-model.md is made from them.
 *
 * No stand-alone fences: ThreadSanitizer does not understand them, and compilers differ in what
 * they cost. Where two sides must not both miss, all four accesses are seq_cst. */
#ifndef FILCHI_BASE_ATOMIC_H
#define FILCHI_BASE_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

typedef struct filchi_atomic_u32 {
    uint32_t value;
} filchi_atomic_u32;

typedef struct filchi_atomic_u64 {
    uint64_t value;
} filchi_atomic_u64;

typedef struct filchi_atomic_i64 {
    int64_t value;
} filchi_atomic_i64;

typedef struct filchi_atomic_uptr {
    uintptr_t value;
} filchi_atomic_uptr;

/* 32 bits: states, futex words. */

static inline uint32_t filchi_load_relaxed_u32(const filchi_atomic_u32 *a)
{
    return __atomic_load_n(&a->value, __ATOMIC_RELAXED);
}

static inline uint32_t filchi_load_acquire_u32(const filchi_atomic_u32 *a)
{
    return __atomic_load_n(&a->value, __ATOMIC_ACQUIRE);
}

static inline uint32_t filchi_load_seq_cst_u32(const filchi_atomic_u32 *a)
{
    return __atomic_load_n(&a->value, __ATOMIC_SEQ_CST);
}

static inline void filchi_store_relaxed_u32(filchi_atomic_u32 *a, uint32_t value)
{
    __atomic_store_n(&a->value, value, __ATOMIC_RELAXED);
}

static inline void filchi_store_release_u32(filchi_atomic_u32 *a, uint32_t value)
{
    __atomic_store_n(&a->value, value, __ATOMIC_RELEASE);
}

static inline void filchi_store_seq_cst_u32(filchi_atomic_u32 *a, uint32_t value)
{
    __atomic_store_n(&a->value, value, __ATOMIC_SEQ_CST);
}

static inline uint32_t filchi_xchg_acquire_u32(filchi_atomic_u32 *a, uint32_t value)
{
    return __atomic_exchange_n(&a->value, value, __ATOMIC_ACQUIRE);
}

static inline uint32_t filchi_xchg_release_u32(filchi_atomic_u32 *a, uint32_t value)
{
    return __atomic_exchange_n(&a->value, value, __ATOMIC_RELEASE);
}

static inline bool filchi_cas_relaxed_u32(filchi_atomic_u32 *a, uint32_t expected, uint32_t desired)
{
    return __atomic_compare_exchange_n(&a->value, &expected, desired, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}

/* Acquire when it succeeds, relaxed when it fails. */
static inline bool filchi_cas_acquire_u32(filchi_atomic_u32 *a, uint32_t expected, uint32_t desired)
{
    return __atomic_compare_exchange_n(&a->value, &expected, desired, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static inline uint32_t filchi_add_relaxed_u32(filchi_atomic_u32 *a, uint32_t delta)
{
    return __atomic_fetch_add(&a->value, delta, __ATOMIC_RELAXED);
}

/* 64 bits: counters, packed words, tickets. Additions return the old value. */

static inline uint64_t filchi_load_relaxed_u64(const filchi_atomic_u64 *a)
{
    return __atomic_load_n(&a->value, __ATOMIC_RELAXED);
}

static inline uint64_t filchi_load_acquire_u64(const filchi_atomic_u64 *a)
{
    return __atomic_load_n(&a->value, __ATOMIC_ACQUIRE);
}

static inline uint64_t filchi_load_seq_cst_u64(const filchi_atomic_u64 *a)
{
    return __atomic_load_n(&a->value, __ATOMIC_SEQ_CST);
}

static inline void filchi_store_relaxed_u64(filchi_atomic_u64 *a, uint64_t value)
{
    __atomic_store_n(&a->value, value, __ATOMIC_RELAXED);
}

static inline void filchi_store_release_u64(filchi_atomic_u64 *a, uint64_t value)
{
    __atomic_store_n(&a->value, value, __ATOMIC_RELEASE);
}

static inline void filchi_store_seq_cst_u64(filchi_atomic_u64 *a, uint64_t value)
{
    __atomic_store_n(&a->value, value, __ATOMIC_SEQ_CST);
}

static inline uint64_t filchi_add_relaxed_u64(filchi_atomic_u64 *a, uint64_t delta)
{
    return __atomic_fetch_add(&a->value, delta, __ATOMIC_RELAXED);
}

static inline uint64_t filchi_add_acq_rel_u64(filchi_atomic_u64 *a, uint64_t delta)
{
    return __atomic_fetch_add(&a->value, delta, __ATOMIC_ACQ_REL);
}

static inline uint64_t filchi_add_seq_cst_u64(filchi_atomic_u64 *a, uint64_t delta)
{
    return __atomic_fetch_add(&a->value, delta, __ATOMIC_SEQ_CST);
}

static inline uint64_t filchi_or_seq_cst_u64(filchi_atomic_u64 *a, uint64_t bits)
{
    return __atomic_fetch_or(&a->value, bits, __ATOMIC_SEQ_CST);
}

/* Failing, it loads the present value into *expected, relaxed. */
static inline bool filchi_cas_relaxed_u64(filchi_atomic_u64 *a, uint64_t *expected,
                                          uint64_t desired)
{
    return __atomic_compare_exchange_n(&a->value, expected, desired, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}

static inline bool filchi_cas_seq_cst_u64(filchi_atomic_u64 *a, uint64_t *expected,
                                          uint64_t desired)
{
    return __atomic_compare_exchange_n(&a->value, expected, desired, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_RELAXED);
}

/* Signed 64 bits: the indices of the deque. */

static inline int64_t filchi_load_relaxed_i64(const filchi_atomic_i64 *a)
{
    return __atomic_load_n(&a->value, __ATOMIC_RELAXED);
}

static inline int64_t filchi_load_acquire_i64(const filchi_atomic_i64 *a)
{
    return __atomic_load_n(&a->value, __ATOMIC_ACQUIRE);
}

static inline int64_t filchi_load_seq_cst_i64(const filchi_atomic_i64 *a)
{
    return __atomic_load_n(&a->value, __ATOMIC_SEQ_CST);
}

static inline void filchi_store_relaxed_i64(filchi_atomic_i64 *a, int64_t value)
{
    __atomic_store_n(&a->value, value, __ATOMIC_RELAXED);
}

static inline void filchi_store_seq_cst_i64(filchi_atomic_i64 *a, int64_t value)
{
    __atomic_store_n(&a->value, value, __ATOMIC_SEQ_CST);
}

static inline bool filchi_cas_seq_cst_i64(filchi_atomic_i64 *a, int64_t expected, int64_t desired)
{
    return __atomic_compare_exchange_n(&a->value, &expected, desired, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_RELAXED);
}

static inline int64_t filchi_add_acq_rel_i64(filchi_atomic_i64 *a, int64_t delta)
{
    return __atomic_fetch_add(&a->value, delta, __ATOMIC_ACQ_REL);
}

/* Pointer-sized: slots of the deque, published pointers, latches. */

static inline uintptr_t filchi_load_relaxed_uptr(const filchi_atomic_uptr *a)
{
    return __atomic_load_n(&a->value, __ATOMIC_RELAXED);
}

static inline uintptr_t filchi_load_acquire_uptr(const filchi_atomic_uptr *a)
{
    return __atomic_load_n(&a->value, __ATOMIC_ACQUIRE);
}

static inline void filchi_store_relaxed_uptr(filchi_atomic_uptr *a, uintptr_t value)
{
    __atomic_store_n(&a->value, value, __ATOMIC_RELAXED);
}

static inline void filchi_store_release_uptr(filchi_atomic_uptr *a, uintptr_t value)
{
    __atomic_store_n(&a->value, value, __ATOMIC_RELEASE);
}

static inline uintptr_t filchi_load_seq_cst_uptr(const filchi_atomic_uptr *a)
{
    return __atomic_load_n(&a->value, __ATOMIC_SEQ_CST);
}

static inline void filchi_store_seq_cst_uptr(filchi_atomic_uptr *a, uintptr_t value)
{
    __atomic_store_n(&a->value, value, __ATOMIC_SEQ_CST);
}

static inline bool filchi_cas_relaxed_uptr(filchi_atomic_uptr *a, uintptr_t expected,
                                           uintptr_t desired)
{
    return __atomic_compare_exchange_n(&a->value, &expected, desired, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}

static inline uintptr_t filchi_xchg_release_uptr(filchi_atomic_uptr *a, uintptr_t value)
{
    return __atomic_exchange_n(&a->value, value, __ATOMIC_RELEASE);
}

static inline uintptr_t filchi_xchg_acquire_uptr(filchi_atomic_uptr *a, uintptr_t value)
{
    return __atomic_exchange_n(&a->value, value, __ATOMIC_ACQUIRE);
}

static inline uintptr_t filchi_xchg_acq_rel_uptr(filchi_atomic_uptr *a, uintptr_t value)
{
    return __atomic_exchange_n(&a->value, value, __ATOMIC_ACQ_REL);
}

/* Acquire, whether it succeeds or fails. */
static inline bool filchi_cas_acquire_uptr(filchi_atomic_uptr *a, uintptr_t expected,
                                           uintptr_t desired)
{
    return __atomic_compare_exchange_n(&a->value, &expected, desired, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_ACQUIRE);
}

/* Release when it succeeds, acquire when it fails. */
static inline bool filchi_cas_acq_rel_uptr(filchi_atomic_uptr *a, uintptr_t expected,
                                           uintptr_t desired)
{
    return __atomic_compare_exchange_n(&a->value, &expected, desired, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

#endif
