/* SPDX-License-Identifier: MIT */
/* An allocator for tests: it counts, it fails when told to, and it checks that each block comes
 * back once, with the size that was asked for. Any thread may use it. */
#ifndef FILCH_TEST_ALLOC_H
#define FILCH_TEST_ALLOC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <filch/base.h>

typedef struct test_allocator {
    filch_allocator hooks;      /* hand this to Filch */
    atomic_ulong calls;         /* asked for */
    atomic_ulong allocs;        /* given out */
    atomic_ulong frees;         /* given back */
    atomic_ulong broken;        /* given back wrongly, or asked for with a bad alignment */
    atomic_size_t live_bytes;   /* given out and not given back */
    atomic_ulong fail_at;       /* the call that fails, counted from 1; 0: none */
    atomic_bool fail_for_good;  /* all calls after that one fail too */
    atomic_size_t refuse_above; /* larger blocks fail; 0: no limit */
} test_allocator;

void test_allocator_init(test_allocator *allocator);

/* Let the `nth` call from now on fail (1: the next one), and all later ones if `for_good`;
 * 0 switches failing off. */
void test_allocator_fail(test_allocator *allocator, unsigned long nth, bool for_good);

/* Whether a call that should fail has been made. */
bool test_allocator_has_failed(const test_allocator *allocator);

/* Main thread: all blocks came back, none of them wrongly. */
void test_allocator_assert_balanced(const test_allocator *allocator);

#endif
