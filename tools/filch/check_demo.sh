#!/bin/sh
# SPDX-License-Identifier: MIT
# filch demo against the real tools: the sort against `LC_ALL=C sort`, the hash against sha256sum,
# on a small tree with everything that is awkward. And what it says when it cannot run.
# Usage: check_demo.sh FILCH
set -eu

filch=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tree=$folder/tree
small='--queens 12 --repeats 1 --workers 2'

fail() {
    echo "check_demo: $*" >&2
    exit 1
}

# field EXPRESSION: evaluate it over the JSON in $folder/out.
field() {
    python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$folder/out" "$1"
}

# demo CODE ARGUMENT...: output in $folder/out and $folder/err.
demo() {
    wanted=$1
    shift
    code=0
    # shellcheck disable=SC2086 # several options
    "$filch" demo $small "$@" >"$folder/out" 2>"$folder/err" || code=$?
    [ "$code" -eq "$wanted" ] || fail "demo $*: exit code $code instead of $wanted: $(cat "$folder/err")"
}

# One line of a directory's listing: KIND HASH NAME and a NUL.
listing_line() {
    printf '%s %s %s\000' "$1" "$(sha256sum <"$2" | cut -c1-64)" "$3"
}

make_tree() {
    mkdir -p "$tree/sub/deep" "$tree/none"
    printf 'b\n\na\nab\na' >"$tree/no_newline"
    : >"$tree/empty"
    printf 'text\n\000binary\n' >"$tree/binary"
    tr -d '\000' </dev/urandom | head -c 400000 >"$tree/sub/bytes"
    awk 'BEGIN { for (i = 0; i < 90000; i++) print "line", (i * 7919) % 30011 }' >"$tree/sub/lines"
    printf 'last' >"$tree/sub/deep/$(printf 'odd\n"name\\\377')"
    ln -s ../sub "$tree/sub/loop"
    ln -s nowhere "$tree/broken"
    mkfifo "$tree/pipe"
}

make_tree
demo 0 --save-sorted "$folder/sorted" "$tree"
[ ! -s "$folder/err" ] || fail "something on stderr: $(cat "$folder/err")"
[ "$(field 'd["ok"]')" = True ] || fail "not ok"
[ "$(field '[d["tree"][k] for k in ("files", "directories", "links", "broken_links", "skipped")]')" \
    = '[6, 4, 2, 1, 1]' ] || fail "wrong counts: $(field 'd["tree"]')"
[ "$(field 'set(c["verdict"] for j in d["jobs"] for c in j["contestants"])')" = "{'equal'}" ] ||
    fail "verdicts"
[ "$(field 'd["jobs"][2]["contestants"][3]["result"]')" = 14200 ] || fail "queens"

# The sort, as bytes and as the hash shown.
find "$tree" -type f ! -name binary -exec sh -c 'for f; do sed -e "\$a\\" "$f"; done' sh {} + |
    LC_ALL=C sort >"$folder/expected"
cmp "$folder/expected" "$folder/sorted" || fail "the sort differs from LC_ALL=C sort"
[ "$(sha256sum <"$folder/expected" | cut -c1-64)" = "$(field 'd["jobs"][1]["contestants"][0]["result"]')" ] ||
    fail "the hash of the sorted lines"

# The hash of a directory, by its definition.
mkdir "$folder/two" "$folder/two/sub"
printf 'one' >"$folder/two/a"
printf 'two' >"$folder/two/sub/b"
ln -s target "$folder/two/z"
listing_line f "$folder/two/sub/b" b >"$folder/sub.listing"
printf target >"$folder/target"
{
    listing_line f "$folder/two/a" a
    listing_line d "$folder/sub.listing" sub
    listing_line l "$folder/target" z
} >"$folder/listing"
demo 0 "$folder/two"
[ "$(sha256sum <"$folder/listing" | cut -c1-64)" = "$(field 'd["jobs"][0]["contestants"][3]["result"]')" ] ||
    fail "the hash of a directory"

