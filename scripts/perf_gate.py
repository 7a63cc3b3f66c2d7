#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf_gate.py <build folder>: has Filch become slower against its own past? Runs `filch bench` with
the contestants of this repository and compares, for each workload, Filch's time over serial's and
over each design's with bench/baseline.json. A ratio that is more than 15 % above its baseline fails.

Ratios, since a machine that is slow today is slow for all. What the spread does not allow to judge is
measured again, up to three times; then it is "not judged". Exit 0: all kept, 1: a ratio is broken, 77:
not judged, also where the baseline was made by another compiler or on another machine.

--write makes the baseline anew (`make perf-baseline`). --result FILE judges a JSON that is there."""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT = 1.15  # of a ratio over its baseline
CALM = 0.05  # a spread below this makes a median a figure
ATTEMPTS = 3
WORKLOADS = ["fib", "tree", "queens", "uts", "sort", "matmul", "heat", "sweep=100,1000000"]
WORKLOADS += ["coarse", "handful", "flood", "spine", "pareto"]
KEPT, BROKEN, UNSURE = "kept", "BROKEN", "not judged"
PASS, FAIL, NOT_JUDGED = 0, 1, 77


def ratios(grid):
    """{"fib 30": {"serial": {"ratio", "low", "high", "calm"}}}: Filch's time over that of each other.
    low and high: from quartile to quartile."""
    found = {}
    for row in grid["workloads"]:
        cells = {c["contestant"]: c for c in row["results"] if c["state"] == "ran"}
        own = cells.pop("filch", None)
        if own is None:
            continue
        found[f"{row['workload']} {row['args']}"] = {
            name: {
                "ratio": own["wall_ns"]["median"] / other["wall_ns"]["median"],
                "low": own["wall_ns"]["low"] / other["wall_ns"]["high"],
                "high": own["wall_ns"]["high"] / other["wall_ns"]["low"],
                "calm": max(own["wall_ns"]["spread"], other["wall_ns"]["spread"]) <= CALM,
            }
            for name, other in cells.items()
        }
    return found


def judge(base, seen):
    """The verdict on one ratio; `seen` is None if it was not measured."""
    if seen is None:
        return UNSURE
    limit = base * LIMIT
    if seen["high"] <= limit or (seen["calm"] and seen["ratio"] <= limit):
        return KEPT
    if seen["low"] > limit or seen["calm"]:
        return BROKEN
    return UNSURE


def compare(baseline, grid):
    """{("fib 30", "serial"): (verdict, base, seen)} for each ratio of the baseline."""
    measured = ratios(grid)
    verdicts = {}
    for workload, others in baseline["ratios"].items():
        for other, base in others.items():
            seen = measured.get(workload, {}).get(other)
            verdicts[workload, other] = (judge(base, seen), base, seen)
        if any(c["contestant"] == "filch" and c["state"] in ("broke", "wrong")
               for row in grid["workloads"] if f"{row['workload']} {row['args']}" == workload
               for c in row["results"]):
            verdicts[workload, "filch"] = (BROKEN, 1.0, None)
    return verdicts


def merge(old, new):
    """A ratio that was kept once is kept, since it was so from quartile to quartile; otherwise the
    last attempt counts."""
    return {key: old[key] if key in old and (old[key][0] == KEPT or key not in new) else new[key]
            for key in old.keys() | new.keys()}


def why_not_comparable(baseline, grid):
    """Why the two must not be compared, None if they may."""
    for what, name in (("machine", "cpu_model"), ("machine", "cpus_allowed"), ("compiler", "name"),
                       ("compiler", "build_type")):
        if baseline[what][name] != grid[what][name]:
            return (f"the baseline is of {name} '{baseline[what][name]}', this is "
                    f"'{grid[what][name]}': `make perf-baseline` makes one here")
    if baseline["workers"] != grid["workers"]:
        return f"the baseline is of {baseline['workers']} workers, this is {grid['workers']}"
    return None


def measure(build, workloads, seconds):
    command = [build / "tools/filch/filch", "bench", "--json", "--contestants", "own", "--rounds", "9",
               "--seconds", str(seconds), *workloads]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == 2:
        sys.exit(FAIL)
    return json.loads(done.stdout)


def write_baseline(path, grid):
    """What the gate needs of a result, and the machine."""
    found = {workload: {other: round(seen["ratio"], 4) for other, seen in sorted(others.items())}
             for workload, others in ratios(grid).items()}
    kept = {key: grid[key] for key in ("machine", "compiler", "workers")}
    path.write_text(json.dumps(kept | {"ratios": found}, indent=2) + "\n", encoding="utf-8")
    noisy = [f"{row['workload']} {row['args']}" for row in grid["workloads"] if row["spread"] > CALM]
    print(f"perf_gate: wrote {path}" + (f"; noisy: {', '.join(noisy)}" if noisy else ""))


def report(verdicts):
    """Print what is not kept, and the sums; returns the exit code."""
    counts = {verdict: sum(v[0] == verdict for v in verdicts.values())
              for verdict in (KEPT, BROKEN, UNSURE)}
    for (workload, other), (verdict, base, seen) in sorted(verdicts.items()):
        if verdict != KEPT:
            now = "no result" if seen is None else (
                f"{seen['ratio']:.3f} ({seen['low']:.3f} to {seen['high']:.3f})")
            print(f"{verdict:10}  {workload}: filch/{other} {now}, baseline {base:.3f}, limit "
                  f"{base * LIMIT:.3f}")
    print(f"perf_gate: {counts[KEPT]} ratios kept, {counts[BROKEN]} broken, {counts[UNSURE]} not judged")
    return FAIL if counts[BROKEN] else NOT_JUDGED if counts[UNSURE] or not verdicts else PASS


def again(verdicts):
    """The workloads to measure once more, as arguments of `filch bench`."""
    names = sorted({key[0] for key, verdict in verdicts.items() if verdict[0] != KEPT})
    return [name.replace(" ", "=", 1).replace(" ", ",") for name in names]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path, nargs="?", default=ROOT / "build/release")
    parser.add_argument("--baseline", type=pathlib.Path, default=ROOT / "bench/baseline.json")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--result", type=pathlib.Path)
    args = parser.parse_args()
    grid = (json.loads(args.result.read_text(encoding="utf-8")) if args.result
            else measure(args.build, WORKLOADS, 600 if args.write else 0))
    if args.write:
        write_baseline(args.baseline, grid)
        return
    baseline = json.loads(args.baseline.read_text(encoding="utf-8"))
    why = why_not_comparable(baseline, grid)
    if why:
        print(f"perf_gate: not judged: {why}")
        sys.exit(NOT_JUDGED)
    verdicts = compare(baseline, grid)
    for _ in range(0 if args.result else ATTEMPTS - 1):
        if again(verdicts):
            verdicts = merge(verdicts, compare(baseline, measure(args.build, again(verdicts), 0)))
    sys.exit(report(verdicts))


if __name__ == "__main__":
    main()
