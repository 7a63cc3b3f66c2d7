// SPDX-License-Identifier: MIT

import java.util.Arrays;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;

/** Arrays.parallelSort. Java's numbers have signs: with the top bit flipped the order is the same. */
final class Sort extends Job {
    private final long[] input;
    private final long[] sorted;

    Sort(int n) {
        input = new long[n];
        sorted = new long[n];
        Arrays.setAll(input, i -> Workloads.mix(i) ^ Long.MIN_VALUE);
    }

    @Override
    void prepare() {
        System.arraycopy(input, 0, sorted, 0, input.length);
    }

    @Override
    long run(ForkJoinPool pool) {
        pool.invoke(ForkJoinTask.adapt(() -> Arrays.parallelSort(sorted)));
        return 0;
    }

    @Override
    long checksum(long returned) {
        long sum = 0;
        for (int i = 0; i < sorted.length; i++) {
            sum ^= Workloads.mix((sorted[i] ^ Long.MIN_VALUE) + i);
        }
        return sum;
    }
}
