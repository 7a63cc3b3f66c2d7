#!/bin/sh
# SPDX-License-Identifier: MIT
# filch bench: all its own contestants on all workloads at the sizes for tests; the line protocol; and
# contestants that crash, hang, talk nonsense, are wrong, or cannot be started.
# Usage: check_bench.sh FILCH
set -eu

filch=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
peers=$folder/peers
mkdir "$peers"

fail() {
    echo "check_bench: $*" >&2
    exit 1
}

# field EXPRESSION: evaluate it over the JSON in $folder/out.
field() {
    python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
cells = {c["contestant"]: c for w in d["workloads"] for c in w["results"]}
print(eval(sys.argv[2]))' "$folder/out" "$1"
}

# bench CODE ARGUMENT...: output in $folder/out and $folder/err.
bench() {
    wanted=$1
    shift
    code=0
    "$filch" bench --workers 2 "$@" >"$folder/out" 2>"$folder/err" || code=$?
    [ "$code" -eq "$wanted" ] || fail "bench $*: exit code $code instead of $wanted: $(cat "$folder/err")"
}

# peer NAME: make the script on stdin a contestant. `answer` is what it says to a run.
peer() {
    {
        echo '#!/bin/sh'
        cat
    } >"$peers/$1"
    chmod +x "$peers/$1"
}

# cell NAME STATE NOTE: what became of a contestant, the note as a pattern.
cell() {
    [ "$(field "cells['$1']['state']")" = "$2" ] || fail "$1: $(field "cells['$1']")"
    field "cells['$1'].get('note')" | grep -q "$3" || fail "$1: $(field "cells['$1']")"
}

# Everything works, and everybody is compared with serial.
bench 0 --quick --contestants own
[ ! -s "$folder/err" ] || fail "something on stderr: $(cat "$folder/err")"
[ "$(field 'len(d["workloads"]), len(d["contestants"])')" = '(13, 11)' ] || fail "counts"
[ "$(field '{c["state"] for w in d["workloads"] for c in w["results"]}')" = "{'ran'}" ] || fail "states"
[ "$(field 'all(c["wall_ns"]["median"] > 0 and c["speed_up"] > 0 for c in cells.values())')" = True ] ||
    fail "figures"
[ "$(field 'd["machine"]["cpus_online"] > 0 and d["workers"] == 2')" = True ] || fail "machine"
bench 0 --quick --table fib=10 heat=16,2 --contestants filch
[ "$(grep -Ec '^(fib 10|heat 16 2): ' "$folder/out")" -eq 2 ] || fail "arguments"
grep -q 'filch is the only pool' "$folder/out" || fail "no sentence: $(cat "$folder/out")"
[ "$(awk 'length > 120' "$folder/out" | wc -l)" -eq 0 ] || fail "the table is too wide"

# The protocol, by hand.
printf 'hello\nrun\nrun nothing 1\nrun fib\nrun fib 99\nrun fib 10\nrun fib 11\nquit\nrun fib 10\n' |
    "$filch" bench --serve=filch 2 | sed 's/^ok [0-9]* [0-9]* /ok /' >"$folder/out"
printf 'ready\nerror\nerror\nnone\nerror\nerror\nok 55\nok 89\n' >"$folder/expected"
sed 's/^\(ready\|error\|none\) .*/\1/' "$folder/out" | cmp - "$folder/expected" ||
    fail "protocol: $(cat "$folder/out")"
printf 'run fib 10\n' | "$filch" bench --serve=serial 1 | grep -q '^ok .* 55$' || fail "end of input"
"$filch" bench --serve=filch 0 </dev/null >/dev/null 2>&1 && fail "no threads"
"$filch" bench --serve=nobody 1 </dev/null >/dev/null 2>&1 && fail "nobody"

# Contestants that misbehave. fib(10) is 55.
peer good <<'EOS'
echo "ready good in shell"
while read -r line; do
    [ "$line" = quit ] && exit 0
    echo 'ok 1000 1000 55'
