#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Everything that must hold before a change goes in: builds with both compilers and the sanitizers,
# gates, tests, coverage, memcheck, another processor, stress if asked for (STRESS_MINUTES=3), and
# a sixth of the mutants. Stops at the first failure. Tests of the release build come last, so that ctest's
# closing summary ends the output. docs/testing.md says which test runs where.
set -Eeuo pipefail
cd "$(dirname "$0")/.."

jobs=$(nproc)
prefix=()
stage="start"
began=$SECONDS
stage_began=$SECONDS

begin() { # <name of the stage> <seconds it takes on two quiet cores, with its build>
    if [ "$stage" != start ]; then
        echo "== $stage: $((SECONDS - stage_began)) s"
    fi
    stage=$1
    stage_began=$SECONDS
    echo "== $stage (about $2 s on two cores)"
}

optional() { # a check that says so when this machine cannot do it (exit code 77)
    local code=0
    "$@" || code=$?
    if [ "$code" -ne 0 ] && [ "$code" -ne 77 ]; then
        return "$code"
    fi
}

failed() {
    echo "== check: FAILED in stage \"$stage\" after $((SECONDS - began)) s" >&2
}
trap failed ERR

tests() { # <preset> <ctest arguments>
    local preset=$1
    shift
    "${prefix[@]}" ctest --test-dir "build/$preset" --output-on-failure --no-tests=error --no-label-summary \
        -j "$jobs" "$@"
}

# Sanitizers: any report fails the test; there are no suppressions. What the environment asks for is
# not mixed in.
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1

# With fewer rounds of the stress tests; `make stress` runs them at length, with PRESET=tsan as well.
scaled() { # <preset> <ctest arguments>
    FILCH_TEST_SCALE=0.3 tests "$@"
}

# They take half a minute each under a sanitizer and reach nothing that other tests do not.
whole_programs='^(cli_bench|cli_demo|test_uts)$'

begin "release (gcc): build, gates and fast tests" 170
scripts/build.sh release
tests release -L 'gate|fast'

begin "release (clang): build and fast tests" 140
scripts/build.sh release-clang
tests release-clang -L fast

# Its children allocate, and the run time's allocator may be locked for ever by a thread that a child
# does not have.
forks_with_threads='^test_process_fork$'

# The same tests with another way to park: the thread sanitizer's, as those with random delays.
variants='_(condvar|hooks)$'

begin "address and undefined-behaviour sanitizers (gcc)" 200
scripts/build.sh asan
scaled asan -E "$whole_programs|$forks_with_threads|$variants"

# Nothing for it to see.
one_thread='^(test_cpus|test_hwloc|fuzz_.*)$'

begin "thread sanitizer (clang)" 270
scripts/build.sh tsan
# Where the kernel randomises more address bits than clang's run time knows, it must not at all.
prefix=()
if setarch -R true 2>/dev/null; then
    prefix=(setarch -R)
fi
scaled tsan -E "$whole_programs|$one_thread"
prefix=()

begin "coverage of src/" 150
scripts/build.sh coverage
optional scripts/coverage.py build/coverage

begin "memcheck of the fast tests" 100
optional scripts/valgrind.py --fast build/release

begin "aarch64 under qemu" 120
optional scripts/check_cross.sh aarch64

if [ "${STRESS_MINUTES:-0}" -gt 0 ]; then
    begin "stress with delays" "$((60 * STRESS_MINUTES))"
    scripts/stress.py --minutes "$STRESS_MINUTES" build/release
fi

# Each sixth of them; `make mutants` takes all, some four minutes.
begin "mutants" 50
scripts/mutants.py --every 6 build/release

begin "release (gcc): stress" 70
scaled release -L stress

begin "release (gcc): every other test" 320
echo "== all stages before this one: $((SECONDS - began)) s"
tests release -LE 'gate|fast|stress' -E '^check_matrix$'
