/* SPDX-License-Identifier: MIT */
/* The functions that `gcc -fsanitize=thread` calls, in place of libtsan's: one for each plain
 * access, each atomic access and each fence. Orders come as the compiler's numbers. */
#include "rt.h"

#include <string.h>

#define CALLER __builtin_return_address(0)

void __tsan_init(void);
void __tsan_func_entry(const void *caller);
void __tsan_func_exit(void);
void __tsan_read_range(const void *addr, size_t bytes);
void __tsan_write_range(const void *addr, size_t bytes);
void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);
void __tsan_vptr_update(void **slot, void *value);

void __tsan_init(void)
{
}

/* The frame of the caller ends at or below ours. */
void __tsan_func_entry(const void *caller)
{
    (void)caller;
    rt_shadow_frame_in(__builtin_frame_address(0));
}

void __tsan_func_exit(void)
{
    rt_shadow_frame_out(CALLER);
}

void __tsan_read_range(const void *addr, size_t bytes)
{
    rt_shadow_plain(addr, bytes, false, CALLER);
}

void __tsan_write_range(const void *addr, size_t bytes)
{
    rt_shadow_plain(addr, bytes, true, CALLER);
}

void __tsan_vptr_update(void **slot, void *value)
{
    (void)value;
    rt_shadow_plain(slot, sizeof(*slot), true, CALLER);
}

#define PLAIN(name, bytes, write)                                                                  \
    void __tsan_##name(const void *addr);                                                          \
    void __tsan_##name(const void *addr)                                                           \
    {                                                                                              \
        rt_shadow_plain(addr, bytes, write, CALLER);                                               \
    }

PLAIN(read1, 1, false)
PLAIN(read2, 2, false)
PLAIN(read4, 4, false)
PLAIN(read8, 8, false)
PLAIN(read16, 16, false)
PLAIN(write1, 1, true)
PLAIN(write2, 2, true)
PLAIN(write4, 4, true)
PLAIN(write8, 8, true)
PLAIN(write16, 16, true)
PLAIN(unaligned_read2, 2, false)
PLAIN(unaligned_read4, 4, false)
PLAIN(unaligned_read8, 8, false)
PLAIN(unaligned_read16, 16, false)
PLAIN(unaligned_write2, 2, true)
PLAIN(unaligned_write4, 4, true)
PLAIN(unaligned_write8, 8, true)
PLAIN(unaligned_write16, 16, true)
PLAIN(volatile_read1, 1, false)
PLAIN(volatile_read2, 2, false)
PLAIN(volatile_read4, 4, false)
PLAIN(volatile_read8, 8, false)
PLAIN(volatile_write1, 1, true)
PLAIN(volatile_write2, 2, true)
PLAIN(volatile_write4, 4, true)
PLAIN(volatile_write8, 8, true)

/* Atomic accesses. */

static uint64_t op_exchange(uint64_t old, uint64_t operand)
{
    (void)old;
    return operand;
}

static uint64_t op_add(uint64_t old, uint64_t operand)
{
    return old + operand;
}

static uint64_t op_sub(uint64_t old, uint64_t operand)
{
    return old - operand;
}

static uint64_t op_and(uint64_t old, uint64_t operand)
{
    return old & operand;
}

static uint64_t op_or(uint64_t old, uint64_t operand)
{
    return old | operand;
}

static uint64_t op_xor(uint64_t old, uint64_t operand)
{
    return old ^ operand;
}

static uint64_t op_nand(uint64_t old, uint64_t operand)
{
    return ~(old & operand);
}

#define LOAD_STORE(bits)                                                                           \
    uint##bits##_t __tsan_atomic##bits##_load(const void *addr, int order);                        \
    void __tsan_atomic##bits##_store(void *addr, uint##bits##_t value, int order);                 \
    uint##bits##_t __tsan_atomic##bits##_load(const void *addr, int order)                         \
    {                                                                                              \
        return (uint##bits##_t)rt_load(addr, bits / 8, order, CALLER);                             \
    }                                                                                              \
    void __tsan_atomic##bits##_store(void *addr, uint##bits##_t value, int order)                  \
    {                                                                                              \
        rt_store(addr, bits / 8, value, order, CALLER);                                            \
    }

#define MODIFY(bits, name, op)                                                                     \
    uint##bits##_t __tsan_atomic##bits##_##name(void *addr, uint##bits##_t value, int order);      \
    uint##bits##_t __tsan_atomic##bits##_##name(void *addr, uint##bits##_t value, int order)       \
    {                                                                                              \
        return (uint##bits##_t)rt_rmw(addr, bits / 8, op, value, order, CALLER);                   \
    }

/* The weak form may fail for no reason. */
#define COMPARE(bits, name, weak)                                                                  \
    int __tsan_atomic##bits##_compare_exchange_##name(void *addr, uint##bits##_t *expected,        \
                                                      uint##bits##_t desired, int success,         \
                                                      int failure);                                \
    int __tsan_atomic##bits##_compare_exchange_##name(void *addr, uint##bits##_t *expected,        \
                                                      uint##bits##_t desired, int success,         \
                                                      int failure)                                 \
    {                                                                                              \
        uint64_t wanted = *expected;                                                               \
        if (weak && rt_choose_fault(2) != 0) {                                                     \
            return 0;                                                                              \
        }                                                                                          \
        if (rt_cas(addr, bits / 8, &wanted, desired, success, failure, CALLER)) {                  \
            return 1;                                                                              \
        }                                                                                          \
        *expected = (uint##bits##_t)wanted;                                                        \
        return 0;                                                                                  \
    }

#define ATOMICS(bits)                                                                              \
    LOAD_STORE(bits)                                                                               \
    MODIFY(bits, exchange, op_exchange)                                                            \
    MODIFY(bits, fetch_add, op_add)                                                                \
    MODIFY(bits, fetch_sub, op_sub)                                                                \
    MODIFY(bits, fetch_and, op_and)                                                                \
    MODIFY(bits, fetch_or, op_or)                                                                  \
    MODIFY(bits, fetch_xor, op_xor)                                                                \
    MODIFY(bits, fetch_nand, op_nand)                                                              \
    COMPARE(bits, strong, false)                                                                   \
    COMPARE(bits, weak, true)

ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

void __tsan_atomic_thread_fence(int order)
{
    rt_fence(order, CALLER);
}

/* Orders nothing between threads. */
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}

/* memcpy and its family: the real ones, seen by the race detector. The linker gives these to the
 * code under test (--wrap); this library itself is not wrapped. */

void *__wrap_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memmove(void *to, const void *from, size_t bytes);
void *__wrap_memset(void *to, int byte, size_t bytes);
int __wrap_memcmp(const void *a, const void *b, size_t bytes);

void *__wrap_memcpy(void *to, const void *from, size_t bytes)
{
    rt_shadow_plain(from, bytes, false, CALLER);
    rt_shadow_plain(to, bytes, true, CALLER);
    return memcpy(to, from, bytes);
}

void *__wrap_memmove(void *to, const void *from, size_t bytes)
{
    rt_shadow_plain(from, bytes, false, CALLER);
    rt_shadow_plain(to, bytes, true, CALLER);
    return memmove(to, from, bytes);
}

void *__wrap_memset(void *to, int byte, size_t bytes)
{
    rt_shadow_plain(to, bytes, true, CALLER);
    return memset(to, byte, bytes);
}

int __wrap_memcmp(const void *a, const void *b, size_t bytes)
{
    rt_shadow_plain(a, bytes, false, CALLER);
    rt_shadow_plain(b, bytes, false, CALLER);
    return memcmp(a, b, bytes);
}
