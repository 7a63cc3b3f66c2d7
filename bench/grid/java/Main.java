// SPDX-License-Identifier: MIT

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.concurrent.ForkJoinPool;

/**
 * Contestant "java": a ForkJoinPool, as its documentation shows it: fork one, compute the other, join
 * innermost first; Arrays.parallelSort inside of the pool. This file is the line protocol of
 * bench/grid/README.md.
 */
final class Main {
    /** CLOCK_PROCESS_CPUTIME_ID: what the JDK offers counts in hundredths of a second. See clock.c. */
    static native long cpuNanos();

    private static final int WARM_RUNS = 20;
    private static final long WARM_NANOS = 1_000_000_000L;

    private final ForkJoinPool pool;
    private String last = "";
    private Job cached;

    private Main(int threads) {
        pool = new ForkJoinPool(threads);
    }

    /** So often that the hot code has been compiled. */
    private void warmUp(Job job) {
        long start = System.nanoTime();
        for (int i = 0; i < WARM_RUNS && System.nanoTime() - start < WARM_NANOS; i++) {
            job.prepare();
            job.run(pool);
        }
    }

    private String measure(Job job) {
        job.prepare();
        long wall = System.nanoTime();
        long cpu = cpuNanos();
        long returned = job.run(pool);
        cpu = cpuNanos() - cpu;
        wall = System.nanoTime() - wall;
        return "ok " + wall + " " + cpu + " " + Long.toUnsignedString(job.checksum(returned));
    }

    /** The inputs stay as long as the same line comes again. */
    private String answer(String line) {
        if (!line.equals(last)) {
            cached = null;
            last = "";
            try {
                cached = Workloads.make(line.trim().split(" +"));
            } catch (IllegalArgumentException refused) {
                return refused.getMessage();
            }
            last = line;
            warmUp(cached);
        }
        return measure(cached);
    }

    public static void main(String[] args) throws IOException {
        int threads = Integer.parseInt(args[0]); // java.in has looked at it
        // How far parallelSort splits; it runs in our pool all the same.
        System.setProperty("java.util.concurrent.ForkJoinPool.common.parallelism", args[0]);
        System.load(System.getProperty("grid.clock"));
        Main main = new Main(threads);
        System.out.println("ready java " + Runtime.version() + ", " + System.getProperty("java.vm.name")
            + ", ForkJoinPool(" + threads + "), for flood one with asyncMode; Arrays.parallelSort; "
            + System.getProperty("grid.options") + "; warmed up at the first call");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null && !line.equals("quit"); line = lines.readLine()) {
            System.out.println(main.answer(line));
        }
        System.exit(0);
    }
}
