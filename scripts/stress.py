#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stress.py [--minutes M] [--scale X] [--seed S] [--only PATTERN] <build folder>: runs the tests with
the label stress one after the other, round after round, until M minutes are over (0: one round). Each
test of each round gets a seed of its own, made from S; those named *_delays hold up the library's
ordered atomic accesses at random as well. X makes a test longer or shorter than `make check` does.
--only PATTERN runs those whose name matches, and shows what they print. Stops at the first failure
and prints the command that runs it again. A test that runs when the time is over is still waited for."""

import argparse
import random
import re
import sys
import time

import ctests


def again(test, seed, scale):
    words = " ".join(test.command)
    settings = {**test.environment, "FILCH_TEST_SEED": seed, "FILCH_TEST_SCALE": f"{scale:g}"}
    return "".join(f"{name}={value} " for name, value in settings.items()) + words


def run(test, number, seed, scale, show):
    """Runs one test and tells of it; leaves the program if it fails."""
    began = time.monotonic()
    code, text = test.run(FILCH_TEST_SEED=seed, FILCH_TEST_SCALE=f"{scale:g}")
    how = {0: "ok", 77: "skipped"}.get(code, "FAILED")
    seconds = time.monotonic() - began
    print(f"round {number} {test.name:28} seed {seed:18} {how}, {seconds:.1f} s", flush=True)
    if show and how == "ok":
        print(text, flush=True)
    if how == "FAILED":
        print(text)
        sys.exit(f"stress: {test.name} FAILED, exit {code}; again with\n  {again(test, seed, scale)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--seed", type=lambda text: int(text, 0))
    parser.add_argument("--only", default="", metavar="PATTERN")
    parser.add_argument("build")
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else random.SystemRandom().getrandbits(64)
    tests = [t for t in ctests.labelled(args.build, "^stress$") if re.search(args.only, t.name)]
    if not tests:
        sys.exit(f"stress: no test has a name that matches {args.only}")
    print(f"stress: seed {seed:#x}, scale {args.scale:g}, {args.minutes:g} minutes, {len(tests)} tests")

    draw = random.Random(seed)
    began, count, number = time.monotonic(), 0, 0
    reached = set()
    left = True
    while left:
        number += 1
        order = draw.sample(tests, len(tests))
        for test in order:
            run(test, number, f"{draw.getrandbits(64):#x}", args.scale, args.only)
            count += 1
            reached.add(test.name)
            left = args.minutes > 0 and time.monotonic() - began < args.minutes * 60
            if not left and args.minutes > 0:
                break
    missed = sorted(test.name for test in tests if test.name not in reached)
    if missed:
        print("stress: no time was left for " + " ".join(missed))
    minutes = (time.monotonic() - began) / 60
    print(f"stress: ok, {count} runs of {len(reached)} tests in {minutes:.1f} minutes, seed {seed:#x}")


if __name__ == "__main__":
    main()
