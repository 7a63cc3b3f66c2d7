#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Gate: all C and C++ files are laid out as .clang-format says, by clang-format 14; --write lays
# them out. --root <dir> looks at another tree. Exit 77: no clang-format of that version here.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
write=no
while [ $# -gt 0 ]; do
    case $1 in
        --write) write=yes ;;
        --root) root=$2 && shift ;;
        *) echo "usage: check_format.sh [--write] [--root <dir>]" >&2 && exit 2 ;;
    esac
    shift
done

tool=
for candidate in clang-format-14 clang-format; do
    if "$candidate" --version 2>/dev/null | grep -q ' version 14\.'; then
        tool=$candidate
        break
    fi
done
if [ -z "$tool" ]; then
    echo "check_format: not judged, there is no clang-format 14 (other versions differ)"
    exit 77
fi

cd "$root"
folders=()
for folder in include src tools examples bench tests ext; do
    if [ -d "$folder" ]; then
        folders+=("$folder")
    fi
done
if [ "${#folders[@]}" -eq 0 ]; then
    echo "check_format: ok, 0 files"
    exit 0
fi
mapfile -d '' -t files < <(find "${folders[@]}" -type f \
    '(' -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.hpp' ')' -print0 | sort -z)
if [ "${#files[@]}" -eq 0 ]; then
    echo "check_format: ok, 0 files"
elif [ "$write" = yes ]; then
    "$tool" -i --style=file "${files[@]}"
elif "$tool" --dry-run -Werror --style=file --ferror-limit=3 "${files[@]}"; then
    echo "check_format: ok, ${#files[@]} files"
else
    echo "check_format: FAILED; \`make format\` lays the files out"
    exit 1
fi
