#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf.py <build folder> [--gate] [argument of the benches...]: runs every bench of a build one
after the other and prints one JSON array of what they printed. --gate: each bench judges its
claims as well; exit 1 if one is broken, 77 if one could not be judged (the machine was not quiet:
try again) and none is broken."""

import argparse
import json
import pathlib
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    args, more = parser.parse_known_args()
    programs = sorted(p for p in (args.build / "bench").glob("bench_*") if p.is_file())
    results, codes = [], []
    for program in programs:
        print(f"perf: {program.name} ...", file=sys.stderr)
        done = subprocess.run([program, *more], stdout=subprocess.PIPE, text=True, check=False)
        codes.append(done.returncode)
        try:
            results.append(json.loads(done.stdout))
        except json.JSONDecodeError:
            print(f"perf: {program.name} printed no JSON, exit {done.returncode}", file=sys.stderr)
            codes.append(1)
    print(json.dumps(results, indent=2))
    bad = [code for code in codes if code not in (0, 77)]
    sys.exit(1 if bad or not programs else max(codes))


if __name__ == "__main__":
    main()
