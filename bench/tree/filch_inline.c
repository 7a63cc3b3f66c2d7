/* SPDX-License-Identifier: MIT */
/* Contestant "inline": one filch_join2_word, compiled in, for each node that has children.
 *
 * No cut-off: a user would stop forking below some thousand nodes, but then the benchmark would
 * measure the cut-off. A node travels as a word, its sum comes back as one (64 bits assumed). */
#include "bench/support/keep.h"
#include "bench/tree/work.h"

#define FILCH_INLINE
#include <filch/fork.h>

_Static_assert(sizeof(uintptr_t) >= sizeof(uint64_t), "a sum must fit into a word");

BENCH_OUT_OF_LINE uintptr_t tree_inline(filch_cx *cx, uintptr_t root)
{
    const tree_node *node = (const tree_node *)root;
    if (node->second == 0) {
        return node->value;
    }
    const filch_pair both = filch_join2_word(cx, tree_inline, (uintptr_t)(node + 1), tree_inline,
                                             (uintptr_t)(node + node->second));
    return node->value + both.first + both.second;
}
