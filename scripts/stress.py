#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stress.py [--scale X] [--seed S] <build folder>: runs the tests with the label stress one after
the other, X times as long as `make check` does and without ctest's time limits (each has its own
watchdog, which grows with the scale). Stops at the first failure."""

import argparse
import json
import os
import subprocess
import sys
import time


def stress_tests(build):
    command = ["ctest", "--test-dir", build, "-L", "stress", "--show-only=json-v1"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for test in json.loads(text)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        yield test["name"], test["command"], properties


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", default="60")
    parser.add_argument("--seed")
    parser.add_argument("build")
    args = parser.parse_args()
    count = 0
    for name, command, properties in stress_tests(args.build):
        environment = dict(os.environ, FILCH_TEST_SCALE=args.scale)
        environment.update(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
        if args.seed:
            environment["FILCH_TEST_SEED"] = args.seed
        began = time.monotonic()
        print(f"== {name}, scale {args.scale}", flush=True)
        code = subprocess.run(
            command, env=environment, cwd=properties.get("WORKING_DIRECTORY"), check=False
        ).returncode
        if code not in (0, 77):
            sys.exit(f"stress: {name} FAILED, exit {code}")
        print(f"== {name}: {time.monotonic() - began:.0f} s", flush=True)
        count += 1
    if count == 0:
        sys.exit("stress: there is no test with the label stress in this build")
    print(f"stress: ok, {count} tests")


if __name__ == "__main__":
    main()
