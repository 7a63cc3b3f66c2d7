#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The mutation gate: is each order, wake-up and second look of src/ missed by a model test when it
is gone? The lists are tests/model/mutants/*.mut; mutant_list.py has their format.

  mutants.py --check            the lists alone: every ordered access of src/ has a mutant with the
                                next weaker order, every mutant still fits its place, few are argued
                                equivalent. Seconds.
  mutants.py build/release      the same, then each mutant: changed in a copy of the sources,
                                compiled with the flags of the build, run until the first failure.

A mutant is killed if its client ends with exit 1 and a reported failure. A compiler error, a crash
or a client that does not end is an error of the gate. One mutant that changes nothing is run as
well, and must survive."""

import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import ctext
import mutant_list

AT_LEAST = 40  # weakened orders that a client must kill
LONGER = 20  # seconds for each part of a client that found nothing in its own
PART = 10  # of so many mutants at most one is argued equivalent
NO_OP = "deque_last_item"  # the client that a mutant which changes nothing must pass
README = "tests/model/README.md"
ANEW = "scripts/mutants.py build/release --write"
FRONT = "README.md"  # says the totals in a sentence
MARK = "<!-- made by `scripts/mutants.py build/release --write` -->\n"


# The lists.


def check(root, at_least, errors):
    """(tree, mutants, {mutant: (path, text)}); complains about whatever does not fit."""
    tree = mutant_list.Tree(root)
    mutants = mutant_list.read(root, errors)
    known = mutant_list.clients(root)
    made = {}
    for mutant in mutants:
        if mutant.client is not None and mutant.client not in known:
            errors.append(f"{mutant.place}: there is no client {mutant.client}")
        try:
            made[mutant] = tree.mutate(mutant)
        except mutant_list.Bad as bad:
            errors.append(f"{mutant.place}: {bad}")
    errors += tree.unproved(made)
    equivalent = [m for m in mutants if m.equivalent is not None]
    if len(equivalent) * PART > len(mutants):
        errors.append(
            f"{len(equivalent)} of {len(mutants)} mutants are argued equivalent, at most one in {PART} may be"
        )
    weakened = [m for m in mutants if m.order is not None and m.equivalent is None]
    if len(weakened) < at_least:
        errors.append(f"{len(weakened)} weakened orders, at least {at_least} are needed")
    return tree, mutants, made


def table(mutants):
    """The score as the README has it; every mutant that is not argued equivalent is killed."""
    rooms = {}
    for mutant in mutants:
        row = rooms.setdefault(mutant.room, [0, 0, 0])
        row[0] += 1
        row[2 if mutant.equivalent is not None else 1] += 1
    lines = ["| room | mutants | killed | equivalent |", "|---|---|---|---|"]
    lines += [f"| {room} | {' | '.join(map(str, row))} |" for room, row in sorted(rooms.items())]
    total = [sum(column) for column in zip(*rooms.values())] or [0, 0, 0]
    return "\n".join([*lines, f"| all | {' | '.join(map(str, total))} |"]) + "\n"


def front_is_right(root, mutants):
    path = root / FRONT
    text = " ".join(path.read_text(encoding="utf-8").split()) if path.is_file() else ""
    argued = sum(mutant.equivalent is not None for mutant in mutants)
    total = f"{len(mutants)} times; the model tests catch {len(mutants) - argued}"
    return "times; the model tests catch" not in text or total in text


def readme_with(root, mutants):
    """(text of the README, the same with the present table), or None if it has no place for one."""
    path = root / README
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    if MARK not in text:
        return None
    head, _, rest = text.partition(MARK)
    rest = re.sub(r"\A(\|[^\n]*\n)*", "", rest)
    return text, head + MARK + table(mutants) + rest


# The build.


class Build:
    """What ninja knows: how each object is compiled, and which files it is made from."""

    def __init__(self, folder):
        self.folder = folder.resolve()
        entries = json.loads(self._ninja("compdb"))
        self.commands = {entry["output"]: entry["command"] for entry in entries}
        self.sources = {e["output"]: os.path.join(e["directory"], e["file"]) for e in entries}
        self.deps = {}
        output = None
        for line in self._ninja("deps").split("\n"):
            if line.startswith(" "):
                self.deps[output].add(os.path.normpath(self.folder / line.strip()))
            elif line:
                output = line.split(":")[0]
                self.deps[output] = set()

    def _ninja(self, tool):
        command = ["ninja", "-C", str(self.folder), "-t", tool]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return re.sub(r"\Aninja: Entering[^\n]*\n", "", done.stdout)

    def words(self, output):
        command = self.commands[output].strip()
        return shlex.split(command.removeprefix(": &&").removesuffix("&& :"))

    def parts(self, client):
        """(words that link the client, objects of it and of its static libraries)"""
        program = f"tests/model/model_{client}"
        if program not in self.commands:
            raise mutant_list.Bad(f"{self.folder} has no {program}")
        words = self.words(program)
        objects = [word for word in words if word.endswith(".o")]
        used = self._used_members(words)
        for archive in (word for word in words if word.endswith(".a")):
            members = [word for word in self.words(archive) if word.endswith(".o")]
            objects += [word for word in members if os.path.basename(word) in used]
        return words, objects

    def _used_members(self, words):
        """Names of the objects that the linker takes out of static libraries."""
        command = list(words)
        command[command.index("-o") + 1] = os.devnull
        command.append("-Wl,--trace,--trace")
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise mutant_list.Bad("the client itself does not link; build first")
        return set(re.findall(r"\.a\)?\(?([\w.]+\.o)\b", done.stdout))


class Workshop:
    """A copy of the sources in which one mutant at a time is made and run."""

    def __init__(self, root, build, folder, limit):
        self.root, self.build, self.folder, self.limit = root, build, folder, limit
        for part in ("src", "include", "tests/model"):
            shutil.copytree(root / part, folder / part)

    def _compile(self, output, target):
        words = [word.replace(f"{self.root}/", f"{self.folder}/") for word in self.build.words(output)]
        for option in ("-MF", "-MT"):
            if option in words:
                at = words.index(option)
                del words[at : at + 2]
        words[words.index("-o") + 1] = str(target)
        # what is left unused by a change is no mistake of the mutant
        self._tool([word for word in words if word != "-MD"] + ["-Wno-error"])

    def _tool(self, words):
        done = subprocess.run(words, cwd=self.build.folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise mutant_list.Bad(f"does not compile: {done.stderr.strip()}")

    def _link(self, client, path):
        """Compile what depends on `path`, and link: the new objects take the place of the old ones,
        or come before the library that has these."""
        words, objects = self.build.parts(client)
        changed = os.path.normpath(self.root / path)
        stale = [one for one in objects if changed in self.build.deps.get(one, ())]
        if not stale:
            raise mutant_list.Bad(f"model_{client} does not use {path}")
        fresh = {one: self.folder / f"{number}.o" for number, one in enumerate(stale)}
        for one, target in fresh.items():
            self._compile(one, target)
        inside = [str(fresh[one]) for one in stale if one not in words]
        words = [str(fresh.get(word, word)) for word in words]
        program = self.folder / "client"
        words[words.index("-o") + 1] = str(program)
        first = min((i for i, word in enumerate(words) if word.endswith(".a")), default=len(words))
        self._tool(words[:first] + inside + words[first:])
        return program

    def run(self, mutant_args, client, path, text, patient):
        """The failure that the client reports, or None. What a client finds within its seconds
        depends on the machine: a patient run of one that found nothing goes on for longer."""
        place = self.folder / path
        before = place.read_text(encoding="utf-8")
        place.write_text(text, encoding="utf-8")
        try:
            program = self._link(client, path)
        finally:
            place.write_text(before, encoding="utf-8")
        command = [str(program), "--keep-going", "0", *mutant_args]
        said = judge(command, self.limit)
        if said is None and patient and "--seconds" not in mutant_args:
            said = judge([*command, "--seconds", str(LONGER)], self.limit * LONGER)
        return said and said.replace(f"{self.folder}/", "").replace(f"{self.root}/", "")


def judge(command, limit):
    environment = {k: v for k, v in os.environ.items() if k != "FILCH_TEST_SCALE"}
    environment.setdefault("FILCH_TEST_SEED", "1")  # the same run each time, as far as time allows
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        env=environment, start_new_session=True,
    )
    timer = threading.Timer(limit, lambda: os.killpg(process.pid, signal.SIGKILL))
    timer.start()
    try:
        output = process.communicate()[0]
    finally:
        alive = timer.is_alive()
        timer.cancel()
    if not alive:
        raise mutant_list.Bad(f"does not end within {limit} s")
    report = re.search(r"^\w+: FAILED: (.*)$", output, re.MULTILINE)
    if process.returncode == 0:
        return None
    if process.returncode != 1 or report is None:
        tail = output.strip().split("\n")[-1]
        raise mutant_list.Bad(f"ends with {process.returncode} and no report: {tail}")
    return report.group(1)


# The run.


class Run:
    def __init__(self, root, build, made, total, args):
        self.root, self.build, self.made, self.args = root, build, made, args
        self.shops, self.lock = {}, threading.Lock()
        self.total, self.done = total, 0
        self.counts = {"killed": 0, "equivalent": 0, "SURVIVES": 0, "ERROR": 0}

    def _shop(self, folder):
        key = threading.get_ident()
        if key not in self.shops:
            place = folder / f"shop{key}"
            self.shops[key] = Workshop(self.root, self.build, place, self.args.limit)
        return self.shops[key]

    def _verdict(self, mutant, folder):
        if mutant.client is None:
            return "equivalent", "argued, not run"
        try:
            patient = mutant.equivalent is None
            said = self._shop(folder).run(mutant.args, mutant.client, *self.made[mutant], patient)
        except mutant_list.Bad as bad:
            return "ERROR", str(bad)
        if mutant.equivalent is not None:
            return ("equivalent", "argued, and survives") if said is None else ("ERROR", f"killed: {said}")
        return ("killed", said) if said is not None else ("SURVIVES", "nothing is reported")

    def one(self, mutant, folder):
        began = time.monotonic()
        verdict, said = self._verdict(mutant, folder)
        took = time.monotonic() - began
        with self.lock:
            self.done += 1
            self.counts[verdict] += 1
            where = f"{mutant.name} by {mutant.client}" if mutant.client else mutant.name
            print(f"[{self.done:3}/{self.total}] {verdict:10} {where} ({took:.1f} s): {said}", flush=True)

    def no_op(self, tree, folder):
        """The gate tests itself: what changes nothing must survive."""
        path = "src/queue/deque.h"
        try:
            said = self._shop(folder).run([], NO_OP, path, tree.texts[path], False)
        except mutant_list.Bad as bad:
            said = str(bad)
        print(f"[  0/{self.total}] no change, by {NO_OP}: {'survives' if said is None else said}")
        return said is None


def run_all(tree, mutants, made, args):
    build = Build(args.build)
    run = Run(args.root, build, made, len(mutants), args)
    with tempfile.TemporaryDirectory(prefix="filch-mutants-") as name:
        folder = pathlib.Path(name).resolve()
        sound = run.no_op(tree, folder)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            list(pool.map(lambda mutant: run.one(mutant, folder), mutants))
    counts = run.counts
    print(
        f"{len(mutants)} mutants, {counts['killed']} killed, {counts['equivalent']} argued equivalent, "
        f"{counts['SURVIVES']} survive" + (f", {counts['ERROR']} errors" if counts["ERROR"] else "")
    )
    return sound and counts["SURVIVES"] + counts["ERROR"] == 0


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("build", nargs="?", type=pathlib.Path)
    parser.add_argument("--root", type=pathlib.Path, default=default)
    parser.add_argument("--check", action="store_true", help="only look at the lists")
    parser.add_argument("--at-least", type=int, default=AT_LEAST, help="weakened orders")
    parser.add_argument("--only", metavar="PATTERN", help="run the mutants of this name or room")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="run every N-th of the list")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=60, help="seconds for one client")
    parser.add_argument("--write", action="store_true", help=f"write the score into {README}")
    args = parser.parse_args()
    args.root = args.root.resolve()
    if args.check == (args.build is not None) or (args.write and (args.check or args.only or args.every > 1)):
        parser.error("either --check, or a build folder; --write goes with a run of all")
    return args


def main():
    args = parse()
    errors = []
    tree, mutants, made = check(args.root, args.at_least, errors)
    readme = readme_with(args.root, mutants)
    if readme is not None and readme[0] != readme[1] and not args.write and not args.only:
        errors.append(f"{README}: its table is not that of the lists: run {ANEW}")
    if not front_is_right(args.root, mutants):
        errors.append(f"{FRONT}: its sentence about the mutants has other numbers than the lists")
    passed = True
    if not args.check and (args.only or not errors):
        wanted = [m for m in mutants if m in made][:: max(args.every, 1)]
        if args.only:
            wanted = [m for m in wanted if fnmatch.fnmatch(m.name, args.only) or m.room == args.only]
            errors.clear()
        passed = run_all(tree, wanted, made, args)
        if passed and args.write and readme is not None:
            (args.root / README).write_text(readme[1], encoding="utf-8")
    if not passed:
        print("mutants: FAILED")
        sys.exit(1)
    ctext.finish("mutants", errors, f"{len(tree.sites)} ordered accesses, {len(mutants)} mutants")


if __name__ == "__main__":
    main()