# Nothing there, a limit, a link as PATH, a table, /proc.
demo 0 "$tree/none"
[ "$(field 'd["tree"]["files"], d["tree"]["text_lines"]')" = '(0, 0)' ] || fail "empty directory"
demo 0 --bytes 1K "$tree"
[ "$(field 'd["tree"]["complete"]')" = False ] || fail "the limit"
[ "$(field 'd["tree"]["bytes"] <= 1024')" = True ] || fail "more bytes than the limit"
ln -s tree "$folder/link"
demo 0 "$folder/link"
[ "$(field 'd["tree"]["files"]')" = 6 ] || fail "a link as PATH"
demo 0 --table "$tree"
[ "$(awk 'length > 80' "$folder/out" | grep -vc '^filch')" -eq 0 ] || fail "the table is too wide"
[ "$(grep -cw equal "$folder/out")" -eq 24 ] || fail "the table"
[ ! -d /proc/self ] || demo 0 /proc/self
[ ! -d /proc/self ] || [ "$(field 'd["jobs"][2]["contestants"][1]["verdict"]')" = equal ] || fail "/proc"

# A file that grows between listing and the last pass is no difference.
( while [ -e "$tree" ]; do echo more >>"$tree/log"; done ) 2>/dev/null &
writer=$!
sleep 0.1
demo 0 "$tree"
kill "$writer"
wait "$writer" 2>/dev/null || true
[ "$(field 'd["jobs"][0]["contestants"][3]["verdict"]')" = equal ] || fail "a growing file"

# Pools of several sizes, without a quota of its own and, as root, with one.
sizes() {
    code=0
    "$filch" demo --sizes "$@" >"$folder/out" 2>"$folder/err" || code=$?
}
sizes 1,2 --repeats 1
[ "$code" -eq 0 ] || fail "--sizes: exit code $code: $(cat "$folder/err")"
[ "$(field '[s["workers"] for s in d["sizes"]], all(s["tasks_per_s"] > 0 and
    s["requests"] == 500 * s["rounds"] and s["p50_ns"] <= s["p99_ns"] <= s["longest_ns"]
    for s in d["sizes"])')" = '([1, 2], True)' ] || fail "--sizes: $(cat "$folder/out")"
[ "$(field 'd["sentence"].startswith("The default here is %d worker" % d["default"])')" = True ] ||
    fail "--sizes: no sentence"
quota=$(field 'd["quota"]')
sizes 1,2 --repeats 1 --quota 0.5
if [ "$code" -eq 0 ]; then
    [ "$(field 'd["quota"], d["default"], d["sizes"][1]["throttled"] > 0')" = '(0.5, 1, True)' ] ||
        fail "--quota: $(cat "$folder/out")"
    left=$(find /sys/fs/cgroup -maxdepth 2 -name "filch-demo-*")
    [ -z "$left" ] || fail "--quota: it leaves $left"
elif [ "$quota" != None ]; then
    grep -q 'there is a quota already' "$folder/err" || fail "--quota in a quota: $(cat "$folder/err")"
else
    grep -q 'cannot make a cgroup' "$folder/err" || fail "--quota: $(cat "$folder/err")"
    echo "check_demo: --quota not judged: $(cat "$folder/err")"
fi
for wrong in '--sizes 0' '--sizes 1,' '--sizes 1,x' '--sizes 257' '--sizes 1 --quota 0' \
    '--sizes 1 --quota 1.' '--sizes 1 --quota 1.2345' '--sizes 1 --quota -1' '--quota 1' \
    '--sizes 1 /tmp'; do
    code=0
    # shellcheck disable=SC2086 # options
    "$filch" demo $wrong >"$folder/out" 2>"$folder/err" || code=$?
    [ "$code" -eq 2 ] || fail "demo $wrong: exit code $code"
done

demo 2 "$folder/missing"
grep -q "^filch demo: cannot read '.*missing': No such file" "$folder/err" || fail "message"
demo 2 "$tree/binary"
demo 2 ''
demo 2 one two
demo 2 --bytes 0 "$tree"
demo 2 --bytes 1X "$tree"
demo 2 --save-sorted /nonexistent/x "$tree"
echo "check_demo: ok"
