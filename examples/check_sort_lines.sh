#!/bin/sh
# SPDX-License-Identifier: MIT
# Compare the example sort_lines with the real `LC_ALL=C sort`, byte by byte: random bytes, long
# and empty lines, lines that begin alike, no newline at the end, no line at all.
# Usage: check_sort_lines.sh PROGRAM
set -eu

program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/in"

head -c 3000000 /dev/urandom >"$folder/in/random"
: >"$folder/in/empty"
printf 'b\n\na\nab\na' >"$folder/in/no_newline"
printf '\n\n\n' >"$folder/in/blank"
awk 'BEGIN {
    srand(7)
    for (i = 0; i < 60000; i++) print "line " int(rand() * 9000), substr("xxxxxxxxxxxx", 1, i % 12)
}' >"$folder/in/alike"

for input in "$folder"/in/*; do
    LC_ALL=C sort "$input" >"$folder/expected"
    "$program" "$input" >"$folder/from_file"
    "$program" <"$input" >"$folder/from_stdin"
    cmp "$folder/expected" "$folder/from_file"
    cmp "$folder/expected" "$folder/from_stdin"
done
echo "sort_lines: equal to LC_ALL=C sort on 5 inputs"
