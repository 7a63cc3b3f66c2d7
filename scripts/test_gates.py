#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The gates, tested on small trees: each lets a good tree pass, and finds what is wrong in a bad
one. A case of `BAD` is the good tree with some files replaced, and a piece of the complaint."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import ctext

SCRIPTS = pathlib.Path(__file__).resolve().parent
SPDX = "/* SPDX-License-Identifier: MIT */\n"

ATOMIC_H = """
static inline unsigned filchi_load_relaxed_u32(const unsigned *a)
{
    return __atomic_load_n(a, __ATOMIC_RELAXED);
}

static inline unsigned filchi_load_acquire_u32(const unsigned *a)
{
    return __atomic_load_n(a, __ATOMIC_ACQUIRE);
}

static inline void filchi_store_release_u32(unsigned *a, unsigned value)
{
    __atomic_store_n(a, value, __ATOMIC_RELEASE);
}

static inline unsigned filchi_add_acq_rel_u32(unsigned *a, unsigned value)
{
    return __atomic_fetch_add(a, value, __ATOMIC_ACQ_REL);
}
"""
LATCH_C = """
#include "sync/latch.h"

#include "base/atomic.h"

#include <stdint.h>

unsigned filchi_latch_wait(unsigned *word)
{
    /* [LATCH-1] acquire, pairs with LATCH-2 in filchi_latch_set():
     * what was written before is seen. */
    while (filchi_load_acquire_u32(word) == 0) {
        continue;
    }
    return filchi_load_relaxed_u32(word); /* relaxed: it no longer changes */
}

void filchi_latch_set(unsigned *word)
{
    /* [LATCH-2] release, pairs with LATCH-1: the result comes before "done". */
    filchi_store_release_u32(word, 1);
    /* [LATCH-3] acq_rel, pairs with itself: counts are handed on in order. */
    (void)filchi_add_acq_rel_u32(word, 1);
}
"""
LATCH_MD = """| LATCH-1 | `sync/latch.c:filchi_latch_wait()` | load | acquire | LATCH-2 | """

GOOD = {
    "include/filch/base.h": SPDX + "#if defined(__GNUC__)\n#define FILCH_API\n#endif\n",
    "src/base/atomic.h": SPDX + ATOMIC_H,
    "src/plat/plat.h": SPDX + '#include "base/atomic.h"\n\n#include <pthread.h>\n',
    "src/sync/latch.h": SPDX + "unsigned filchi_latch_wait(unsigned *word);\n",
    "src/sync/latch.c": SPDX + LATCH_C,
    "src/core/spi.h": SPDX + '#include "plat/plat.h"\n',
    "src/core/pool.h": SPDX + "#ifndef POOL_H\n#define POOL_H\n#endif\n",
    "src/par/for.c": SPDX + '#include "core/spi.h"\n\n#include <filch/base.h>\n',
    "tools/filch/main.c": SPDX + '#include "bench/designs/queue.h"\n\n#include <filch/base.h>\n',
    "bench/designs/queue.h": SPDX + "int queue_size(void);\n",
    "scripts/run.sh": "#!/usr/bin/env bash\n# SPDX-License-Identifier: MIT\necho \"$1\"\n",
}


def swap(file, old, new):
    assert old in GOOD[file], (file, old)
    return {file: GOOD[file].replace(old, new)}


