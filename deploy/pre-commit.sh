#!/bin/sh
# The hook of .pre-commit-hooks.yaml: scan files of a commit. When it first runs, this revision is installed beside it.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
venv="$root/.hook"
if [ ! -e "$venv/installed" ]; then
    rm -rf "$venv"
    sh "$root/deploy/install.sh" "$venv" >&2
    touch "$venv/installed"
fi
exec "$venv/bin/jarvis" sec fast --quiet "$@"
