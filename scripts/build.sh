#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# build.sh <preset> [<target>]: configures build/<preset> if that has not been done, and builds it,
# or one target of it. Quiet unless something is built.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:?usage: build.sh <preset>}

for tool in cmake ninja; do
    if ! command -v "$tool" >/dev/null; then
        echo "build: $tool is missing; \`make deps\` installs what Filch needs" >&2
        exit 1
    fi
done
if [ ! -f "build/$preset/build.ninja" ]; then
    mkdir -p build
    log=build/$preset.log
    cmake --preset "$preset" >"$log" 2>&1 || {
        cat "$log" >&2
        exit 1
    }
    grep '^filch:' "$log" >&2 || true
fi
cmake --build "build/$preset" ${2:+--target "$2"}