LATCH = "src/sync/latch.c"
BAD = [
    ("check_spdx.py", {"src/core/a.c": "int a;\n"}, "src/core/a.c"),
    ("check_spdx.py", {"cmake/a.cmake": "set(a 1)\n"}, "cmake/a.cmake"),
    ("check_spdx.py", {"bench/grid/go/a.go": SPDX + "package main\n"}, "bench/grid/go/a.go"),
    ("check_layers.py", {"src/base/a.c": SPDX + '#include "plat/plat.h"\n'}, "not above"),
    ("check_layers.py", {"src/queue/a.c": SPDX + '#include "sync/latch.h"\n'}, "not above"),
    ("check_layers.py", {"src/obs/a.c": SPDX + '#include "core/pool.h"\n'}, "core/spi.h"),
    ("check_layers.py", {"src/par/a.c": SPDX + '#include "nothing.h"\n'}, "no such file"),
    ("check_layers.py", {"src/new/a.c": SPDX + '#include "base/atomic.h"\n'}, "no room"),
    ("check_layers.py", {"src/core/a.c": SPDX + "#include <pthread.h>\n"}, "src/plat"),
    ("check_layers.py", {"src/core/a.c": SPDX + "#include <stdatomic.h>\n"}, "src/plat"),
    ("check_layers.py", {"tools/filch/a.c": SPDX + '#include "core/spi.h"\n'}, "installed headers"),
    ("check_layers.py", {"examples/a.c": SPDX + '#include "bench/designs/queue.h"\n'}, "installed"),
    ("check_layers.py", {"include/filch/a.h": SPDX + "#include <stdatomic.h>\n"}, "no more than"),
    ("check_layers.py", {"include/filch/a.h": SPDX + '#include "../../src/core/spi.h"\n'}, "public"),
    ("check_layers.py", {"src/core/a.c": SPDX + "#if A || \\\n    defined(__linux__)\n#endif\n"}, "asks"),
    ("check_layers.py", {"src/core/a.c": SPDX + "#ifdef __clang__\n#endif\n"}, "asks for __clang__"),
    (
        "check_layers.py",
        {
            "src/core/a.h": SPDX + '#include "core/b.h"\n',
            "src/core/b.h": SPDX + '#include "a.h"\n',
        },
        "include cycle",
    ),
    ("check_sizes.py", {"src/core/a.c": SPDX + "int a;\n" * 600}, "limit 600"),
    ("check_sizes.py", {"bench/a.rs": "// a\n" * 601}, "limit 600"),
    ("check_sizes.py", {"include/filch/a.h": SPDX + "int a;\n" * 350}, "limit 350"),
    ("check_sizes.py", {"src/core/a.c": SPDX + "int f(void)\n{\n" + ";\n" * 68 + "}\n"}, "f() has 71"),
    ("check_labels.py", swap(LATCH, "[LATCH-2] release", "[LATCH-2] acquire"), "the call is release"),
    ("check_labels.py", swap(LATCH, "[LATCH-3]", "[LATCH-2]"), "also in"),
    ("check_labels.py", swap(LATCH, "pairs with LATCH-1:", "pairs with LATCH-3:"), "name it back"),
    ("check_labels.py", swap(LATCH, "pairs with LATCH-1:", "pairs with LATCH-9:"), "not exist"),
    ("check_labels.py", swap(LATCH, "pairs with LATCH-1:", "pairs with itself:"), "with itself"),
    ("check_labels.py", swap(LATCH, "[LATCH-3]", "[latch3]"), "looks like"),
    ("check_labels.py", swap(LATCH, "    /* [LATCH-3] acq_rel", "    /* LATCH-3 acq_rel"), "0 labels"),
    ("check_labels.py", swap(LATCH, "in order. */\n", "in order. */\n\n"), "0 labels"),
    ("check_labels.py", swap(LATCH, ': the result comes before "done".', ":"), "promises nothing"),
    ("check_labels.py", swap(LATCH, "    (void)filchi_add_acq_rel_u32(word, 1);\n", ""), "labels no access"),
    ("check_labels.py", {"docs/memory-model.md": "# old\n"}, "not up to date"),
    ("check_format.sh", {"src/core/a.c": SPDX + "int  f( void ){return 1;}\n"}, "FAILED"),
    ("check_shell.sh", {"scripts/a.sh": "#!/usr/bin/env bash\nrm -rf $1/x\n"}, "FAILED"),
]

USE_ALL = SPDX + "#include <filch/base.h>\nvoid use(void);\nvoid use(void)\n{\n    filch_a();\n}\n"
HEADER = SPDX + "#ifndef A_H\n#define A_H\n#define FILCH_API\nFILCH_API void filch_a(void);\n#endif\n"
HEADERS_GOOD = {"include/filch/base.h": HEADER, "tests/api/use_all.h": USE_ALL}
HEADERS_BAD = [
    ({"include/filch/base.h": HEADER.replace("#define A_H\n", "#define A_H\nint a;\n"),
      "include/filch/b.h": SPDX + "int b(size_t);\n"}, "b.h with"),
    ({"include/filch/b.h": SPDX + "enum b { B1, B2 };\n"}, "b.h with"),  # no include guard
    ({"include/filch/b.h": SPDX + "#ifndef B\n#define B\nint b(int class);\n#endif\n"}, "std=c++11"),
    ({"include/filch/b.h": SPDX + "#include <stdatomic.h>\n"}, "includes <stdatomic.h>"),
    ({"include/filch/base.h": HEADER.replace("filch_a", "filch_b")}, "does not call filch_b"),
]


# What gcovr says of a file with a function of three lines, of which the third was not reached.
COVERED_C = "int f(int a)\n{\n    a++;\n    return a;\n}\n"
COVERED = {
    "files": [{"file": "src/a.c", "lines": [
        {"line_number": n, "count": hits, "gcovr/noncode": False, "branches": []}
        for n, hits in ((1, 5), (3, 5), (4, 0))
    ]}]
}
LISTED = "never src/a.c f\n  | return a;\n  Because.\n"
LISTS_BAD = [
    ("", "src/a.c:4: f(): not reached: return a;"),
    (LISTED.replace("return a", "a++"), "is reached; take it off"),
    (LISTED.replace("return a", "return b"), "there is no such line"),
    (LISTED.replace("  Because.\n", ""), "needs lines and a reason"),
    (LISTED + "what\n", "not understood"),
]


