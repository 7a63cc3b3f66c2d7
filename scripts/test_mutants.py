#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The mutation gate, tested on a small tree: good lists pass, and each of `BAD` (the good tree with
a piece of a file replaced) is found. Then what a mutant makes of the text, and how the end of a
client is judged. That a change of nothing survives is tested by every run of the gate itself."""

import pathlib
import sys
import tempfile
import unittest

import mutant_list
import mutants
from test_gates import ATOMIC_H, LATCH_C, SPDX, run_gate, write_tree

LIST = "tests/model/mutants/sync.mut"
LATCH = "src/sync/latch.c"
ROOT = pathlib.Path(__file__).resolve().parent.parent

MUTANTS = """# A list.

mutant LATCH-1-relaxed
  label LATCH-1
  order relaxed
  client latch_wait

mutant LATCH-2-relaxed
  label LATCH-2
  order relaxed
  client latch_wait_condvar
  args --client latch_one

mutant LATCH-3-release
  label LATCH-3
  order release
  client latch_wait

mutant latch-set-without-loop
  file src/sync/latch.c
  from while (filchi_load_acquire_u32(word)
    == 0) {
  to   if (filchi_load_acquire_u32(word) == 0) {
  client latch_wait
"""
EQUIVALENT = """
mutant LATCH-3-acquire
  label LATCH-3
  order acquire
  client latch_wait
  equivalent nobody reads what was written before this
    access, so it may as well be an acquire
"""
FILLER = "".join(
    f"\nmutant filler-{n}\n  label LATCH-1\n  order relaxed\n  client latch_wait\n" for n in range(5)
)
CMAKE = """
foreach(client latch_wait)
    filch_model_test(NAME ${client})
endforeach()
foreach(client latch_wait)
    filch_model_test(NAME ${client}_condvar SOURCE ${client}.c PARK condvar)
endforeach()
"""
GOOD = {
    "src/base/atomic.h": SPDX + ATOMIC_H,
    LATCH: SPDX + LATCH_C,
    LIST: MUTANTS + EQUIVALENT + FILLER,
    "tests/model/CMakeLists.txt": CMAKE,
}

MORE = "filchi_latch_set(unsigned *word)\n{\n"
BAD = [
    (LATCH, MORE, MORE + "    filchi_store_release_u32(word, 7);\n", "latch.c:21: filchi_store_release_u32: no mutant"),
    (LATCH, "[LATCH-2]", "[LATCH-7]", "LATCH-2 labels 0 accesses"),
    (LATCH, "== 0) {", "<= 0) {", "stands 0 times"),
    (LATCH, "continue;\n", "while (filchi_load_acquire_u32(word) == 0) {}\n", "stands 2 times"),
    (LIST, "label LATCH-2\n  order relaxed", "label LATCH-2\n  order seq_cst", "is not weaker"),
    (LIST, "label LATCH-2\n  order relaxed", "label LATCH-2\n  order acquire", "is not weaker"),
    (LIST, "label LATCH-1\n  order relaxed", "label LATCH-1\n  order release", "is not weaker"),
    (LIST, "3\n  order release", "3\n  order relaxed", "[LATCH-3]: no mutant makes it release"),
    (LIST, "to   if (filchi", "to   while (filchi", "changes nothing"),
    (LIST, "client latch_wait\n\nmutant LATCH-2", "client latch_nap\n\nmutant LATCH-2", "no client latch_nap"),
    (LIST, "client latch_wait\n\nmutant LATCH-2", "\nmutant LATCH-2", "needs `client`"),
    (LIST, "mutant LATCH-3-release", "mutant LATCH-2-relaxed", "also at"),
    (LIST, "  order release\n", "", "needs `label` and `order`"),
    (LIST, "  label LATCH-2\n", "  label LATCH-2\n  from a\n  to   b\n", "either"),
    (LIST, "  label LATCH-2\n", "  lable LATCH-2\n", "what is `lable`"),
    (LIST, "  label LATCH-2\n", "  label LATCH-2\n  nth 2\n", "LATCH-2 labels 1 accesses"),
    (LIST, "  label LATCH-2\n", "  label LATCH-2\n  file src/a.c\n", "LATCH-2 labels 0 accesses there"),
    (LIST, EQUIVALENT.split("  equivalent")[1], " trust me\n", "argument in words"),
    (LIST, "mutant filler-4", "mutantfiller-4", "begins with"),
    (LIST, FILLER, FILLER.split("\nmutant filler-4")[0], "1 of 9 mutants are argued equivalent"),
    (LIST, EQUIVALENT, EQUIVALENT + EQUIVALENT.replace("3-acquire", "3-acquire-too"), "2 of 11 mutants"),
]


class Lists(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def check(self, files, at_least=8):
        write_tree(self.root, files)
        return run_gate(self.root, "mutants.py", "--check", "--at-least", at_least)

    def test_good_and_bad(self):
        code, text = self.check(GOOD)
        self.assertEqual(code, 0, text)
        for file, old, new, complaint in BAD:
            with self.subTest(complaint=complaint):
                self.assertIn(old, GOOD[file])
                code, text = self.check({**GOOD, file: GOOD[file].replace(old, new, 1)})
                self.assertEqual(code, 1, text)
                self.assertIn(complaint, text)

    def test_too_few(self):
        code, text = self.check(GOOD, at_least=9)
        self.assertEqual(code, 1, text)
        self.assertIn("8 weakened orders, at least 9", text)

    def test_table(self):
        readme = {mutants.README: f"before\n{mutants.MARK}| old |\n\nafter\n"}
        code, text = self.check({**GOOD, **readme})
        self.assertEqual(code, 1, text)
        self.assertIn("its table is not that of the lists", text)
        lists = mutant_list.read(self.root, [])
        new = mutants.readme_with(self.root, lists)[1]
        self.assertIn("| sync | 10 | 9 | 1 |\n| all | 10 | 9 | 1 |\n\nafter\n", new)
        self.assertEqual(self.check({**GOOD, mutants.README: new})[0], 0)

    def test_sentence(self):
        front = "in one place, 10 times;\nthe model tests catch 9, the other"
        self.assertEqual(self.check({**GOOD, mutants.FRONT: front})[0], 0)
        code, text = self.check({**GOOD, mutants.FRONT: front.replace("9,", "10,")})
        self.assertEqual(code, 1, text)
        self.assertIn("other numbers than the lists", text)


class Text(unittest.TestCase):
    def mutant(self, **fields):
        mutant = mutant_list.Mutant("room", "name", "place")
        for key, value in fields.items():
            setattr(mutant, key, value)
        return mutant

    def test_orders_of_the_tree(self):
        """Every order that is weaker can be made of every access of the library."""
        tree = mutant_list.Tree(ROOT)
        for site in tree.sites:
            for order in mutant_list.HALVES:
                if not site.fits(order):
                    continue
                path, text = tree.mutate(self.mutant(label=site.labels[0], order=order))
                self.assertEqual(path, site.path)
                self.assertEqual(
                    text.count(site.call), tree.texts[path].count(site.call) - 1, "one call is gone"
                )

    def test_next_weaker(self):
        def steps(call, order):
            return mutant_list.Site("a.c", 0, 1, call, order).next_weaker()

        self.assertEqual(steps("filchi_load_seq_cst_u32", "seq_cst"), ["acquire"])
        self.assertEqual(steps("filchi_store_seq_cst_u32", "seq_cst"), ["release"])
        self.assertEqual(steps("filchi_add_seq_cst_u32", "seq_cst"), ["acq_rel"])
        self.assertEqual(steps("filchi_add_acq_rel_u32", "acq_rel"), ["acquire", "release"])
        self.assertEqual(steps("filchi_store_release_u32", "release"), ["relaxed"])

    def test_accessor(self):
        tree = mutant_list.Tree(ROOT)
        made = tree.accessor("filchi_cas_acq_rel_uptr", "release", "filchi_cas_release_uptr")
        self.assertIn("bool filchi_cas_release_uptr(filchi_atomic_uptr *a,", made)
        self.assertIn("__ATOMIC_RELEASE, __ATOMIC_RELAXED);", made)
        made = tree.accessor("filchi_cas_seq_cst_u64", "acq_rel", "filchi_cas_acq_rel_u64")
        self.assertIn("__ATOMIC_ACQ_REL, __ATOMIC_RELAXED);", made)

    def test_move(self):
        tree = mutant_list.Tree(ROOT)
        path = "src/sync/latch.c"
        tree.texts[path] = "a(x);\nb();\na(x);\n"
        changes = [["a(x);", "", 2], ["b();", "b(); a(x);", None]]
        self.assertEqual(tree.mutate(self.mutant(file=path, changes=changes))[1], "a(x);\nb(); a(x);\n\n")


class Verdict(unittest.TestCase):
    def judge(self, script, limit=30):
        return mutants.judge(["sh", "-c", script], limit)

    def test_ends(self):
        self.assertIsNone(self.judge("echo 'latch: random: 7 executions'"))
        report = "echo 'latch: FAILED: data race'; echo '   1 T1 load'; exit"
        self.assertEqual(self.judge(f"{report} 1"), "data race")
        for script in ("exit 1", f"{report} 2", f"{report} 77", "echo latch: FAILED: x; kill -SEGV $$"):
            with self.subTest(script=script), self.assertRaises(mutant_list.Bad):
                self.judge(script)

    def test_no_end(self):
        with self.assertRaisesRegex(mutant_list.Bad, "does not end"):
            self.judge("sleep 60", limit=0.2)

    def test_patience(self):
        """A client that finds its mutant in a longer run only."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            client = folder / "client"
            client.write_text("""#!/bin/sh
case "$*" in *--seconds*) echo 'latch: FAILED: late'; exit 1;; esac
""")
            client.chmod(0o755)
            shop = mutants.Workshop.__new__(mutants.Workshop)
            shop.root, shop.folder, shop.limit = ROOT, folder, 30
            shop._link = lambda *_: client
            (folder / "x.c").write_text("")
            self.assertEqual(shop.run([], "latch", "x.c", "", True), "late")
            self.assertIsNone(shop.run([], "latch", "x.c", "", False))


if __name__ == "__main__":
    sys.exit(unittest.main())
