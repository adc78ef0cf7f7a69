#!/bin/sh
# Set up in .venv, scan, and print a report: sh deploy/try.sh [PATH]
# Without PATH it scans the C sources of psutil, fetched as a source package.
set -eu
. "$(dirname -- "$0")/venv.sh"
make_venv requirements.lock

if [ $# -gt 0 ]; then
    path=$1
else
    path="$venv/sample"
    if [ ! -d "$path" ]; then
        echo "fetching the sources of psutil ..." >&2
        fetched=$(mktemp -d)
        trap 'rm -rf "$fetched"' EXIT
        "$(find_python)" -m pip --version >/dev/null 2>&1 && pip=$(find_python) || pip="$venv/bin/python"
        "$pip" -m pip --disable-pip-version-check download -q --no-deps --no-binary :all: --no-cache-dir \
            --require-hashes -r "$root/deploy/sample.txt" -d "$fetched"
        mkdir "$fetched/unpacked"
        tar -xzf "$fetched"/psutil-*.tar.gz -C "$fetched/unpacked"
        mv "$fetched/unpacked" "$path"
    fi
fi
"$venv/bin/jarvis" sec fast -p "$path" -o -
