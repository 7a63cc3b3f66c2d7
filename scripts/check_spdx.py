#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gate: the first line of every source file (the second, after #!) is its SPDX line."""

import pathlib

import ctext

LINE = "SPDX-License-Identifier: MIT"
SLASHES = {".go", ".java", ".rs"}
SUFFIXES = ctext.C_SUFFIXES | SLASHES | {".sh", ".py", ".cmake", ".in"}
MORE = ["Makefile", "CMakeLists.txt", ".ci/run"]


def expected(path):
    if path.suffix in SLASHES:
        return f"// {LINE}"
    return f"/* {LINE} */" if path.suffix in ctext.C_SUFFIXES else f"# {LINE}"


def main():
    args = ctext.parse_root(__doc__)
    paths = ctext.files(args.root, suffixes=SUFFIXES)
    paths += [p for p in ctext.files(args.root, suffixes={".txt"}) if p.name == "CMakeLists.txt"]
    paths += [pathlib.Path(name) for name in MORE if (args.root / name).is_file()]
    paths = [path for path in paths if not path.name.endswith(".pc.in")]
    errors = []
    for path in paths:
        lines = (args.root / path).read_text(encoding="utf-8").split("\n")
        if lines[0].startswith("#!"):
            lines.pop(0)
        if not lines or lines[0] != expected(path):
            errors.append(f"{path}: its first line is not {expected(path)!r}")
    ctext.finish("check_spdx", errors, f"{len(paths)} files")


if __name__ == "__main__":
    main()
