#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gate: the shared library exports exactly the functions that the public headers mark FILCH_API,
and the static one defines no global name outside filch_* and filchi_*."""

import pathlib
import re
import subprocess

import ctext
import headers


def symbols(library, *options):
    command = ["nm", *options, "--defined-only", "--format=posix", str(library)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^(\S+) ([A-Za-z]) [0-9a-f]+", text, re.MULTILINE)
    return {name.partition("@")[0] for name, kind in found if kind in "TDBRVWGSu"}


def main():
    args = ctext.parse_root(
        __doc__,
        (("shared",), {"type": pathlib.Path, "help": "libfilch.so"}),
        (("static",), {"type": pathlib.Path, "nargs": "?", "help": "libfilch.a"}),
    )
    errors = []
    exported, declared = symbols(args.shared, "-D"), headers.declared(args.root)
    for name in sorted(exported - declared):
        errors.append(f"{args.shared.name} exports {name}, which no public header declares")
    for name in sorted(declared - exported):
        errors.append(f"{args.shared.name} does not export {name}, which a public header declares")
    if args.static:
        for name in sorted(symbols(args.static, "-g")):
            if not re.match(r"filchi?_", name):
                errors.append(f"{args.static.name} defines {name}: neither filch_* nor filchi_*")
    ctext.finish("check_exports", errors, f"{len(exported)} functions")


if __name__ == "__main__":
    main()
