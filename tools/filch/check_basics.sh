#!/bin/sh
# SPDX-License-Identifier: MIT
# What every user meets first: help, version, exit codes, messages, JSON, a full disk.
# Usage: check_basics.sh FILCH
set -eu

filch=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "check_basics: $*" >&2
    exit 1
}

# expect CODE ARGUMENT...: run filch; output in $folder/out and $folder/err.
expect() {
    wanted=$1
    shift
    code=0
    "$filch" "$@" >"$folder/out" 2>"$folder/err" || code=$?
    [ "$code" -eq "$wanted" ] || fail "filch $*: exit code $code instead of $wanted"
    if [ "$wanted" -eq 2 ]; then
        head -n 1 "$folder/err" | grep -q '^filch[ a-z]*: ' || fail "filch $*: no message"
        [ ! -s "$folder/out" ] || fail "filch $*: output beside an error"
    else
        [ ! -s "$folder/err" ] || fail "filch $*: something on stderr"
    fi
}

for command in '' demo bench stats cpus; do
    if [ "$command" = demo ] && "$filch" demo --help 2>&1 | grep -q 'left out'; then
        continue
    fi
    # shellcheck disable=SC2086 # an empty command is no argument
    expect 0 $command --help
    grep -q '^Usage: filch' "$folder/out" || fail "$command --help: no usage"
    [ "$(awk 'length > 100' "$folder/out" | wc -l)" -eq 0 ] || fail "$command --help: too wide"
    # shellcheck disable=SC2086
    expect 2 $command --nonsense
done
expect 0 --version
grep -Eq '^filch [0-9]+\.[0-9]+\.[0-9]+$' "$folder/out" || fail "--version"
expect 2
expect 2 nonsense
expect 2 stats --workers
expect 2 stats --workers 0
expect 2 stats --workers 4097
expect 2 stats --workers 18446744073709551617
expect 2 stats -w ' 2'
expect 2 stats extra
expect 2 cpus extra
expect 2 cpus --wait-ms 1
expect 2 cpus --wait-ms 1 --compute-ms -1
expect 2 cpus --wait-ms 0 --compute-ms 0.0
expect 2 cpus --wait-ms 1. --compute-ms 1
expect 2 cpus --wait-ms 1.0000001 --compute-ms 1
expect 2 cpus --io-limit 0
expect 2 cpus --io-limit 4097
expect 2 cpus --count --json
expect 2 cpus --io
expect 2 cpus --env --io
expect 2 cpus --root /no/such/folder

expect 0 cpus
python3 -c '
import json, os, sys
found = json.load(sys.stdin)
assert found["allowed"] == len(os.sched_getaffinity(0)), found' <"$folder/out" || fail "cpus"
expect 0 cpus --table
grep -q 'CPU-bound work' "$folder/out" || fail "cpus: no size"

for workers in 1 2 5; do
    expect 0 stats --lengths --workers "$workers"
    python3 -c '
import json, sys
s = json.load(sys.stdin)
workers = int(sys.argv[1])
assert s["workers"] <= workers and s["workers_asked"] == workers
assert len(s["per_worker"]) == s["workers"]
assert s["accepted"] == s["total"]["tasks_run"] + s["total"]["tasks_cancelled"]
for name, total in s["total"].items():
    assert total == sum(one[name] for one in s["per_worker"]), name
times = ["busy_ns", "searching_ns", "parked_ns"]
for one in s["per_worker"]:
    assert sum(one[name] for name in times) == s["wall_ns"], one
assert 0 < s["utilisation"] <= 1
assert s["throttling"] is None or s["throttling"]["throttled"] <= s["throttling"]["periods"]
lengths = s["lengths"]
assert lengths["tasks"] == sum(s["total"][n] for n in ["tasks_run", "forks_stolen", "loops_joined"])
assert lengths["tasks"] == sum(bucket["tasks"] for bucket in lengths["histogram"])
assert 0 < lengths["sum_ns"] <= s["total"]["busy_ns"]
assert s["results_right"] and s["adds_up"]' "$workers" <"$folder/out" || fail "stats of $workers"
done
expect 0 stats --table --workers 40
grep -q '^accepted .*: yes$' "$folder/out" || fail "stats --table"
grep -q 'longest' "$folder/out" && fail "stats --table: lengths that nobody asked for"
expect 0 stats --table --lengths --workers 40
[ "$(grep -c 'longest' "$folder/out")" -eq 1 ] || fail "stats --lengths"
[ "$(awk '{ print length }' "$folder/out" | sort -n | tail -n 1)" -le 80 ] || fail "stats: too wide"

if [ -w /dev/full ]; then
    code=0
    "$filch" cpus >/dev/full 2>"$folder/err" || code=$?
    [ "$code" -eq 2 ] || fail "a full disk gives exit code $code"
fi
echo "check_basics: ok"
