#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""model.py [--minutes M] [--jobs J] <build folder>: runs every client of the schedule explorer, J
programs at a time, and prints what each searched. The minutes are shared out over all clients in
proportion to the time each asks for; what is left goes to those whose search did not end at 2
pre-emptions. If it still does not end the client is named; one that fails, or a program that does
not run all its clients, makes the exit code 1."""

import argparse
import concurrent.futures
import re
import subprocess
import sys
import threading
import time

import ctests

RESULT = re.compile(
    r"^result: client=(\S+) executions=(\d+) complete_at=(-?\d+) verdict=(\w+)$", re.MULTILINE
)
PROMISED = 2  # pre-emptions
OWN = re.compile(r"^model_(litmus|self_test)")  # programs that test the explorer, not the library
MOST_SECONDS = 45  # for one client that did not end
GRACE = 4  # a program may take so many times its share (a failure is shortened), and a minute


def wanted(test):
    """{client: seconds it asks for} of one program."""
    text = subprocess.run([*test.command, "--list"], check=True, capture_output=True, text=True)
    return {name: float(own) for name, own in map(str.split, text.stdout.splitlines())}


def run(test, clients, scale, rows, lock):
    """Runs one program; returns the complaints about it."""
    limit = sum(clients.values()) * scale * GRACE + 60
    code, text = test.run(["timeout", str(limit)], FILCH_TEST_SCALE=str(scale))
    found = RESULT.findall(text)
    errors = []
    if code != 0:
        errors.append(f"{test.name}: exit code {code}\n{text}")
    for name in sorted(set(clients) - {row[0] for row in found}):
        errors.append(f"{test.name}: no result of the client {name}")
    with lock:
        for name, executions, complete, verdict in found:
            rows.append((test.name, name, int(executions), int(complete), verdict))
            print_row(rows[-1])
        for error in errors:
            print(error, flush=True)
    return errors


def search_on(test, row, seconds, rows, lock):
    """Gives the exhaustive search of one client more time; returns the complaints about it."""
    more = ["--client", row[1], "--exhaustive", str(PROMISED), "--seconds", f"{seconds:.0f}"]
    once = ctests.Test({"name": test.name, "command": [*test.command, *more]})
    code, text = once.run(["timeout", str(seconds * GRACE + 60)])
    with lock:
        for name, executions, complete, verdict in RESULT.findall(text):
            rows.remove(row)
            complete = max(row[3], int(complete))
            rows.append((test.name, name, row[2] + int(executions), complete, verdict))
            print_row(rows[-1])
    return [] if code == 0 else [f"{test.name}: {row[1]}: exit code {code}\n{text}"]


def print_row(row):
    program, client, executions, complete, verdict = row
    told = verdict.replace("_", " ")
    if verdict == "passed":
        told = f"complete at {complete}" if complete >= 0 else "INCOMPLETE"
        if 0 <= complete < PROMISED:
            told = f"INCOMPLETE, only at {complete}"
    print(f"{program:44} {client:44} {executions:12,}  {told}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("build")
    args = parser.parse_args()
    began = time.monotonic()
    tests = ctests.labelled(args.build, "^model$")
    clients = {test.name: wanted(test) for test in tests}
    count = sum(map(len, clients.values()))
    seconds = sum(sum(own.values()) for own in clients.values())
    scale = args.minutes * 60 * args.jobs / seconds
    print(f"model: {len(tests)} programs, {count} clients, {args.minutes:g} minutes, {args.jobs} at a time")
    rows, errors, lock = [], [], threading.Lock()
    # the longest first, so that none runs alone at the end
    tests.sort(key=lambda test: -sum(clients[test.name].values()))
    with concurrent.futures.ThreadPoolExecutor(max_workers=args.jobs) as pool:
        jobs = [pool.submit(run, test, clients[test.name], scale, rows, lock) for test in tests]
        for job in jobs:
            errors += job.result()

        open_ones = [row for row in rows if row[4] == "passed" and row[3] < PROMISED]
        left = (args.minutes * 60 - (time.monotonic() - began)) * args.jobs
        seconds = min(MOST_SECONDS, left / max(1, len(open_ones)))
        if open_ones and seconds >= 1:
            print(f"model: {len(open_ones)} did not end, {seconds:.0f} seconds more for each")
            by_name = {test.name: test for test in tests}
            jobs = [
                pool.submit(search_on, by_name[row[0]], row, seconds, rows, lock)
                for row in open_ones
            ]
            for job in jobs:
                errors += job.result()

    passed = [row for row in rows if row[4] == "passed"]
    incomplete = [row for row in passed if row[3] < PROMISED]
    print(f"\n{'clients':32} {len(rows):14,}")
    print(f"{'  of the library':32} {sum(not OWN.match(row[0]) for row in rows):14,}")
    print(f"{'  of the explorer itself':32} {sum(bool(OWN.match(row[0])) for row in rows):14,}")
    print(f"{'  complete at 2 pre-emptions':32} {len(passed) - len(incomplete):14,}")
    print(f"{'  not complete at 2':32} {len(incomplete):14,}  {' '.join(row[1] for row in incomplete)}")
    print(f"{'  that must fail, and do':32} {sum(r[4] == 'fails_as_it_must' for r in rows):14,}")
    print(f"{'  failed':32} {sum(r[4] == 'failed' for r in rows):14,}")
    print(f"{'executions':32} {sum(row[2] for row in rows):14,}")
    print(f"{'seconds':32} {time.monotonic() - began:14.0f}")
    print(f"model: {'FAILED' if errors else 'ok'}, {len(rows)} clients")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
