// SPDX-License-Identifier: MIT

import java.util.concurrent.ForkJoinPool;

/** The sum over a complete binary tree in depth-first order. Java has no arrays of structs: a column each. */
final class Tree extends Job {
    private final int[] left; // 0: none
    private final int[] right;
    private final long[] value;

    Tree(int depth) {
        int nodes = (1 << depth) - 1;
        left = new int[nodes];
        right = new int[nodes];
        value = new long[nodes];
        plant(0, depth);
    }

    private void plant(int at, int depth) {
        value[at] = Workloads.mix(at) & 0xffff;
        if (depth > 1) {
            left[at] = at + 1;
            right[at] = at + (1 << (depth - 1));
            plant(left[at], depth - 1);
            plant(right[at], depth - 1);
        }
    }

    @Override
    long run(ForkJoinPool pool) {
        Node root = new Node(this, 0);
        pool.invoke(root);
        return root.result;
    }

    private static final class Node extends Sum {
        private static final long serialVersionUID = 1;
        private final transient Tree tree;
        private final int at;

        Node(Tree tree, int at) {
            this.tree = tree;
            this.at = at;
        }

        @Override
        long sum() {
            long value = tree.value[at];
            if (tree.left[at] == 0) {
                return value;
            }
            return value + both(new Node(tree, tree.right[at]), new Node(tree, tree.left[at]));
        }
    }
}
