#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gate: each public header compiles alone, included twice, in C99, C11, C17, C++11 and C++17 (the
.hpp: in C++17 and later), with gcc and clang and many warnings as errors; and so does a file that uses every macro and calls every
function (tests/api/use_all.h), which must name all of them. A compiler that is not there is named
and left out; with none the gate is not judged (exit 77)."""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import ctext
import headers

WARNINGS = (
    "-Wall -Wextra -pedantic -Wconversion -Wsign-conversion -Wcast-qual -Wundef -Werror".split()
)
HPP_STANDARDS = {"c++17", "c++20", "c++2b"}
BANNED = re.compile(r"<(stdatomic|threads)\.h>|<atomic>")
USE_ALL = "tests/api/use_all.h"


def compilers():
    """(program, language, standard) of every way to compile a header."""
    ways, absent = [], []
    for program, standards in (
        ("gcc", ("c99", "c11", "c17", "c2x")),
        ("clang", ("c99", "c11", "c17", "c2x")),
        ("g++", ("c++11", "c++14", "c++17", "c++20", "c++2b")),
        ("clang++", ("c++11", "c++14", "c++17", "c++20", "c++2b")),
    ):
        if shutil.which(program) is None:
            absent.append(program)
            continue
        language = "c++" if "++" in program else "c"
        ways += [(program, language, standard) for standard in standards]
    return ways, absent


def compile_text(root, way, name, text):
    """What the compiler says about `text`, "" if it is content."""
    program, language, standard = way
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / ("unit.cpp" if language == "c++" else "unit.c")
        source.write_text(text, encoding="utf-8")
        command = [program, f"-std={standard}", *WARNINGS, f"-I{root}/include", "-fsyntax-only"]
        done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
    return f"{name} with {program} -std={standard}:\n{done.stderr}" if done.returncode else ""


def check_use_all(root, errors):
    """The text of USE_ALL, after a look whether it names everything there is."""
    text = (root / USE_ALL).read_text(encoding="utf-8")
    used = set(re.findall(r"\bfilch_\w+(?=\s*\()", ctext.CText(text).plain()))
    macros = set()
    for path in ctext.files(root, ["include/filch"], {".h"}):
        header = (root / path).read_text(encoding="utf-8")
        macros |= set(re.findall(r"#\s*define\s+(FILCH_\w+_INIT)\b", header))
    for name in sorted(headers.declared(root) - used):
        if name.startswith("filch_priv_"):
            continue  # for code in our own headers
        errors.append(f"{USE_ALL} does not call {name}")
    for name in sorted(macros - set(re.findall(r"\bFILCH_\w+_INIT\b", text))):
        errors.append(f"{USE_ALL} does not use {name}")
    return text


def main():
    args = ctext.parse_root(__doc__)
    ways, absent = compilers()
    if not ways:
        print("check_headers: not judged, there is no compiler")
        sys.exit(77)
    errors, units = [], []
    for path in ctext.files(args.root, ["include/filch"], {".h", ".hpp"}):
        text = (args.root / path).read_text(encoding="utf-8")
        banned = BANNED.search(text)
        if banned and path.suffix == ".h":
            errors.append(f"{path}: includes {banned.group()}")
        name = str(path.relative_to("include"))
        units.append((name, f"#include <{name}>\n" * 2 + "typedef int filch_unit_is_not_empty;\n"))
    if (args.root / USE_ALL).is_file():
        units.append((USE_ALL, check_use_all(args.root, errors)))
    else:
        errors.append(f"{USE_ALL} is missing")
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        jobs = [
            pool.submit(compile_text, args.root, way, *unit)
            for way in ways
            for unit in units
            if not unit[0].endswith(".hpp") or way[2] in HPP_STANDARDS
        ]
        errors += [job.result() for job in jobs if job.result()]
    if absent:
        print("left out, not installed: " + ", ".join(absent))
    ctext.finish("check_headers", errors, f"{len(units)} units, {len(ways)} compilers and standards")


if __name__ == "__main__":
    main()
