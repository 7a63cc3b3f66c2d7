/* SPDX-License-Identifier: MIT */
/* Builds the tree. Values come from a fixed generator, so that every build sums the same numbers
 * and a wrong sum is not an accident of the data.
 *
 * Recursion goes as deep as the tree: some 20 levels when halved, about 60 when split at random. */
#include "bench/tree/work.h"

#include <stdlib.h>

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014). */
static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Lay out a subtree with `leaves` leaves; it takes 2 * leaves - 1 nodes. */
static void build(tree_node *node, size_t leaves, bool at_random, uint64_t *random)
{
    node->value = next_random(random) & 0xffff;
    node->second = 0;
    if (leaves < 2) {
        return;
    }
    const size_t first = at_random ? 1 + (size_t)(next_random(random) % (leaves - 1)) : leaves / 2;
    node->second = 2 * first;
    build(node + 1, first, at_random, random);
    build(node + node->second, leaves - first, at_random, random);
}

tree_node *tree_create(size_t leaves, bool at_random)
{
    tree_node *root = malloc((2 * leaves - 1) * sizeof *root);
    if (root != NULL) {
        uint64_t random = 42;
        build(root, leaves, at_random, &random);
    }
    return root;
}

uint64_t tree_expected(const tree_node *root, size_t leaves)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < 2 * leaves - 1; i++) {
        sum += root[i].value;
    }
    return sum;
}
