/* SPDX-License-Identifier: MIT */
/* Contestant "void": filch_join2, whose functions keep their results in memory of the caller. */
#include "bench/fib/work.h"
#include "bench/support/keep.h"

#include <filch/fork.h>

typedef struct call {
    uintptr_t n;
    uintptr_t result;
} call;

BENCH_OUT_OF_LINE static void node(filch_cx *cx, void *arg)
{
    call *self = arg;
    if (self->n < 2) {
        self->result = self->n;
        return;
    }
    call left = { self->n - 1, 0 };
    call right = { self->n - 2, 0 };
    filch_join2(cx, node, &left, node, &right);
    self->result = left.result + right.result;
}

uintptr_t fib_filch_void(filch_cx *cx, uintptr_t n)
{
    call root = { n, 0 };
    node(cx, &root);
    return root.result;
}
