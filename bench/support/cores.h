/* SPDX-License-Identifier: MIT */
/* How many CPUs there really are just now: a loop alone, then as many copies of it as there are
 * threads, then one alone again, each timed by itself. Two copies on one CPU take twice as long each and count one half.
 * What another program or another virtual machine takes is missing from the sum. */
#ifndef BENCH_SUPPORT_CORES_H
#define BENCH_SUPPORT_CORES_H

/* CPUs that `threads` threads, at least 1, got together; 0: no memory. Takes some 10 ms. */
double cores_free(unsigned threads);

#endif
