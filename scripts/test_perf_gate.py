#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf_gate.py and plot_bench.py on results that are made up: what is kept, broken, or not judged, and
that a plot shows what is there."""

import copy
import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import perf_gate

SCRIPTS = pathlib.Path(__file__).resolve().parent


def cell(name, median, spread=0.02, state="ran"):
    if state != "ran":
        return {"contestant": name, "state": state, "note": "for some reason"}
    summary = {"min": median * (1 - spread), "median": median, "low": median * (1 - spread / 2),
               "high": median * (1 + spread / 2), "spread": spread}
    return {"contestant": name, "state": "ran", "rounds": 5, "wall_ns": summary, "cpu_ns": summary,
            "speed_up": 1e6 / median, "cpu_ratio": median / 1e6}


def grid(**filch):
    """A result in which Filch took so long: fib=..., uts=...; all others took a millisecond."""
    rows = []
    for name, args in (("fib", "30"), ("uts", "T1 5")):
        own = filch.get(name, 1e6)
        own = own if isinstance(own, dict) else cell("filch", own)
        results = [cell("serial", 1e6), own, cell("shared-queue", 1e6)]
        rows.append({"workload": name, "args": args, "what": "a test", "passes": 1, "spread": 0.02,
                     "verdict": "", "results": results})
    return {"benchmark": "grid", "filch": "0.1.0",
            "machine": {"cpu_model": "A CPU", "cpus_online": 2, "cpus_allowed": 2, "kernel": "Linux"},
            "compiler": {"name": "gcc", "version": "12", "build_type": "Release", "flags": "-O2"},
            "workers": 2, "rounds": 5, "seconds": 1.0,
            "contestants": [{"name": n, "version": "1"} for n in ("serial", "filch", "shared-queue")]
            + [{"name": "gomp", "skipped": "not built"}], "workloads": rows}


def baseline_of(result):
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        path = pathlib.Path(folder) / "baseline.json"
        perf_gate.write_baseline(path, result)
        return json.loads(path.read_text(encoding="utf-8"))


BASE = baseline_of(grid())


def verdicts_of(result):
    return {key: verdict[0] for key, verdict in perf_gate.compare(BASE, result).items()}


class Judging(unittest.TestCase):
    def test_baseline__of_a_result__has_its_ratios(self):
        self.assertEqual(BASE["ratios"]["fib 30"], {"serial": 1.0, "shared-queue": 1.0})
        self.assertEqual(BASE["workers"], 2)

    def test_same_or_faster__kept(self):
        for factor in (1.0, 0.3, 1.12):
            self.assertEqual(set(verdicts_of(grid(fib=factor * 1e6)).values()), {perf_gate.KEPT})

    def test_slower_than_the_limit__broken_on_that_workload_alone(self):
        verdicts = verdicts_of(grid(fib=1.2e6))
        self.assertEqual(verdicts["fib 30", "serial"], perf_gate.BROKEN)
        self.assertEqual(verdicts["fib 30", "shared-queue"], perf_gate.BROKEN)
        self.assertEqual(verdicts["uts T1 5", "serial"], perf_gate.KEPT)

    def test_noise_around_the_limit__not_judged(self):
        for factor in (1.05, 1.2):
            verdicts = verdicts_of(grid(fib=cell("filch", factor * 1e6, spread=0.4)))
            self.assertEqual(verdicts["fib 30", "serial"], perf_gate.UNSURE)

    def test_noise_that_changes_nothing__judged(self):
        self.assertEqual(verdicts_of(grid(fib=cell("filch", 0.5e6, spread=0.4)))["fib 30", "serial"],
                         perf_gate.KEPT)
        self.assertEqual(verdicts_of(grid(fib=cell("filch", 3e6, spread=0.4)))["fib 30", "serial"],
                         perf_gate.BROKEN)

    def test_filch_crashed_or_wrong__broken(self):
        for state in ("broke", "wrong"):
            verdicts = verdicts_of(grid(fib=cell("filch", 0, state=state)))
            self.assertEqual(verdicts["fib 30", "filch"], perf_gate.BROKEN)

    def test_workload_missing__not_judged(self):
        result = grid()
        del result["workloads"][0]
        self.assertEqual(verdicts_of(result)["fib 30", "serial"], perf_gate.UNSURE)

    def test_merge__kept_once_is_kept__else_the_last_counts(self):
        kept, broken, unsure = ((v, 1.0, None) for v in
                                (perf_gate.KEPT, perf_gate.BROKEN, perf_gate.UNSURE))
        old = {"a": kept, "b": broken, "c": unsure, "d": broken}
        new = {"a": broken, "b": kept, "c": broken}
        self.assertEqual(perf_gate.merge(old, new), {"a": kept, "b": kept, "c": broken, "d": broken})

    def test_again__names_what_is_not_kept_as_arguments(self):
        verdicts = perf_gate.compare(BASE, grid(uts=2e6))
        self.assertEqual(perf_gate.again(verdicts), ["uts=T1,5"])

    def test_another_machine__not_comparable(self):
        for what, name in (("machine", "cpu_model"), ("compiler", "name")):
            other = copy.deepcopy(grid())
            other[what][name] = "another"
            self.assertIn("another", perf_gate.why_not_comparable(BASE, other))
        self.assertIn("workers", perf_gate.why_not_comparable(BASE, grid() | {"workers": 3}))
        self.assertIsNone(perf_gate.why_not_comparable(BASE, grid()))


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, value):
        path = self.folder / name
        path.write_text(json.dumps(value), encoding="utf-8")
        return path

    def run_script(self, name, *arguments):
        return subprocess.run([sys.executable, SCRIPTS / name, *arguments], capture_output=True,
                              text=True, check=False)

    def gate(self, result):
        return self.run_script("perf_gate.py", "--baseline", self.write("base.json", BASE), "--result",
                               self.write("result.json", result))

    def test_gate__exit_codes_and_words(self):
        for result, code, words in ((grid(), 0, "4 ratios kept"), (grid(fib=2e6), 1, "BROKEN"),
                                    (grid(fib=cell("filch", 1.2e6, 0.4)), 77, "not judged"),
                                    (grid() | {"workers": 8}, 77, "workers")):
            done = self.gate(result)
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
            self.assertIn(words, done.stdout)

    def test_plot__bars_sweep_and_table(self):
        result = grid(fib=0.5e6)
        for grain, factor in ((1, 4.0), (100, 0.9), (10000, 0.5)):
            row = copy.deepcopy(result["workloads"][0])
            row.update(workload="sweep", args=f"{grain} 1000000")
            row["results"] = [cell("serial", 1e8), cell("filch", factor * 1e8),
                              cell("shared-queue", 5 * factor * 1e8), cell("gone", 0, state="none")]
            result["workloads"].append(row)
        # alone, and in the list that `make perf` prints
        for name, value in (("one.json", result), ("all.json", [{"benchmark": "fib"}, result])):
            done = self.run_script("plot_bench.py", self.write(name, value), self.folder / "plot")
            self.assertEqual(done.returncode, 0, done.stderr)
            for kind in ("speedup", "sweep"):
                xml.etree.ElementTree.parse(self.folder / f"plot-{kind}.svg")
            table = (self.folder / "plot.md").read_text(encoding="utf-8")
            self.assertIn("2.00", table)
            self.assertIn("A CPU", table)
            self.assertIn("gomp: not built", table)

    def test_plot__without_a_grid__says_so(self):
        done = self.run_script("plot_bench.py", self.write("none.json", []), self.folder / "plot")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no result of `filch bench`", done.stderr)


if __name__ == "__main__":
    unittest.main()
