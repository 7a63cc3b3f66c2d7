/* SPDX-License-Identifier: MIT */
/* Serial merging and sorting of elements whose size is known at run time only. For common sizes
 * there are versions in which copying an element is a move or two. */
#ifndef FILCHI_PAR_MERGE_H
#define FILCHI_PAR_MERGE_H

#include <filch/parallel.h>

#include <stdbool.h>

typedef struct filchi_order {
    filch_compare_fn *compare;
    void *ctx;
    size_t width;
} filchi_order;

/* Merge two sorted runs; of equal elements those of `a` come first. */
typedef void filchi_merge_fn(const filchi_order *order, const char *a, size_t a_count,
                             const char *b, size_t b_count, char *out);

/* Sort `data`, stably; the result is there, or in `scratch` if `into_scratch`. */
typedef void filchi_sort_fn(const filchi_order *order, char *data, char *scratch, size_t count,
                            bool into_scratch);

typedef struct filchi_kernel {
    filchi_merge_fn *merge;
    filchi_sort_fn *sort;
} filchi_kernel;

/* For elements of this many bytes. */
filchi_kernel filchi_kernel_for(size_t width);

#endif
