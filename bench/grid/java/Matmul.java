// SPDX-License-Identifier: MIT

import java.util.Arrays;
import java.util.concurrent.ForkJoinPool;

final class Matmul extends Job {
    private final int n;
    private final double[] a;
    private final double[] b;
    private final double[] c;

    Matmul(int n) {
        this.n = n;
        a = new double[n * n];
        b = new double[n * n];
        c = new double[n * n];
        Arrays.setAll(a, i -> Workloads.mix(i) & 7);
        Arrays.setAll(b, i -> Workloads.mix((long) n * n + i) & 7);
    }

    @Override
    void prepare() {
        Arrays.fill(c, 0);
    }

    @Override
    long run(ForkJoinPool pool) {
        pool.invoke(new Sum.Range(0, n, 1, i -> row(i)));
        return 0;
    }

    private long row(int i) {
        for (int k = 0; k < n; k++) {
            addScaled(a[i * n + k], k * n, i * n);
        }
        return 0;
    }

    /** A method of its own: the compiler of the JVM vectorises it. */
    private void addScaled(double factor, int from, int to) {
        for (int j = 0; j < n; j++) {
            c[to + j] += factor * b[from + j];
        }
    }

    @Override
    long checksum(long returned) {
        long sum = 0;
        for (double x : c) {
            sum += (long) x;
        }
        return sum;
    }
}