done
EOS
peer crash <<'EOS'
echo "ready crash once it is asked"
read -r line
kill -SEGV $$
EOS
peer leave <<'EOS'
echo "ready leave politely"
read -r line
exit 3
EOS
peer hang <<'EOS'
echo "ready hang for ever"
while :; do read -r line; done
sleep 1000
EOS
peer deaf <<'EOS'
sleep 1000
EOS
peer nonsense <<'EOS'
echo "ready nonsense spoken here"
while read -r line; do echo 'ok -1 fast 55'; done
EOS
peer chatter <<'EOS'
echo "ready chatter"
while read -r line; do printf 'ok 1 1 55\nok 1 1 55\n'; done
EOS
peer long <<'EOS'
echo "ready long lines"
while read -r line; do yes | head -c 2000 | tr -d '\n'; done
EOS
peer wrong <<'EOS'
echo "ready wrong by one"
while read -r line; do echo 'ok 1000 1000 56'; done
EOS
peer none <<'EOS'
echo "ready none of it"
while read -r line; do echo 'none it has no forks'; done
EOS
peer error <<'EOS'
echo "ready error 1.0"
while read -r line; do echo 'error out of cheese'; done
EOS
peer unready <<'EOS'
echo "hello"
read -r line
EOS
echo 'not a program' >"$peers/data"
chmod +x "$peers/data"
echo 'a file' >"$peers/file"
bench 1 --quick --timeout 5 --peers "$peers" fib=10 --contestants peers
cell serial ran None
cell good ran None
cell crash broke 'crashed: Segmentation fault'
cell leave broke 'exit code 3'
cell hang broke 'no answer within 5 s'
cell nonsense broke "answered 'ok -1 fast 55'"
cell chatter broke 'more than one line'
cell long broke 'more than one line'
cell wrong wrong 'checksum 56 instead of 55'
cell none none 'it has no forks'
cell error broke "answered 'error out of cheese'"
skipped="{c['name']: c['skipped'] for c in d['contestants'] if 'skipped' in c}"
for who in deaf:'no answer' unready:"said 'hello'" data:'exit code 127' gomp:'not built' java:'not built'; do
    field "${skipped}['${who%%:*}']" | grep -q "${who#*:}" || fail "skipped: $(field "$skipped")"
done
[ "$(field "'file' in [c['name'] for c in d['contestants']]")" = False ] || fail "a file took part"
grep -q '^filch bench: fib 10: wrong: checksum 56 instead of 55' "$folder/err" || fail "wrong, and not said"
bench 0 --quick --peers "$peers" fib=10 --contestants filch,good,none
bench 0 --quick --peers "$peers" fib=10 --contestants gomp --table
grep -q '^skipped: gomp: not built' "$folder/out" || fail "skipped: $(cat "$folder/out")"

# Rounds, medians, and what is measured again: figures that are known before.
peer slow <<'EOS'
echo "ready slow by its own account"
while read -r line; do echo 'ok 2000000000 1 55'; done
EOS
peer noisy <<'EOS'
echo "ready noisy"
i=0
while read -r line; do
    i=$((i + 1))
    echo "ok $((i % 5 + 1))000 7 55"
done
EOS
bench 0 --quick --peers "$peers" fib=10 --contestants good,slow,noisy --rounds 5 --seconds 0
[ "$(field '[cells[n]["rounds"] for n in ("good", "slow", "noisy")]')" = '[5, 3, 5]' ] || fail "rounds"
[ "$(field '[cells[n]["wall_ns"]["median"] for n in ("good", "slow", "noisy")]')" = \
    '[1000.0, 2000000000.0, 3000.0]' ] || fail "medians"
[ "$(field 'round(cells["noisy"]["wall_ns"]["spread"], 3), cells["noisy"]["cpu_ns"]["median"]')" = \
    '(0.667, 7.0)' ] || fail "spread"
[ "$(field 'abs(cells["good"]["speed_up"] * 1000 / cells["serial"]["wall_ns"]["median"] - 1) < 1e-4')" = True ] ||
    fail "speed-up"
[ "$(field 'd["workloads"][0]["passes"]')" = 1 ] || fail "measured again without time for it"
bench 0 --quick --peers "$peers" fib=10 --contestants noisy --rounds 5 --seconds 100
[ "$(field 'd["workloads"][0]["passes"]')" = 3 ] || fail "noise was not measured again"

# Who is broken on one workload takes part in the next.
bench 1 --quick --peers "$peers" fib=10 fib=10 --contestants crash
[ "$(field '[c["note"] for w in d["workloads"] for c in w["results"] if c["contestant"] == "crash"]')" = \
    "['crashed: Segmentation fault', 'crashed: Segmentation fault']" ] || fail "not started anew"

# Whoever is not on turn is stopped, with all that it started.
for name in first second; do
    peer $name <<'EOS'
me=${0##*/}
sleep 1000 &
echo $$ $! >"${0%/*}/pids.$me"
echo "ready $me"
while read -r line; do
    [ "$line" = quit ] && { kill $!; exit 0; }
    state=ok
    for other in "${0%/*}"/pids.*; do
        [ "$other" = "${0%/*}/pids.$me" ] && continue
        for pid in $(cat "$other"); do
            grep -q '^State:[[:space:]]*T' "/proc/$pid/status" || state=error
        done
    done
    echo "$state 1000 1000 55"
done
EOS
done
bench 0 --quick --rounds 3 --peers "$peers" fib=10 --contestants first,second
# All of them end with the bench; only a moment later, since they are killed from outside. A zombie
# may stay, where nobody collects it.
cat "$peers"/pids.* | tr ' ' '\n' | while read -r pid; do
    while grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$pid/status"; do :; done
done

bench 2 fibs
bench 2 fib=
bench 2 fib=99
bench 2 uts=T7
bench 2 --contestants nobody
bench 2 --contestants ../good --peers "$peers"
bench 2 --rounds 0
bench 2 --rounds 100
bench 2 --timeout 0
bench 2 --workers 99999
echo "check_bench: ok"
