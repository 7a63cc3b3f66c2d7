#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""valgrind.py [--fast] [--scale X] [--only PATTERN] <build folder>: runs the unit, property, fault
and stress tests (--fast: not the latter, nor the designs of the benchmarks) under valgrind's memcheck, X times as long as `make check`
does. Every error and every lost block is a failure; there are no suppressions. A forked child of a test
says nothing itself, but its exit code counts. Exit 77: there is no valgrind."""

import argparse
import concurrent.futures
import re
import shutil
import sys
import time

import ctests

MEMCHECK = (
    "valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect"
    " --errors-for-leak-kinds=definite,indirect --child-silent-after-fork=yes --fair-sched=yes"
).split()
SLOW = "30"  # times; for the watchdogs

# fault_park takes the futex away from memcheck as well; the children of fault_walk end with calls
# that are still refused, which counts as lost blocks (the address sanitizer judges them); a child of
# test_abandon, test_group or test_share frees of its parent's pool what it safely can, and the rest counts
# as lost; delays change the order of threads, of which memcheck runs one at a time.
LEFT_OUT = re.compile(r"^fault_park$|^fault_walk|^test_(abandon|group|share)$|_delays$")
SLOWEST = re.compile(r"^test_(designs|grid)$")


def run(test, scale):
    began = time.monotonic()
    code, text = test.run(MEMCHECK, FILCH_TEST_SCALE=f"{scale:g}", FILCH_TEST_SLOW=SLOW)
    reported = re.search(r"^==\d+== ", text, re.MULTILINE) is not None
    how = "skipped" if code == 77 else "FAILED" if code != 0 or reported else "ok"
    print(f"{test.name:28} {how}, {time.monotonic() - began:.1f} s", flush=True)
    if how == "FAILED":
        print(text, flush=True)
    return how


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--scale", type=float, default=0.002)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", metavar="PATTERN")
    parser.add_argument("build")
    args = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("valgrind: not judged, there is no valgrind")
        sys.exit(77)
    found = ctests.labelled(args.build, "^fast$" if args.fast else "^(fast|stress)$")
    found = [t for t in found if not (args.fast and SLOWEST.search(t.name))]
    tests = [t for t in found if re.search(args.only, t.name) and not LEFT_OUT.search(t.name)]
    with concurrent.futures.ThreadPoolExecutor(max_workers=args.jobs) as pool:
        results = list(pool.map(lambda test: run(test, args.scale), tests))
    failed = results.count("FAILED")
    print(f"valgrind: {'FAILED' if failed else 'ok'}, {len(results)} tests, {failed} failed, "
          f"{results.count('skipped')} skipped, {len(found) - len(tests)} left out")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
