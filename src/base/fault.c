/* SPDX-License-Identifier: MIT */
/* The hook behind the fault points; an empty file outside the test library. */
#include "base/fault.h"

#include <stddef.h>

#if defined(FILCHI_HOOKS)

static filchi_point_fn *hook_fn;
static void *hook_ctx;

void filchi_points_set(filchi_point_fn *fn, void *ctx)
{
    hook_ctx = ctx;
    hook_fn = fn;
}

bool filchi_point_hit(filchi_point point)
{
    return hook_fn != NULL && hook_fn(hook_ctx, point);
}

#else

/* ISO C wants a declaration in every translation unit. */
typedef int filchi_fault_unused;

#endif
