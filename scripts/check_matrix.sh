#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Gate: the library compiles without a warning as strict C11 at every optimisation level, with
# link-time optimisation, statically, with 32 bits, with musl, with every feature switch on and off;
# and a small program over all of it (tests/api/life.c) works in each of these builds. What the
# machine cannot build (no multilib, no musl) is named as not judged.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

strict=(-std=c11 -pedantic-errors -Wall -Wextra -Wconversion -Wshadow -Wundef -Werror
        -I"$root/src" -I"$root/include" -pthread)
mapfile -t sources < <(find "$root/src" -name '*.c' ! -name 'park_*.c' ! -path '*/plat/*' | sort)
mapfile -t platform < <(find "$root/src/plat" -name '*.c' ! -name 'park_*.c' | sort)
# Every atomic access sequentially consistent.
seq_cst=(-Wno-builtin-macro-redefined)
for order in RELAXED ACQUIRE RELEASE ACQ_REL; do
    seq_cst+=("-U__ATOMIC_$order" "-D__ATOMIC_$order=__ATOMIC_SEQ_CST")
done
built=0

build() { # <name> <park file> <compiler> <flags>
    local name=$1 park=$2 compiler=$3
    shift 3
    echo "  $name: $compiler $*"
    # The platform room alone sees more than C11; one command each, so that LTO sees all of it.
    (cd "$work" && mkdir -p "$name" && cd "$name" &&
        "$compiler" "${strict[@]}" "$@" -c "${sources[@]}" &&
        "$compiler" "${strict[@]}" -D_GNU_SOURCE "$@" -c "${platform[@]}" \
            "$root/src/plat/park_$park.c" "$root/tests/api/life.c" &&
        "$compiler" "$@" -pthread ./*.o -o life && ./life)
    rm -rf "${work:?}/$name"
    built=$((built + 1))
}

works() { # <compiler> <flags>: can it build and run anything?
    echo 'int main(void) { return 0; }' >"$work/probe.c"
    "$@" "$work/probe.c" -o "$work/probe" 2>/dev/null && "$work/probe"
}

half() { # <compiler>: its part of the matrix
    local compiler=$1
    for level in -O0 -O1 -O2 -O3 -Os; do
        build "$compiler$level" linux "$compiler" "$level"
    done
    build "$compiler-ubsan" linux "$compiler" -O1 -fsanitize=undefined -fno-sanitize-recover=all
    build "$compiler-debug" linux "$compiler" -O2 -DFILCH_DEBUG
    build "$compiler-hooks" linux "$compiler" -O2 -DFILCHI_HOOKS=1
    build "$compiler-condvar" posix "$compiler" -O2
    # A failure that is gone in this build is a matter of memory order.
    build "$compiler-seq-cst" linux "$compiler" -O2 "${seq_cst[@]}"
    build "$compiler-static" linux "$compiler" -O2 -static
}

half gcc >"$work/gcc.log" 2>&1 &
gcc_half=$!
half clang >"$work/clang.log" 2>&1 &
clang_half=$!
failed=0
wait "$gcc_half" || failed=1
wait "$clang_half" || failed=1
cat "$work/gcc.log" "$work/clang.log"
[ "$failed" = 0 ] || { echo "check_matrix: FAILED"; exit 1; }
built=22

build gcc-lto linux gcc -O2 -flto=auto
# The kernel's headers lie in the folder of the 64-bit processor.
kernel=(-idirafter "/usr/include/$(gcc -print-multiarch)")
if works gcc -m32 "${kernel[@]}"; then
    build gcc-m32 linux gcc -O2 -m32 "${kernel[@]}"
else
    echo "check_matrix: 32 bits not judged, gcc -m32 cannot link here"
fi
if command -v musl-gcc >/dev/null; then
    # and outside musl's own
    build musl linux musl-gcc -O2 -static -idirafter /usr/include "${kernel[@]}"
else
    echo "check_matrix: musl not judged, there is no musl-gcc"
fi
echo "check_matrix: ok, $built builds"
