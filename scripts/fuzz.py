#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fuzz the readers of system files with libFuzzer, address and undefined-behaviour sanitizers, all
targets at once. What reaches code that the kept inputs do not is added to tests/fuzz/<target>.corpus
with --keep. Exits with 1 on a finding, which stays in build/fuzz, and with 77 without clang."""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/fuzz"
SOURCES = (
    "src/plat/cgroup_linux.c src/plat/cgroup_parse.c src/plat/cpulist.c src/plat/cpus_linux.c "
    "src/plat/cpuset_linux.c src/plat/files.c src/plat/files_posix.c src/plat/topology_linux.c "
    "src/core/sizing.c tests/support/tree.c"
).split()
FLAGS = (
    "-std=c11 -D_GNU_SOURCE -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all "
    "-fsanitize=fuzzer,address,undefined -Isrc -Iinclude -Itests"
).split()
TARGETS = {"parse": [], "tree": ["tests/data/cpus"]}
LONGEST = {"parse": 512, "tree": 1500}


def decode(line):
    return re.sub(rb"%([0-9A-F]{2})", lambda m: bytes([int(m.group(1), 16)]), line)


def encode(data):
    return "".join(chr(b) if 32 <= b < 127 and b != 37 else f"%{b:02X}" for b in data)


def corpus_file(target):
    return ROOT / f"tests/fuzz/{target}.corpus"


def unpack(target):
    folder = BUILD / f"{target}.inputs"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    path = corpus_file(target)
    for number, line in enumerate(path.read_bytes().splitlines() if path.is_file() else []):
        (folder / f"kept-{number:04}").write_bytes(decode(line))
    return folder


def build(target):
    program = BUILD / f"fuzz_{target}"
    command = ["clang", *FLAGS, f"tests/fuzz/fuzz_{target}.c", *SOURCES, "-o", str(program)]
    subprocess.run(command, cwd=ROOT, check=True)
    return program


def start(target, program, folder, seconds):
    log = (BUILD / f"{target}.log").open("w", encoding="utf-8")
    command = [
        str(program), str(folder), *(str(ROOT / seeds) for seeds in TARGETS[target]),
        f"-max_total_time={seconds}", f"-max_len={LONGEST[target]}", "-timeout=10",
        f"-artifact_prefix={BUILD}/{target}-", "-print_final_stats=1",
    ]
    return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)


def keep(target, program, folder):
    """The smallest set of inputs with the same coverage becomes the kept one."""
    merged = BUILD / f"{target}.merged"
    shutil.rmtree(merged, ignore_errors=True)
    merged.mkdir()
    subprocess.run(
        [str(program), "-merge=1", str(merged), str(folder)], check=True, capture_output=True
    )
    lines = sorted(encode(path.read_bytes()) for path in merged.iterdir())
    corpus_file(target).write_text("\n".join(filter(None, lines)) + "\n", encoding="ascii")
    print(f"fuzz_{target}: {len(lines)} inputs kept")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--keep", action="store_true", help="write tests/fuzz/<target>.corpus")
    args = parser.parse_args()
    if shutil.which("clang") is None:
        print("fuzz: skipped, clang is not installed")
        sys.exit(77)
    BUILD.mkdir(parents=True, exist_ok=True)
    programs = {target: build(target) for target in TARGETS}
    folders = {target: unpack(target) for target in TARGETS}
    seconds = max(1, int(args.minutes * 60))
    runs = {
        target: start(target, programs[target], folders[target], seconds) for target in TARGETS
    }
    failed = False
    for target, run in runs.items():
        code = run.wait()
        log = (BUILD / f"{target}.log").read_text(encoding="utf-8", errors="replace")
        units = re.search(r"stat::number_of_executed_units:\s*(\d+)", log)
        print(
            f"fuzz_{target}: {units.group(1) if units else '?'} inputs in {seconds} s, "
            + ("no finding" if code == 0 else f"FAILED with {code}, see build/fuzz/{target}.log")
        )
        failed = failed or code != 0
        if code == 0 and args.keep:
            keep(target, programs[target], folders[target])
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
