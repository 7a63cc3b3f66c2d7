// SPDX-License-Identifier: MIT

import java.util.concurrent.ForkJoinPool;

/** One workload with its inputs. Only run is on the clock. */
abstract class Job {
    void prepare() {}

    abstract long run(ForkJoinPool pool);

    long checksum(long returned) {
        return returned;
    }
}
