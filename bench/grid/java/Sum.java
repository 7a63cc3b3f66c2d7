// SPDX-License-Identifier: MIT

import java.util.concurrent.RecursiveAction;
import java.util.function.IntToLongFunction;

/** A task with a number as its result: a field, since RecursiveTask would box it. */
abstract class Sum extends RecursiveAction {
    private static final long serialVersionUID = 1;

    long result;

    abstract long sum();

    @Override
    protected final void compute() {
        result = sum();
    }

    /** Forks one, computes the other, and adds their results. */
    static long both(Sum forked, Sum called) {
        forked.fork();
        called.compute();
        forked.join();
        return forked.result + called.result;
    }

    /** Forks all but the first, which is computed, and joins the latest first. */
    static long all(Sum[] tasks) {
        for (int i = 1; i < tasks.length; i++) {
            tasks[i].fork();
        }
        tasks[0].compute();
        long sum = tasks[0].result;
        for (int i = tasks.length - 1; i > 0; i--) {
            tasks[i].join();
            sum += tasks[i].result;
        }
        return sum;
    }

    /** The sum of f(i) in [from, to), halved down to pieces of `grain`. */
    static final class Range extends Sum {
        private static final long serialVersionUID = 1;
        private final int from;
        private final int to;
        private final int grain;
        private final transient IntToLongFunction f;

        Range(int from, int to, int grain, IntToLongFunction f) {
            this.from = from;
            this.to = to;
            this.grain = grain;
            this.f = f;
        }

        @Override
        long sum() {
            if (to - from > grain) {
                int half = (from + to) >>> 1;
                return both(new Range(half, to, grain, f), new Range(from, half, grain, f));
            }
            long sum = 0;
            for (int i = from; i < to; i++) {
                sum += f.applyAsLong(i);
            }
            return sum;
        }
    }
}
