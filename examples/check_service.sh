#!/bin/sh
# SPDX-License-Identifier: MIT
# The example service prints what its guide says: the blocks marked `text`, one after the other.
# Usage: check_service.sh PROGRAM GUIDE
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
awk '/^```/ { inside = $0 == "```text"; next } inside' "$2" >"$folder/said"
"$1" >"$folder/printed"
diff -u "$folder/said" "$folder/printed"
