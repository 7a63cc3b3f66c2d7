#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_peers.py <build folder> [--threads 1,2,4] [--all-sizes]: runs every contestant of the grid
in another runtime (the programs in <build folder>/bench/grid) on every workload, at the sizes for
tests and at awkward ones, each twice, and compares the checksums with those of the command's
contestant "serial"; says wrong things to each as well. --all-sizes: the sizes that are measured
instead. One line for each program and number of threads. Exit 77: no such program is built here."""

import argparse
import os
import pathlib
import subprocess
import sys

QUICK = """
    fib 20/tree 12/queens 8/uts T1 5/sort 10000/matmul 64/heat 64 4/sweep 1000 10000/coarse 8 1000/
    handful 5 1000/flood 1000/spine 1000 10/pareto 500 20"""
AWKWARD = """
    fib 0/fib 1/fib 2/tree 1/tree 2/queens 1/queens 3/queens 4/uts T1 1/uts T3 1/uts T3 4/sort 1/
    sort 2/sort 8193/matmul 1/matmul 19/heat 3 1/heat 5 3/sweep 7 100/sweep 100 7/sweep 1 1/
    sweep 1 1000/coarse 1 1/handful 1 1/flood 1/spine 1 1/pareto 1 1/pareto 3 1048576"""
MEASURED = """
    fib 30/tree 20/queens 12/uts T1/uts T3/sort 1000000/matmul 512/heat 1024 20/sweep 1 1000000/
    sweep 10 1000000/sweep 100 1000000/sweep 1000 1000000/sweep 10000 1000000/
    sweep 100000 1000000/coarse 64 500000/handful 5 2000000/flood 200000/spine 100000 100/
    pareto 20000 400"""


def orders(text):
    return ["run " + line.strip() for line in text.split("/")]


# Lines that are no order, and the first word of the answer; who cannot run the workload at all may
# say "none" instead.
WRONG = [("hello", "error"), ("run", "error"), ("run nothing 1", "none")]
WRONG += [(line, "error") for line in orders("""
    fib/fib 51/fib -1/fib 3 4/fib 3x/tree 0/tree 29/queens 0/queens 17/uts/uts T2/uts T15/uts T1 0/
    uts T1 x/uts T1 5 5/heat 64/heat 2 4/sweep 0 10/sweep 10 0/sort 99999999999999999999/
    coarse 1 2 3/flood 0""")]

SECONDS = 300  # for all orders of a program: a net for hangs
SECONDS_ALL_SIZES = 1800


class Failure(Exception):
    pass


def talk(command, lines, seconds):
    """The answers to the lines, the greeting first."""
    said = "".join(line + "\n" for line in [*lines, "quit"])
    try:
        done = subprocess.run(
            command, input=said, stdout=subprocess.PIPE, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as late:
        count = (late.stdout or b"").count(b"\n")
        asked = ["its start", *lines, "quit"][count]
        raise Failure(f"no answer within {seconds} s to: {asked}") from late
    answers = done.stdout.splitlines()
    if done.returncode != 0:
        raise Failure(f"exit code {done.returncode} after {answers[-1:]}")
    if len(answers) != len(lines) + 1:
        raise Failure(f"{len(answers)} answers to {len(lines)} lines and its start")
    return answers


def checksum(line, answer):
    """Of an answer "ok <wall> <cpu> <checksum>"; None if it is "none"."""
    words = answer.split()
    if words[:1] == ["ok"] and len(words) == 4 and all(word.isdigit() for word in words[1:]):
        if int(words[1]) > 0:
            return int(words[3])
    elif words[:1] == ["none"] and len(words) > 1:
        return None
    raise Failure(f"{line}: answered {answer!r}")


def check(program, threads, lines, expected, seconds):
    """Runs one program; a sentence about it."""
    said = [line for line in lines for _ in range(2)] + [line for line, _ in WRONG]
    greeting, *answers = talk([program, str(threads)], said, seconds)
    if not greeting.startswith(f"ready {program.name} "):
        raise Failure(f"greets with {greeting!r}")
    right = none = 0
    for line, answer in zip(said, answers[: 2 * len(lines)]):
        found = checksum(line, answer)
        if found is None:
            none += 1
        elif found != expected[line]:
            raise Failure(f"{line}: checksum {found} instead of {expected[line]}")
        else:
            right += 1
    if right == 0:
        raise Failure("it ran nothing")
    for (line, word), answer in zip(WRONG, answers[2 * len(lines) :]):
        if not answer.startswith((word + " ", "none ")):
            raise Failure(f"{line}: answered {answer!r}, not {word}")
    return f"{right} runs right, {none} times none"


def check_usage(program):
    for arguments in ([], ["0"], ["x"], ["-1"]):
        done = subprocess.run(
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        if done.returncode != 2 or not done.stderr:
            raise Failure(f"with {arguments} exit code {done.returncode}, not 2 and a usage line")


def programs(folder):
    if not folder.is_dir():
        return []
    return sorted(p for p in folder.iterdir() if p.is_file() and os.access(p, os.X_OK))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--threads", default="1,2,4", help="numbers of threads")
    parser.add_argument("--all-sizes", action="store_true")
    args = parser.parse_args()
    peers = programs(args.build / "bench" / "grid")
    if not peers:
        print("check_peers: not judged, no contestant of another runtime is built here")
        sys.exit(77)
    lines = orders(MEASURED) if args.all_sizes else orders(QUICK) + orders(AWKWARD)
    serial = [args.build / "tools" / "filch" / "filch", "bench", "--serve=serial", "1"]
    seconds = SECONDS_ALL_SIZES if args.all_sizes else SECONDS
    _, *answers = talk(serial, lines, seconds)
    expected = {line: checksum(line, answer) for line, answer in zip(lines, answers)}
    failed = 0
    for program in peers:
        for threads in args.threads.split(","):
            try:
                if threads == args.threads.split(",")[0]:
                    check_usage(program)
                result = check(program, threads, lines, expected, seconds)
            except Failure as failure:
                result = f"FAILED: {failure}"
                failed += 1
            print(f"{program.name} on {threads}: {result}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
