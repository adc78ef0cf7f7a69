#!/bin/sh
# Set up in .venv and run the tests: sh deploy/test.sh [all] [pytest's arguments]
# The quick set takes about three minutes on two processors; `all` adds what is slow, and more examples of properties.
set -eu
. "$(dirname -- "$0")/venv.sh"
make_venv requirements-dev.lock
cd "$root"
# Hundreds of processes start: each compiles what none may keep.
unset PYTHONDONTWRITEBYTECODE
if [ "${1:-}" = all ]; then
    shift
    set -- -m "not long and not bench" --hypothesis-profile full --timeout 900 "$@"
fi
# Three workers for two processors: many tests wait for a server.
workers=$(($(getconf _NPROCESSORS_ONLN) * 3 / 2))
[ "$workers" -le 8 ] || workers=8
exec "$venv/bin/python" -m pytest -n "$workers" --dist worksteal -q "$@"
