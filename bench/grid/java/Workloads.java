// SPDX-License-Identifier: MIT

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntToLongFunction;
import java.util.function.Supplier;

/** Makes the workloads, and holds the small ones. */
final class Workloads {
    private Workloads() {}

    static long mix(long i) {
        long z = i + 0x9E3779B97F4A7C15L;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    static long spin(long x, long iters) {
        for (long i = 0; i < iters; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        return x >>> 33;
    }

    private record Limit(long least, long most) {}

    private static final Limit SIZE = new Limit(1, 1 << 28);
    private static final Limit ITERS = new Limit(1, (1L << 32) - 1);

    /** The numbers that each workload takes. */
    private static final Map<String, List<Limit>> LIMITS = Map.ofEntries(
        Map.entry("fib", List.of(new Limit(0, 50))),
        Map.entry("tree", List.of(new Limit(1, 28))),
        Map.entry("queens", List.of(new Limit(1, 16))),
        Map.entry("sort", List.of(SIZE)),
        Map.entry("matmul", List.of(new Limit(1, 4096))),
        Map.entry("heat", List.of(new Limit(3, 16384), new Limit(1, 100000))),
        Map.entry("sweep", List.of(SIZE, SIZE)),
        Map.entry("coarse", List.of(SIZE, ITERS)),
        Map.entry("handful", List.of(SIZE, ITERS)),
        Map.entry("spine", List.of(SIZE, ITERS)),
        Map.entry("flood", List.of(SIZE)),
        Map.entry("pareto", List.of(SIZE, new Limit(1, 1 << 20))));

    /** Of "run <workload> <arguments>"; the exception's message is the answer that refuses it. */
    static Job make(String[] words) {
        if (words.length < 2 || !words[0].equals("run")) {
            throw new IllegalArgumentException("error unknown command");
        }
        List<String> args = Arrays.asList(words).subList(2, words.length);
        if (words[1].equals("uts")) {
            if (args.isEmpty()) {
                throw new IllegalArgumentException("error T1 or T3, and perhaps a depth");
            }
            long depth = args.size() == 1 ? SIZE.most : numbers(args.subList(1, args.size()), List.of(SIZE))[0];
            return Uts.make(args.get(0), depth);
        }
        if (!LIMITS.containsKey(words[1])) {
            throw new IllegalArgumentException("none there is no such workload");
        }
        long[] n = numbers(args, LIMITS.get(words[1]));
        int size = (int) n[0];
        return switch (words[1]) {
            case "fib" -> root(() -> new Fib(size));
            case "tree" -> new Tree(size);
            case "queens" -> root(() -> new Queens((1 << size) - 1, 0, 0, 0, 0));
            case "sort" -> new Sort(size);
            case "matmul" -> new Matmul(size);
            case "heat" -> new Heat(size, (int) n[1]);
            case "sweep" -> sweep(size, (int) n[1]);
            case "flood" -> new Flood(size);
            case "pareto" -> root(() -> new Pareto(0, size, n[1]));
            default -> root(() -> new Group(size, i -> spin(i, n[1]))); // coarse, handful, spine
        };
    }

    private static long[] numbers(List<String> words, List<Limit> limits) {
        if (words.size() != limits.size()) {
            throw new IllegalArgumentException("error " + limits.size() + " numbers are needed");
        }
        long[] numbers = new long[words.size()];
        for (int i = 0; i < numbers.length; i++) {
            Limit limit = limits.get(i);
            numbers[i] = words.get(i).matches("[0-9]{1,18}") ? Long.parseLong(words.get(i)) : -1;
            if (numbers[i] < limit.least || numbers[i] > limit.most) {
                throw new IllegalArgumentException("error \"" + words.get(i) + "\" is no number from "
                    + limit.least + " to " + limit.most);
            }
        }
        return numbers;
    }

    /** A workload that is nothing but one task. */
    static Job root(Supplier<Sum> task) {
        return new Job() {
            @Override
            long run(ForkJoinPool pool) {
                Sum root = task.get();
                pool.invoke(root);
                return root.result;
            }
        };
    }

    static final class Fib extends Sum {
        private static final long serialVersionUID = 1;
        private final int n;

        Fib(int n) {
            this.n = n;
        }

        @Override
        long sum() {
            return n < 2 ? n : both(new Fib(n - 1), new Fib(n - 2));
        }
    }

    /** One task runs f(0) ... f(n - 1), each a task. */
    static final class Group extends Sum {
        private static final long serialVersionUID = 1;
        private final int n;
        private final transient IntToLongFunction f;

        Group(int n, IntToLongFunction f) {
            this.n = n;
            this.f = f;
        }

        @Override
        long sum() {
            Sum[] tasks = new Sum[n];
            for (int i = 0; i < n; i++) {
                tasks[i] = new Range(i, i + 1, 1, f);
            }
            return all(tasks);
        }
    }

    static final class Queens extends Sum {
        private static final long serialVersionUID = 1;
        private static final int TASK_ROWS = 4;
        private final int all; // a bit for each column
        private final int columns;
        private final int left;
        private final int right;
        private final int row;

        Queens(int all, int columns, int left, int right, int row) {
            this.all = all;
            this.columns = columns;
            this.left = left;
            this.right = right;
            this.row = row;
        }

        @Override
        long sum() {
            int free = all & ~(columns | left | right);
            if (columns == all || row >= TASK_ROWS || free == 0) {
                return count(all, columns, left, right);
            }
            Sum[] tasks = new Sum[Integer.bitCount(free)];
            for (int i = 0; i < tasks.length; i++, free &= free - 1) {
                int bit = free & -free;
                tasks[i] = new Queens(all, columns | bit, (left | bit) << 1, (right | bit) >>> 1, row + 1);
            }
            return all(tasks);
        }

        /** Ways to fill the rows that are left. */
        private static long count(int all, int columns, int left, int right) {
            if (columns == all) {
                return 1;
            }
            long ways = 0;
            for (int free = all & ~(columns | left | right); free != 0; free &= free - 1) {
                int bit = free & -free;
                ways += count(all, columns | bit, (left | bit) << 1, (right | bit) >>> 1);
            }
            return ways;
        }
    }

    /** Pieces of exactly `grain` elements, each a task. */
    static Job sweep(int grain, int n) {
        int pieces = (n + grain - 1) / grain;
        IntToLongFunction piece = p -> {
            long sum = 0;
            int from = p * grain;
            for (int i = from; i < Math.min(n, from + grain); i++) {
                sum += spin(i, 100);
            }
            return sum;
        };
        return root(() -> new Sum.Range(0, pieces, 1, piece));
    }

    static final class Pareto extends Sum {
        private static final long serialVersionUID = 1;
        private final int from;
        private final int to;
        private final long scale;

        Pareto(int from, int to, long scale) {
            this.from = from;
            this.to = to;
            this.scale = scale;
        }

        @Override
        long sum() {
            if (to - from == 1) {
                long cost = scale * 65536 / ((mix(from) >>> 48) + 1);
                return spin(from, Math.min(cost, 1 << 20));
            }
            int half = from + (to - from) / 2;
            return both(new Pareto(half, to, scale), new Pareto(from, half, scale));
        }
    }

    /** Posts from outside to a pool with asyncMode, which the documentation names for such tasks. */
    static final class Flood extends Job {
        private final int n;
        private ForkJoinPool async;

        Flood(int n) {
            this.n = n;
        }

        @Override
        long run(ForkJoinPool pool) {
            if (async == null) { // in the warm-up
                async = new ForkJoinPool(pool.getParallelism(),
                    ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true);
            }
            AtomicLong count = new AtomicLong();
            CountDownLatch done = new CountDownLatch(1);
            Runnable task = () -> {
                if (count.incrementAndGet() == n) {
                    done.countDown();
                }
            };
            for (int i = 0; i < n; i++) {
                async.execute(task);
            }
            try {
                done.await();
            } catch (InterruptedException nobodyInterrupts) {
                throw new IllegalStateException(nobodyInterrupts);
            }
            return count.get();
        }
    }
}
