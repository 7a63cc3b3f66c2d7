// SPDX-License-Identifier: MIT

/** The unbalanced tree search. */
final class Uts {
    private static final int[] START = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

    /** T3 is binomial: b children of the root, m with probability q of the others; T1 geometric, fixed. */
    private record Shape(boolean binomial, int b, double q, int m, int seed, int depth) {}

    private static final Shape T1 = new Shape(false, 4, 0, 0, 19, 10);
    private static final Shape T3 = new Shape(true, 2000, 0.124875, 8, 42, Integer.MAX_VALUE);

    private Uts() {}

    static Job make(String tree, long depth) {
        Shape s = switch (tree) {
            case "T1" -> T1;
            case "T3" -> T3;
            default -> throw new IllegalArgumentException("error T1 or T3, and perhaps a depth");
        };
        Shape cut = new Shape(s.binomial, s.b, s.q, s.m, s.seed, (int) Math.min(s.depth, depth));
        int[] root = derive(new int[4], s.seed);
        return Workloads.root(() -> new Node(cut, root, 0));
    }

    private static final class Node extends Sum {
        private static final long serialVersionUID = 1;
        private static final int MOST_CHILDREN = 100;
        private final transient Shape shape;
        private final int[] state;
        private final int height;

        Node(Shape shape, int[] state, int height) {
            this.shape = shape;
            this.state = state;
            this.height = height;
        }

        @Override
        long sum() {
            Sum[] children = new Sum[children()];
            if (children.length == 0) {
                return 1;
            }
            for (int i = 0; i < children.length; i++) {
                children[i] = new Node(shape, derive(state, i), height + 1);
            }
            return 1 + all(children);
        }

        private int children() {
            if (height >= shape.depth) {
                return 0;
            }
            if (shape.binomial && height == 0) {
                return shape.b;
            }
            double u = (state[4] & 0x7fffffff) / 2147483648.0;
            if (shape.binomial) {
                return u < shape.q ? shape.m : 0;
            }
            double p = 1.0 / (1.0 + shape.b);
            return (int) Math.min(MOST_CHILDREN, Math.floor(Math.log(1 - u) / Math.log(1 - p)));
        }
    }

    /** The SHA-1 of a seed of four or five words and a number. */
    private static int[] derive(int[] seed, int number) {
        int[] block = new int[16];
        System.arraycopy(seed, 0, block, 0, seed.length);
        block[seed.length] = number;
        block[seed.length + 1] = 0x80000000;
        block[15] = 32 * (seed.length + 1);
        return sha1(block);
    }

    /** SHA-1 of one block, written as all contestants have it: not the SHA-1 of the runtimes is compared. */
    private static int[] sha1(int[] w) {
        int a = START[0];
        int b = START[1];
        int c = START[2];
        int d = START[3];
        int e = START[4];
        for (int t = 0; t < 80; t++) {
            if (t >= 16) {
                int word = w[(t + 13) & 15] ^ w[(t + 8) & 15] ^ w[(t + 2) & 15] ^ w[t & 15];
                w[t & 15] = Integer.rotateLeft(word, 1);
            }
            int mixed = b ^ c ^ d;
            int key = t < 40 ? 0x6ed9eba1 : 0xca62c1d6;
            if (t < 20) {
                mixed = (b & c) | (~b & d);
                key = 0x5a827999;
            } else if (t >= 40 && t < 60) {
                mixed = (b & c) | (b & d) | (c & d);
                key = 0x8f1bbcdc;
            }
            int next = Integer.rotateLeft(a, 5) + mixed + e + key + w[t & 15];
            e = d;
            d = c;
            c = Integer.rotateLeft(b, 30);
            b = a;
            a = next;
        }
        return new int[] {a + START[0], b + START[1], c + START[2], d + START[3], e + START[4]};
    }
}
