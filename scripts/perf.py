#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf.py <build folder> [--gate] [--grid ARGUMENTS] [argument of the benches...]: runs every bench
of a build one after the other, then the grid (`filch bench`, all contestants that there are), and
prints one JSON array of what they printed. --gate: each bench judges its claims as well; exit 1 if
one is broken, 77 if one could not be judged (the machine was not quiet: try again) and none is
broken. The grid has no claims of its own, see perf_gate.py; wrong results are an error. --grid none
leaves it out."""

import argparse
import json
import pathlib
import subprocess
import sys

GRID = "all --contestants all --seconds 900"


def run(command, results, codes):
    print(f"perf: {pathlib.Path(command[0]).name} ...", file=sys.stderr)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    codes.append(done.returncode)
    try:
        results.append(json.loads(done.stdout))
    except json.JSONDecodeError:
        print(f"perf: {command[0]} printed no JSON, exit {done.returncode}", file=sys.stderr)
        codes.append(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--grid", default=GRID)
    args, more = parser.parse_known_args()
    programs = sorted(p for p in (args.build / "bench").glob("bench_*") if p.is_file())
    results, codes = [], []
    for program in programs:
        run([program, *more], results, codes)
    if args.grid != "none":
        tool = args.build / "tools/filch/filch"
        run([tool, "bench", "--json", *args.grid.split()], results, codes)
    print(json.dumps(results, indent=2))
    bad = [code for code in codes if code not in (0, 77)]
    sys.exit(1 if bad or not programs else max(codes))


if __name__ == "__main__":
    main()
