/* SPDX-License-Identifier: MIT */
/* What differs between compilers and processors, in one place: hints, attributes, the size of a
 * cache line. Nothing else in the tree asks which compiler or CPU it is built with. */
#ifndef FILCHI_BASE_COMPILER_H
#define FILCHI_BASE_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#define FILCHI_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define FILCHI_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* For the cold half of a function: keeps its registers out of the hot half. Not the attribute
 * "cold": gcc 12 then moves what follows the call, the hot rest of the caller, away as well. */
#define FILCHI_COLD __attribute__((noinline))
#define FILCHI_HOT_INLINE inline __attribute__((always_inline))

/* Two 64-byte lines: x86 prefetches lines in pairs, and some ARM cores have lines of 128 bytes. */
enum { FILCHI_CACHELINE = 128 };

#define FILCHI_CONTAINER(p, type, field) ((type *)(void *)((char *)(p)-offsetof(type, field)))

/* One turn of a spin loop: tells the processor that this thread waits for another. */
static inline void filchi_cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* The number of the highest bit that is set. x > 0 */
static inline unsigned filchi_log2_u64(uint64_t x)
{
    return 63u - (unsigned)__builtin_clzll(x);
}

/* Where the stack is now; good enough to ask how much of it is left. */
static FILCHI_HOT_INLINE char *filchi_stack_pointer(void)
{
    return (char *)__builtin_frame_address(0);
}

#endif
