#!/bin/sh
# SPDX-License-Identifier: MIT
# filch cpus: agrees with nproc and hwloc where these know better, on this machine and with fewer
# CPUs; --count, --env and --json say the same; fake trees and variables.
# Usage: check_cpus.sh FILCH TEST_CPUS TREES
set -eu

filch=$1
test_cpus=$2
trees=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset FILCH_WORKERS OMP_NUM_THREADS OMP_THREAD_LIMIT

fail() {
    echo "check_cpus: $*" >&2
    exit 1
}

field() { # <name> < JSON, as the command indents it; python3 takes a second on a busy machine
    sed -n "s/^  \"$1\": \(.*\)\$/\1/p" | sed 's/,$//'
}

# agree WHERE [COMMAND...]: with COMMAND in front, such as taskset.
agree() {
    where=$1
    shift
    "$@" "$filch" cpus --json >"$folder/json"
    allowed=$(field allowed <"$folder/json")
    logical=$(field logical <"$folder/json")
    # nproc of coreutils 9.8 and later knows quotas, and rounds them differently
    theirs=$("$@" nproc)
    if [ "$(field quota <"$folder/json")" = null ] && [ "$theirs" -ne "$allowed" ]; then
        fail "$where: $allowed CPUs, nproc says $theirs"
    fi
    [ "$logical" -le "$allowed" ] || fail "$where: more logical CPUs than allowed"
    if command -v hwloc-calc >/dev/null; then
        mask=$("$@" hwloc-bind --get)
        theirs=$(hwloc-calc -N core "$mask")
        cores=$(field cores <"$folder/json")
        if [ "$cores" != null ] && [ "$theirs" -ne "$cores" ]; then
            fail "$where: $cores cores, hwloc says $theirs"
        fi
        theirs=$(hwloc-calc -N pu "$mask")
        [ "$theirs" -eq "$allowed" ] || fail "$where: $allowed CPUs, hwloc says $theirs"
        echo "$where: $allowed CPUs, $cores cores; nproc and hwloc agree"
    else
        echo "$where: $allowed CPUs; nproc agrees; hwloc is not installed, so it was not asked"
    fi
}

agree "this machine" env
first=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
agree "CPU $first only" taskset -c "$first"

"$filch" cpus --json >"$folder/json"
[ "$("$filch" cpus --count)" -eq "$(field cpu_bound <"$folder/json")" ] || fail "--count"
[ "$("$filch" cpus -c --logical)" -eq "$(field logical <"$folder/json")" ] || fail "--logical"
[ "$("$filch" cpus -c --io)" -eq "$(field io_bound <"$folder/json")" ] || fail "--io"
# shellcheck disable=SC2046,SC2016 # one word a setting; the inner shell has the variables
env $("$filch" cpus --env) sh -c '[ "$OMP_NUM_THREADS" = "$GOMAXPROCS" ] &&
    [ "$OPENBLAS_NUM_THREADS" = "$FILCH_WORKERS" ] && [ "$UV_THREADPOOL_SIZE" -ge 1 ]' ||
    fail "--env"
[ "$(OMP_NUM_THREADS=$("$filch" cpus -c) nproc)" -eq "$("$filch" cpus -c)" ] || fail "OMP in nproc"

[ "$(FILCH_WORKERS=3 "$filch" cpus -c)" -eq 3 ] || fail "FILCH_WORKERS"
[ "$(FILCH_WORKERS=x "$filch" cpus -c)" -eq "$("$filch" cpus -c)" ] || fail "FILCH_WORKERS=x"
FILCH_WORKERS=x "$filch" cpus -t | grep -q '^ignored .*FILCH_WORKERS=x' || fail "silence on x"
[ "$(MY_LIMIT=1000m "$filch" cpus -c --limits OTHER,MY_LIMIT)" -eq 1 ] || fail "--limits"
workers=$(FILCH_WORKERS=3 "$filch" stats --json | field workers_asked)
[ "$workers" -eq 3 ] || fail "a pool of $workers with FILCH_WORKERS=3"

# with TREE COUNT [OPTION...]: what the fake tree gives.
with() {
    mkdir "$folder/$1"
    "$test_cpus" --unpack "$trees/$1.tree" "$folder/$1"
    tree=$1
    wanted=$2
    shift 2
    found=$(FILCH_WORKERS=99 "$filch" cpus --root "$folder/$tree" -c "$@")
    [ "$found" -eq "$wanted" ] || fail "$tree $*: $found, not $wanted"
}
with docker-v2-cpus6 6
with v2-half 1
with topo-alder-lake 14
with topo-epyc-7451 96 --logical
with topo-power7 76 --io --wait-ms 9 --compute-ms 0.5
with v2-two-of-16 30 --io --wait-ms 99 --compute-ms 1 --io-limit 30
"$filch" cpus -t --root "$folder/v2-half" | grep -q 'throttling cannot be avoided' ||
    fail "v2-half: nothing about throttling"
"$filch" cpus -j --root "$folder/docker-v2-cpus6" | python3 -c '
import json, sys
found = json.load(sys.stdin)
assert found["quota"]["file"] == "/sys/fs/cgroup/cpu.max" and found["quota"]["cpus"] == 6, found
assert found["cores"] is None and found["source"] == "quota" and found["affinity"] is None, found'
