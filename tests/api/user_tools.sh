#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# user_tools.sh tsan <compiler> | memcheck: what a user's own tool says about tsan_user.c.
#   tsan      library and program under -fsanitize=thread, no suppressions, -Werror (which asks gcc
#             for fences it cannot see): the right program gives no report, each mistake one
#   memcheck  valgrind: no error, nothing lost, nothing left
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mapfile -t sources < <(find "$root/src" -name '*.c' ! -name park_posix.c | sort)

skip() {
    echo "skipped: $1" >&2
    exit 77
}

fail() { # <why> <file with the output>
    echo "FAILED: $1" >&2
    head -60 "$2" >&2
    exit 1
}

build() { # <compiler> <flags>
    "$@" -g -O1 -Wall -Wextra -Werror -D_GNU_SOURCE -I"$root/include" -I"$root/src" -pthread \
        "$here/tsan_user.c" "${sources[@]}" -o "$work/user"
}

tsan() { # <compiler>
    command -v "$1" >/dev/null || skip "$1 is missing"
    echo 'int main(void) { return 0; }' >"$work/probe.c"
    { "$1" -fsanitize=thread "$work/probe.c" -o "$work/probe" && "$work/probe"; } 2>/dev/null ||
        skip "$1 has no working -fsanitize=thread"
    build "$1" -fsanitize=thread
    "$work/user" >"$work/right" 2>&1 || fail "the right program" "$work/right"
    for mistake in fork scope loop post; do
        "$work/user" "$mistake" >"$work/wrong" 2>&1 || true
        grep -q 'WARNING: ThreadSanitizer: data race' "$work/wrong" ||
            fail "a mistake was not seen: $mistake" "$work/wrong"
    done
    echo "$1: no report for the right program, one for each mistake"
}

memcheck() {
    command -v valgrind >/dev/null || skip "valgrind is missing"
    build gcc
    valgrind --leak-check=full --show-leak-kinds=all --errors-for-leak-kinds=all \
        --error-exitcode=9 "$work/user" >"$work/log" 2>&1 || fail "memcheck" "$work/log"
    grep -q 'no leaks are possible' "$work/log" || fail "blocks are left" "$work/log"
    echo "memcheck: no error, no block left"
}

case "${1:-}" in
tsan) tsan "${2:?which compiler}" ;;
memcheck) memcheck ;;
*) echo "usage: user_tools.sh tsan <compiler> | memcheck" >&2 && exit 2 ;;
esac
