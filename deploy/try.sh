#!/bin/sh
# Set up in .venv, scan, and print a report: sh deploy/try.sh [PATH]
# Without PATH it scans the C sources of psutil, fetched as a source package.
set -eu
. "$(dirname -- "$0")/venv.sh"
make_venv requirements.lock

any_pip() { # pip's arguments
    for python in "$(find_python)" "$venv/bin/python"; do
        if (cd "$root" && "$python" -P -m pip --version) >/dev/null 2>&1; then
            (cd "$root" && "$python" -P -m pip --disable-pip-version-check "$@")
            return
        fi
    done
    cd "$root" && uv run -q --no-config --no-project --with pip python -P -m pip --disable-pip-version-check "$@"
}

if [ $# -gt 0 ]; then
    path=$1
else
    path="$venv/sample"
    if [ ! -d "$path" ]; then
        say "fetching the sources of psutil, to have something to scan"
        fetched=$(mktemp -d)
        trap 'rm -rf "$fetched"' EXIT
        any_pip download -q --no-deps --no-binary :all: --no-cache-dir \
            --require-hashes -r "$root/deploy/sample.txt" -d "$fetched"
        mkdir "$fetched/unpacked"
        tar -xzf "$fetched"/psutil-*.tar.gz -C "$fetched/unpacked"
        mv "$fetched/unpacked" "$path"
    fi
fi
say "scanning $path"
"$venv/bin/jarvis" sec fast -p "$path" -o -
