// SPDX-License-Identifier: MIT

import java.util.Arrays;
import java.util.concurrent.ForkJoinPool;

final class Heat extends Job {
    private static final int PIECES_A_THREAD = 8;

    private final int n;
    private final int steps;
    private int[] now;
    private int[] next;

    Heat(int n, int steps) {
        this.n = n;
        this.steps = steps;
        now = new int[n * n];
        next = new int[n * n];
    }

    @Override
    void prepare() {
        Arrays.setAll(now, i -> (int) (Workloads.mix(i) & 0xffff));
        System.arraycopy(now, 0, next, 0, now.length);
    }

    @Override
    long run(ForkJoinPool pool) {
        int grain = Math.max(1, n / (PIECES_A_THREAD * pool.getParallelism()));
        for (int step = 0; step < steps; step++) {
            pool.invoke(new Sum.Range(1, n - 1, grain, i -> row(now, next, i * n)));
            int[] last = now;
            now = next;
            next = last;
        }
        return 0;
    }

    private long row(int[] from, int[] to, int at) {
        for (int j = at + 1; j < at + n - 1; j++) {
            to[j] = (from[j - n] + from[j + n] + from[j - 1] + from[j + 1]) >>> 2;
        }
        return 0;
    }

    @Override
    long checksum(long returned) {
        return Arrays.stream(now).asLongStream().sum();
    }
}
