/* SPDX-License-Identifier: MIT */
/* Contestant "plain": the recursion over the tree and nothing else, two real calls a node.
 *
 * As in bench/fib the function is kept out of line, since no runtime keeps what a compiler gains by
 * inlining a recursion into itself. */
#include "bench/support/keep.h"
#include "bench/tree/work.h"

BENCH_OUT_OF_LINE static uint64_t sum(const tree_node *node)
{
    if (node->second == 0) {
        return node->value;
    }
    uint64_t first = sum(node + 1);
    uint64_t second = sum(node + node->second);
    BENCH_KEEP(second);
    return node->value + first + second;
}

uint64_t tree_plain(const tree_node *root)
{
    return sum(root);
}
