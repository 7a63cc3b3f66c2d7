#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# consumer.sh <package|pkgconfig|subdirectory> <build folder> <version>: builds and runs
# tests/api/consumer the way a user of Filch would. Installed files are moved before they are used:
# the package must be relocatable.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
way=$1 build=$2 version=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

stage() { # installs with DESTDIR, and moves it
    DESTDIR=$work/stage cmake --install "$build" --prefix /first/place >/dev/null
    mv "$work/stage/first/place" "$work/moved"
    if [ -n "$(find "$work/stage" -type f)" ]; then
        echo "installed outside DESTDIR and prefix:" && find "$work/stage" -type f
        exit 1
    fi
}

build_and_test() { # <cmake arguments>
    if ! { cmake -S "$here/consumer" -B "$work/build" -G Ninja "$@" &&
        cmake --build "$work/build"; } >"$work/log" 2>&1; then
        cat "$work/log"
        exit 1
    fi
    ctest --test-dir "$work/build" --output-on-failure
}

case $way in
    package)
        stage
        build_and_test "-DCMAKE_PREFIX_PATH=$work/moved"
        ;;
    subdirectory)
        build_and_test "-DFILCH_SOURCE=$(cd "$here/../.." && pwd)" "-DFILCH_VERSION=$version"
        DESTDIR=$work/stage cmake --install "$work/build" >/dev/null
        if [ -d "$work/stage" ]; then
            echo "an embedded Filch must install nothing:" && find "$work/stage" -type f
            exit 1
        fi
        ;;
    pkgconfig)
        stage
        pc=$(dirname "$(find "$work/moved" -name filch.pc)")
        export PKG_CONFIG_PATH=$pc
        [ "$(pkg-config --modversion filch)" = "$version" ]
        libdir=$(pkg-config --variable=libdir filch)
        define=-DEXPECTED_VERSION=\"$version\"
        # shellcheck disable=SC2046
        cc "$define" "$here/consumer/app.c" -o "$work/shared" $(pkg-config --cflags --libs filch)
        LD_LIBRARY_PATH=$libdir "$work/shared"
        # shellcheck disable=SC2046
        cc "$define" "$here/consumer/app.c" -o "$work/static" \
            $(pkg-config --cflags filch) "$libdir/libfilch.a" -pthread
        "$work/static"
        ;;
    *)
        echo "usage: consumer.sh package|pkgconfig|subdirectory <build folder> <version>" >&2
        exit 2
        ;;
esac
