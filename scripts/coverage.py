#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""coverage.py [--floor PERCENT] [--json FILE] <build folder>: runs the unit, property, fault, system
and short stress tests of a coverage build, but no whole programs, prints the lines and branches of src/ that they reached,
and judges: fewer lines than the floor fail, and so does each line that was not reached and does not
stand in tests/coverage.txt, and each entry there that was reached after all or is gone. Branches are
counted, and named with --branches, but not judged: the failing side of a call has lines of its own.
With --json the tests are not run: FILE is what gcovr said before. Exit 77: there is no gcovr.

An entry of the list is a block; functions and lines are named by their text, so that edits elsewhere
do not touch it:

    never src/core/job.c name_of_the_function
      | text of a line that is not reached
      Why this is so, in words.

`sometimes` in place of `never`: it depends on the moment, so it may be reached or not."""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import ctext

LIST = "tests/coverage.txt"
TESTS = "^(fast|stress|system|example)$"
WHOLE_PROGRAMS = "^(cli_bench|cli_demo|test_uts)$"  # minutes, for lines that others reach
# Broken rules abort; test_misuse has them, and a broken assertion is a defect of the library.
NO_BRANCHES = r".*\bFILCHI_(ASSERT|RULE)\b.*"

Entry = collections.namedtuple("Entry", "number kind path function lines why")


def read_list(root):
    """The entries of the list, and what is wrong with its form."""
    entries, errors = [], []
    path = root / LIST
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip()
        head = re.match(r"(never|sometimes) (\S+) (\S+)$", line)
        if not text or text.startswith("#"):
            continue
        if head:
            entries.append(Entry(number, *head.groups(), [], []))
        elif line.startswith("  | ") and entries:
            entries[-1].lines.append(text[2:])
        elif line.startswith("  ") and entries:
            entries[-1].why.append(text)
        else:
            errors.append(f"{LIST}:{number}: not understood: {text}")
    for entry in entries:
        if not entry.lines or not entry.why:
            errors.append(f"{LIST}:{entry.number}: needs lines and a reason")
    return entries, errors


class Source:
    """The lines of a file that have code, each with its text, its function and what was missed."""

    def __init__(self, root, data):
        self.path = data["file"]
        self.text = ctext.CText((root / self.path).read_text(encoding="utf-8"))
        self.ranges = [(first, last, name) for name, first, last, _, _ in self.text.functions()]
        lines = [line for line in data["lines"] if not line["gcovr/noncode"]]
        self.hit = {line["line_number"]: line["count"] > 0 for line in lines}
        self.branches = {
            line["line_number"]: [b["count"] > 0 for b in line["branches"]] for line in lines
        }

    def function_at(self, number):
        for first, last, name in self.ranges:
            if first <= number <= last:
                return name
        return "-"

    def key(self, number):
        return self.path, self.function_at(number), self.text.lines[number - 1].strip()

    def print_branches(self):
        for number, taken in self.branches.items():
            if self.hit[number] and not all(taken):
                _, function, text = self.key(number)
                missed = f"{taken.count(False)} of {len(taken)} branches not taken"
                print(f"{self.path}:{number}: {function}(): {missed}: {text}")

    def counts(self):
        branches = [b for line in self.branches.values() for b in line]
        return len(self.hit), sum(self.hit.values()), len(branches), sum(branches)


def judge(root, sources):
    """Everything that is not reached against the list."""
    entries, errors = read_list(root)
    places, state = collections.defaultdict(list), {}
    for source in sources:
        for number in source.hit:
            places[source.key(number)].append((source, number))
    for entry in entries:
        for line in entry.lines:
            key = (entry.path, entry.function, line)
            where = f"{LIST}:{entry.number}: {entry.path}: {entry.function}(): {line}"
            if key not in places:
                errors.append(f"{where}: there is no such line with code; take it off the list")
            elif entry.kind == "never" and all(s.hit[n] for s, n in places[key]):
                errors.append(f"{where}: is reached; take it off the list")
            state[key] = entry.kind
    for key, found in sorted(places.items()):
        for source, number in found:
            if not source.hit[number] and key not in state:
                errors.append(f"{source.path}:{number}: {key[1]}(): not reached: {key[2]}")
    return errors, len(state)


def percent(part, whole):
    return 100.0 * part / whole if whole else 100.0


def print_table(sources):
    """One line a file and the sum; returns the percentage of lines."""
    print(f"{'file':28} {'lines':>7} {'reached':>8} {'%':>6} {'branches':>9} {'taken':>7} {'%':>6}")
    total = [0, 0, 0, 0]
    rows = [(source.path, source.counts()) for source in sources]
    for _, counts in rows:
        total = [a + b for a, b in zip(total, counts)]
    for name, (lines, hit, branches, taken) in [*rows, ("all", total)]:
        print(
            f"{name:28} {lines:7} {hit:8} {percent(hit, lines):6.1f} "
            f"{branches:9} {taken:7} {percent(taken, branches):6.1f}"
        )
    return percent(total[1], total[0])


def run_tests(build):
    for path in pathlib.Path(build).rglob("*.gcda"):
        path.unlink()
    environment = dict(os.environ)
    environment.setdefault("FILCH_TEST_SCALE", "0.04")
    command = ["ctest", "--test-dir", build, "-L", TESTS, "-E", WHOLE_PROGRAMS, "--output-on-failure"]
    command += ["--no-tests=error"]
    command += ["--no-label-summary", "-j", str(os.cpu_count())]
    if subprocess.run(command, env=environment, check=False).returncode != 0:
        sys.exit("coverage: a test failed")


def gcovr(root, build):
    out = pathlib.Path(build).resolve() / "coverage.json"
    command = ["gcovr", "--root", root, "--filter", f"{root}/src/", "--exclude-unreachable-branches"]
    # a process that is ended while it counts can leave a branch with fewer than no takings
    command += ["--gcov-ignore-parse-errors"]
    command += ["--exclude-branches-by-pattern", NO_BRANCHES, "--json", out, "."]
    # gcov leaves files where it runs
    subprocess.run(command, check=True, cwd=build, stderr=subprocess.DEVNULL)
    return out


def main():
    args = ctext.parse_root(
        __doc__,
        (("--floor",), {"type": float, "default": 95.0}),
        (("--json",), {"type": pathlib.Path}),
        (("--branches",), {"action": "store_true"}),
        (("build",), {"nargs": "?"}),
    )
    if args.json is None:
        if shutil.which("gcovr") is None:
            print("coverage: not judged, there is no gcovr")
            sys.exit(77)
        run_tests(args.build)
        args.json = gcovr(args.root, args.build)
    files = json.loads(args.json.read_text(encoding="utf-8"))["files"]
    sources = [Source(args.root, data) for data in files]
    lines = print_table(sources)
    if args.branches:
        for source in sources:
            source.print_branches()
    errors, listed = judge(args.root, sources)
    if lines < args.floor:
        errors.append(f"{lines:.1f} % of lines were reached, the floor is {args.floor:g} %")
    ctext.finish("coverage", errors, f"{lines:.1f} % of lines, {listed} exceptions, each with a reason")


if __name__ == "__main__":
    main()
