#!/bin/sh
# Set up in .venv and run the tests: sh deploy/test.sh [pytest's arguments]
set -eu
. "$(dirname -- "$0")/venv.sh"
make_venv requirements-dev.lock
cd "$root"
exec "$venv/bin/python" -m pytest -n 3 --dist worksteal -q "$@"
