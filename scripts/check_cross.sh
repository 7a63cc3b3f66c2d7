#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check_cross.sh [<processor>...]: builds the library and its tests for aarch64 and riscv64, and runs
# the unit, property, fault and stress tests, scaled down, under qemu-user. A check of portability:
# qemu runs on this machine's memory model, so it says nothing about weaker ones. A processor without
# compiler or emulator here is named as not judged; exit 77 if that is all of them.
set -euo pipefail
cd "$(dirname "$0")/.."

export FILCH_TEST_SCALE=${FILCH_TEST_SCALE:-0.01}
export FILCH_TEST_SLOW=20
processors=("$@")
if [ "$#" -eq 0 ]; then
    processors=(aarch64 riscv64)
fi
judged=()
for processor in "${processors[@]}"; do
    missing=()
    for tool in "$processor-linux-gnu-gcc" "qemu-$processor"; do
        if ! command -v "$tool" >/dev/null; then
            missing+=("$tool")
        fi
    done
    if [ "${#missing[@]}" -ne 0 ]; then
        echo "check_cross: $processor not judged, there is no ${missing[*]}"
        continue
    fi
    scripts/build.sh "$processor"
    # test_share: the emulator does not survive threads in a child of fork()
    ctest --test-dir "build/$processor" -L 'fast|stress' -E '^test_share$' --output-on-failure --no-tests=error \
        --no-label-summary -j "$(nproc)"
    judged+=("$processor")
done
if [ "${#judged[@]}" -eq 0 ]; then
    exit 77
fi
echo "check_cross: ok, ${judged[*]}"
