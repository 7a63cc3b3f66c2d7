/* SPDX-License-Identifier: MIT */
/* How n elements are cut into leaves where the cut may depend on nothing but n and the grain. */
#ifndef FILCHI_PAR_SPLIT_H
#define FILCHI_PAR_SPLIT_H

#include <filch/parallel.h>

#include <stdbool.h>

bool filchi_loop_valid(const filch_loop *options);
bool filchi_reducer_valid(const filch_reducer *reducer);

typedef struct filchi_leaves {
    size_t n;
    size_t grain;
    size_t count;
} filchi_leaves;

/* n > 0 */
filchi_leaves filchi_leaves_cut(size_t n, const filch_loop *options);

static inline filch_range filchi_leaf(const filchi_leaves *leaves, size_t index, unsigned slot)
{
    const size_t lo = index * leaves->grain;
    const size_t left = leaves->n - lo;
    return (filch_range){ lo, left > leaves->grain ? lo + leaves->grain : leaves->n, slot };
}

/* A loop over the leaves, with the participants that the options allow. */
void filchi_leaves_for(filch_cx *cx, const filchi_leaves *leaves, filch_range_fn *body, void *ctx,
                       const filch_loop *options);

/* The value of no element at all. */
void filchi_reducer_identity(const filch_reducer *reducer, void *ctx, void *value);

/* Bytes of one value in an array of values that share no cache line; 0: too many. */
size_t filchi_reducer_stride(const filch_reducer *reducer);

#endif
