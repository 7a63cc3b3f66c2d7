/* SPDX-License-Identifier: MIT */
/* The workload of the tree benchmark: the sum over a binary tree that lies in depth-first order.
 *
 * Each node has two children or none. The first child is the next node of the array, the second
 * one lies `second` nodes further on, so a serial walk reads memory straight ahead and a thief
 * starts in the middle. One fork a node that has children; a leaf costs one load and one addition.
 * In contrast to fib the work has data, and two workers can share it. */
#ifndef BENCH_TREE_WORK_H
#define BENCH_TREE_WORK_H

#include <filch/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TREE_LEAVES = 1 << 17, TREE_ROUNDS = 200 };

typedef struct tree_node {
    uint64_t value;
    uint64_t second; /* distance to the second child in nodes; 0: a leaf */
} tree_node;

/* A tree with `leaves` leaves, which has leaves - 1 forks. Halved at each node, or split at random
 * places, the same ones each time. NULL without memory; free() it. */
tree_node *tree_create(size_t leaves, bool at_random);

/* Sum of all values by a loop over the array. */
uint64_t tree_expected(const tree_node *root, size_t leaves);

uint64_t tree_plain(const tree_node *root);

/* As a root of the pool: takes a node, gives a sum, both as words. */
uintptr_t tree_filch(filch_cx *cx, uintptr_t root);
uintptr_t tree_inline(filch_cx *cx, uintptr_t root);

#endif
