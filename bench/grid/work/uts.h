/* SPDX-License-Identifier: MIT */
/* The unbalanced tree search (Olivier et al., LCPC 2006): a tree that nobody can cut into equal
 * parts, since a node's number of children is known only once it is reached. The standard trees T1
 * (geometric, fixed: 4,130,071 nodes) and T3 (binomial: 4,112,897). C11 and C++17. */
#ifndef BENCH_GRID_UTS_H
#define BENCH_GRID_UTS_H

#include "bench/grid/work/sha1.h"

#include <math.h>
#include <stdbool.h>

typedef struct grid_uts_tree {
    bool binomial;
    double b; /* children: of the root (binomial), on average (geometric) */
    double q; /* binomial: the part of the nodes that has m */
    unsigned m;
    unsigned seed;
    unsigned depth; /* nodes at this height have no children */
} grid_uts_tree;

static const grid_uts_tree grid_uts_t1 = { false, 4, 0, 0, 19, 10 };
static const grid_uts_tree grid_uts_t3 = { true, 2000, 0.124875, 8, 42, 1u << 30 };

typedef struct grid_uts_node {
    uint8_t state[GRID_SHA1_BYTES];
    unsigned height;
} grid_uts_node;

static inline grid_uts_node grid_uts_root(const grid_uts_tree *tree)
{
    uint8_t input[GRID_SHA1_BYTES] = { 0 };
    grid_uts_node root;
    grid_store_be(input + 16, tree->seed);
    grid_sha1(input, sizeof input, root.state);
    root.height = 0;
    return root;
}

static inline grid_uts_node grid_uts_child(const grid_uts_node *parent, unsigned index)
{
    uint8_t input[GRID_SHA1_BYTES + 4];
    grid_uts_node child;
    memcpy(input, parent->state, GRID_SHA1_BYTES);
    grid_store_be(input + GRID_SHA1_BYTES, index);
    grid_sha1(input, sizeof input, child.state);
    child.height = parent->height + 1;
    return child;
}

/* How many children `node` has: at most 100, the root of a binomial tree excepted. */
static inline unsigned grid_uts_children(const grid_uts_tree *tree, const grid_uts_node *node)
{
    if (node->height >= tree->depth) {
        return 0;
    }
    if (tree->binomial && node->height == 0) {
        return (unsigned)tree->b;
    }
    const uint32_t random = grid_load_be(node->state + 16) & 0x7fffffffu;
    const double u = (double)random / 2147483648.0;
    if (tree->binomial) {
        return u < tree->q ? tree->m : 0;
    }
    const double p = 1.0 / (1.0 + tree->b);
    const double children = floor(log(1.0 - u) / log(1.0 - p));
    return children < 100 ? (unsigned)children : 100;
}

#endif