def write_tree(root, tree):
    for name, text in tree.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def run_gate(root, gate, *arguments):
    command = [str(SCRIPTS / gate), "--root", str(root), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


class Trees(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def tree(self, *layers):
        for entry in self.root.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        for layer in layers:
            write_tree(self.root, layer)
        shutil.copy(SCRIPTS.parent / ".clang-format", self.root)

    def assert_passes(self, gate, *arguments):
        code, text = run_gate(self.root, gate, *arguments)
        self.assertIn(code, (0, 77), text)
        return code

    def assert_fails(self, gate, complaint, *arguments):
        code, text = run_gate(self.root, gate, *arguments)
        self.assertEqual(code, 1, text)
        self.assertIn(complaint, text)

    def test_tree_gates(self):
        self.tree(GOOD)
        usable = {}
        self.assert_passes("check_labels.py", "--write")
        table = (self.root / "docs/memory-model.md").read_text(encoding="utf-8")
        self.assertIn(LATCH_MD, table)
        self.assertIn("| rmw (add) | acq_rel | itself |", table)
        for gate in {case[0] for case in BAD}:
            usable[gate] = self.assert_passes(gate) == 0
        for gate, change, complaint in BAD:
            with self.subTest(gate=gate, complaint=complaint, change=list(change)):
                if usable[gate]:
                    self.tree(GOOD, {"docs/memory-model.md": table}, change)
                    self.assert_fails(gate, complaint)

    def test_headers(self):
        self.tree(HEADERS_GOOD)
        if self.assert_passes("check_headers.py") == 77:
            self.skipTest("no compiler")
        for change, complaint in HEADERS_BAD:
            with self.subTest(complaint=complaint):
                self.tree(HEADERS_GOOD, change)
                self.assert_fails("check_headers.py", complaint)

    def test_coverage(self):
        tree = {"src/a.c": COVERED_C, "cov.json": json.dumps(COVERED)}
        judged = ("--json", self.root / "cov.json")
        self.tree(tree, {"tests/coverage.txt": LISTED})
        self.assert_fails("coverage.py", "the floor is 95 %", *judged)
        self.assert_passes("coverage.py", *judged, "--floor", 60)
        self.tree(tree, {"tests/coverage.txt": LISTED.replace("never", "sometimes") + LISTED})
        self.assert_passes("coverage.py", *judged, "--floor", 60)
        for text, complaint in LISTS_BAD:
            with self.subTest(complaint=complaint):
                self.tree(tree, {"tests/coverage.txt": text})
                self.assert_fails("coverage.py", complaint, *judged, "--floor", 60)

    def library(self, text, *options):
        source, target = self.root / "lib.c", self.root / "lib.so"
        source.write_text(text, encoding="utf-8")
        subprocess.run(["gcc", "-fPIC", *options, str(source), "-o", str(target)], check=True)
        return target

    def test_exports(self):
        self.tree(HEADERS_GOOD)
        if shutil.which("gcc") is None or shutil.which("nm") is None:
            self.skipTest("no gcc or nm")
        self.assert_passes("check_exports.py", self.library("void filch_a(void) {}", "-shared"))
        both = self.library("void filch_a(void) {} int filch_x;", "-shared")
        self.assert_fails("check_exports.py", "exports filch_x", both)
        none = self.library("static void filch_a(void) {} void *p = filch_a;", "-shared")
        self.assert_fails("check_exports.py", "does not export filch_a", none)
        shared = shutil.copy(self.library("void filch_a(void) {}", "-shared"), self.root / "a.so")
        static = self.library("void filch_a(void) {} void stray(void) {}", "-c")
        self.assert_fails("check_exports.py", "defines stray", shared, static)


class Text(unittest.TestCase):
    """The brace scanner that check_sizes and check_labels stand on."""

    def names(self, text):
        return [(name, first, last) for name, first, last, _, _ in ctext.CText(text).functions()]

    def test_functions(self):
        text = """#define M(x) { x }
struct s { int a; };
static const struct s table[] = { { 1 }, { f(2) } };
extern "C" {
__attribute__((noinline)) static int
f(int a)
{
    if (a) { return '{'; } /* } */
    return "}"[0];
}
}
enum { N = 3 };
void (*g(void))(int)
{
}
typedef int h(void);
"""
        self.assertEqual(self.names(text)[0], ("f", 5, 10))
        self.assertEqual(self.names(text)[1:], [("g", 13, 15)])

    def test_comments_and_strings_are_blank(self):
        source = ctext.CText('int a; // "b\nchar *c = "/* d"; /* e\n f */ int g;\n')
        self.assertEqual(source.code, 'int a;      \nchar *c = "    ";     \n      int g;\n')
        self.assertEqual(source.line_of(source.code.index("g")), 3)


if __name__ == "__main__":
    sys.exit(unittest.main())
