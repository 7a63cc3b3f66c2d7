#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Gate: shellcheck finds nothing in the shell scripts. --root <dir> looks at another tree.
# Exit 77: there is no shellcheck here.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
if [ "${1:-}" = --root ]; then
    root=$2
fi
if ! command -v shellcheck >/dev/null; then
    echo "check_shell: not judged, there is no shellcheck"
    exit 77
fi
cd "$root"
mapfile -d '' -t files < <(find . -path ./build -prune -o -type f \
    '(' -name '*.sh' -o -path ./.ci/run ')' -print0 | sort -z)
if [ "${#files[@]}" -gt 0 ] && ! shellcheck "${files[@]}"; then
    echo "check_shell: FAILED"
    exit 1
fi
echo "check_shell: ok, ${#files[@]} files"
