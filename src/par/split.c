/* SPDX-License-Identifier: MIT */
#include "par/split.h"

#include "base/compiler.h"

#include <string.h>

enum {
    MOST_LEAVES = 4096,
    AUTO_LEAVES = 1024,    /* the last leaf costs at most 1/64 of a share, up to 16 workers */
    SMALL_LEAVES = 256,    /* fewer where a call for each leaf would be most of the work */
    SMALL_ELEMENTS = 16384 /* fewer are a small input */
};

static size_t divide_up(size_t n, size_t by)
{
    return n / by + (n % by != 0);
}

filchi_leaves filchi_leaves_cut(size_t n, const filch_loop *options)
{
    const size_t wanted = n < SMALL_ELEMENTS ? SMALL_LEAVES : AUTO_LEAVES;
    const size_t least = divide_up(n, MOST_LEAVES);
    size_t grain = options != NULL ? options->grain : 0;
    grain = grain != 0 ? grain : divide_up(n, wanted);
    grain = grain > least ? grain : least;
    return (filchi_leaves){ n, grain, divide_up(n, grain) };
}

void filchi_leaves_for(filch_cx *cx, const filchi_leaves *leaves, filch_range_fn *body, void *ctx,
                       const filch_loop *options)
{
    filch_loop loop = FILCH_LOOP_INIT;
    loop.participants = options != NULL ? options->participants : 0;
    (void)filch_for(cx, leaves->count, body, ctx, &loop); /* its arguments are valid */
}

bool filchi_reducer_valid(const filch_reducer *reducer)
{
    static const filch_reducer empty = FILCH_REDUCER_INIT;
    return reducer != NULL && reducer->size == sizeof(*reducer) && reducer->value_bytes != 0 &&
           reducer->fold != NULL && reducer->combine != NULL &&
           memcmp(reducer->reserved, empty.reserved, sizeof(empty.reserved)) == 0;
}

void filchi_reducer_identity(const filch_reducer *reducer, void *ctx, void *value)
{
    if (reducer->identity != NULL) {
        reducer->identity(ctx, value);
    } else {
        memset(value, 0, reducer->value_bytes);
    }
}

size_t filchi_reducer_stride(const filch_reducer *reducer)
{
    const size_t line = FILCHI_CACHELINE;
    return reducer->value_bytes <= SIZE_MAX - line ? divide_up(reducer->value_bytes, line) * line
                                                   : 0;
}
