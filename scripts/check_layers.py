#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gate: who may include whom, and where the compiler, CPU and OS may be asked for.

Includes go downward or stay in their room:
  base < plat < sync, queue, rec < core < future, par, graph, obs   (rooms of src/)
sync, queue and rec never include one another, nor do future, par, graph and obs; of core these see
core/spi.h only. Public headers include only one another and ISO C. tools, examples and bench use
installed headers and their own folder; tools also bench/designs, bench/grid, bench/support and
src/report.
Headers of an OS are for src/plat alone. There is no include cycle."""

import pathlib
import re

import ctext

LEVEL = {"base": 0, "plat": 1, "sync": 2, "queue": 2, "rec": 2, "core": 3}
LEVEL.update({"future": 4, "par": 4, "graph": 4, "obs": 4})
BENCH_OF_TOOLS = {("bench", "designs"), ("bench", "grid"), ("bench", "support")}
REPORT = "report"  # offline: includes itself and public headers only

ISO_C = set(
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal "
    "stdalign stdarg stdbool stddef stdint stdio stdlib stdnoreturn string tgmath time wchar "
    "wctype".split()
)
PUBLIC_C = {"stddef", "stdint", "stdbool", "limits"}

PLATFORM_WORDS = re.compile(
    r"\b(_WIN32|_WIN64|_MSC_VER|__(linux|unix|APPLE|MACH|FreeBSD|NetBSD|OpenBSD|ANDROID|GLIBC|"
    r"CYGWIN|MINGW32|MINGW64|x86_64|i386|amd64|aarch64|arm|riscv|powerpc|powerpc64|s390x|mips|"
    r"loongarch64|GNUC|GNUC_MINOR|clang|clang_major|INTEL_COMPILER|TINYC)(__|_)?|linux|unix|"
    r"__SANITIZE_\w+|__has_(feature|builtin|attribute|include)|__BYTE_ORDER__|__SIZEOF_\w+)\b"
)
PLATFORM_FILES = {"src/base/compiler.h", "include/filch/base.h"}


def room(path):
    """("src", "core") for src/core/fork.c, ("include",), ("tools",) and so on."""
    parts = path.parts
    return parts[:2] if parts[0] == "src" else parts[:1]


def resolve(root, path, quoted):
    """The file of this tree that an include means, None if it is not ours."""
    name = quoted[1:-1]
    if quoted[0] == "<":
        places = [pathlib.Path("include")]
    else:
        places = [path.parent, pathlib.Path("src"), pathlib.Path("."), pathlib.Path("tests")]
    for place in places:
        target = (root / place / name).resolve()
        if target.is_file() and target.is_relative_to(root):
            return target.relative_to(root)
    return None


def wrong_include(path, target):
    """Why `path` must not include `target` (a file of this tree), None if it may."""
    ours, theirs = room(path), room(target)
    if ours[0] == "tests" or theirs[0] == "include":
        return None
    if ours[0] == "include":
        return "a public header includes only public headers"
    if ours[0] in ("tools", "examples", "bench", "ext"):
        bench = target.parts[:2] in BENCH_OF_TOOLS and ours[0] == "tools"
        report = theirs == ("src", REPORT) and ours[0] == "tools"
        if ours == theirs or bench or report:
            return None
        return f"{ours[0]}/ sees installed headers only"
    if theirs[0] != "src":
        return "src/ includes nothing outside src/ and include/"
    if ours == theirs:
        return None
    if REPORT in (ours[1], theirs[1]):
        return "src/report stands alone"
    for name in (ours[1], theirs[1]):
        if name not in LEVEL:
            return f"src/{name} is no room of the plan"
    if LEVEL[theirs[1]] >= LEVEL[ours[1]]:
        return f"src/{ours[1]} is not above src/{theirs[1]}"
    if LEVEL[ours[1]] == 4 and theirs[1] == "core" and target.name != "spi.h":
        return "of src/core only core/spi.h is open to the rooms above"
    return None


def wrong_system_header(path, name):
    """Why `path` must not include the system header `name`, None if it may."""
    stem = name.removesuffix(".h")
    if path.suffix == ".hpp" and "." not in name:
        return None  # the C++ library
    if path.parts[0] == "include":
        return None if stem in PUBLIC_C else "public headers need no more than " + ", ".join(
            sorted(PUBLIC_C)
        )
    if path.parts[0] == "src" and path.parts[1] != "plat" and stem not in ISO_C:
        return "headers of the OS (and atomics, threads) are for src/plat"
    return None


def check_includes(root, path, source):
    """(errors, files included)"""
    errors, targets = [], []
    for number, quoted in source.includes():
        target = resolve(root, path, quoted)
        if target is not None:
            targets.append(target)
            why = wrong_include(path, target)
        elif quoted[0] == '"':
            why = "there is no such file" if path.parts[0] in ("src", "include") else None
        else:
            why = wrong_system_header(path, quoted[1:-1])
        if why:
            errors.append(f"{path}:{number}: includes {quoted}: {why}")
    return errors, targets


def check_conditions(path, source):
    if path.parts[0] not in ("src", "include") or path.parts[:2] == ("src", "plat"):
        return []
    if str(path) in PLATFORM_FILES:
        return []
    errors = []
    for number, line in source.directives():
        match = re.match(r"#\s*(?:if|ifdef|ifndef|elif)\b(.*)", line)
        word = match and PLATFORM_WORDS.search(match.group(1))
        if word:
            errors.append(
                f"{path}:{number}: asks for {word.group()}: only src/plat, src/base/compiler.h and "
                "filch/base.h do"
            )
    return errors


def find_cycle(graph):
    """The files of one include cycle, [] if there is none."""
    state = {}

    def visit(node, trail):
        state[node] = "open"
        for target in graph.get(node, []):
            if state.get(target) == "open":
                return trail[trail.index(target) :] + [target]
            if target not in state:
                cycle = visit(target, trail + [target])
                if cycle:
                    return cycle
        state[node] = "done"
        return []

    for node in sorted(graph):
        if node not in state:
            cycle = visit(node, [node])
            if cycle:
                return cycle
    return []


def main():
    args = ctext.parse_root(__doc__)
    errors, graph = [], {}
    folders = ["include", "src", "tools", "examples", "bench", "tests", "ext"]
    paths = ctext.files(args.root, folders)
    for path in paths:
        source = ctext.CText((args.root / path).read_text(encoding="utf-8"))
        found, graph[path] = check_includes(args.root, path, source)
        errors += found + check_conditions(path, source)
    cycle = find_cycle(graph)
    if cycle:
        errors.append("include cycle: " + " -> ".join(map(str, cycle)))
    ctext.finish("check_layers", errors, f"{len(paths)} files, {sum(map(len, graph.values()))} edges")


if __name__ == "__main__":
    main()
