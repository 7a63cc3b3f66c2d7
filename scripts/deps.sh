#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# deps.sh [<list>]: installs the packages of scripts/packages.txt, or of another list beside it, that
# are missing (Debian and its children). Says what it installs; asks on a terminal unless root.
# DEPS=no: does nothing. Elsewhere it prints the list and lets the caller go on.
set -euo pipefail
cd "$(dirname "$0")"
list=${1:-packages.txt}
if [ ! -f "$list" ]; then
    echo "deps: there is no list scripts/$list" >&2
    exit 2
fi

if [ "${DEPS:-}" = no ]; then
    exit 0
fi

packages=()
while read -r name _; do
    case $name in
        '' | '#'*) ;;
        *) packages+=("$name") ;;
    esac
done <"$list"

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "deps: this is not Debian; what is needed is what these packages hold: ${packages[*]}" >&2
    exit 0
fi

missing=()
for name in "${packages[@]}"; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null || true)
    if [ "$status" != installed ]; then
        missing+=("$name")
    fi
done
if [ "${#missing[@]}" -eq 0 ]; then
    exit 0
fi

echo "deps: installing from Debian: ${missing[*]}" >&2
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "deps: neither root nor sudo: install them yourself, or go on with DEPS=no" >&2
        exit 1
    fi
    if [ -t 0 ]; then
        read -r -p "deps: go on with sudo? [Y/n] " answer
        case $answer in
            '' | [yY]*) ;;
            *)
                echo "deps: not installed; DEPS=no goes on without" >&2
                exit 1
                ;;
        esac
    fi
    as_root=(sudo)
fi
as_root+=(env DEBIAN_FRONTEND=noninteractive)
"${as_root[@]}" apt-get update -qq </dev/null
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null
