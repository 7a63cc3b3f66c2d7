#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gate: sizes a reader can take in: files of at most 600 lines, public headers of 350, functions
of 70 (from the first line of the signature to the closing brace). Prints medians as well."""

import ctext

FILE_LINES, HEADER_LINES, FUNCTION_LINES = 600, 350, 70
SUFFIXES = {".py", ".sh", ".cmake", ".go", ".java", ".rs"}  # of files whose functions are not looked at


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0


def main():
    args = ctext.parse_root(__doc__)
    errors, file_lines, function_lines = [], [], []
    paths = ctext.files(args.root, suffixes=ctext.C_SUFFIXES | SUFFIXES)
    for path in paths:
        text = (args.root / path).read_text(encoding="utf-8")
        lines = text.count("\n")
        file_lines.append(lines)
        limit = HEADER_LINES if path.parts[0] == "include" else FILE_LINES
        if lines > limit:
            errors.append(f"{path}: {lines} lines, limit {limit}: cut it by duty")
        if path.suffix not in ctext.C_SUFFIXES:
            continue
        for name, first, last, _, _ in ctext.CText(text).functions():
            function_lines.append(last - first + 1)
            if function_lines[-1] > FUNCTION_LINES:
                errors.append(
                    f"{path}:{first}: {name}() has {function_lines[-1]} lines, "
                    f"limit {FUNCTION_LINES}"
                )
    for what, values in (("files", file_lines), ("functions", function_lines)):
        print(
            f"{len(values)} {what}: lines median {percentile(values, 0.5)}, "
            f"p90 {percentile(values, 0.9)}, max {max(values, default=0)}"
        )
    ctext.finish("check_sizes", errors, "all within the limits")


if __name__ == "__main__":
    main()
