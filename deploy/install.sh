#!/bin/sh
# Install this revision of jarvis from the locks, by hash, into a new virtual environment: sh deploy/install.sh DIRECTORY
# For jobs of CI services and hooks, whose current directory is a checkout of somebody else's change: nothing there is
# run, imported or read. PYTHON names the Python, 3.11 or newer.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
directory=$1
case $directory in
/*) ;;
*) echo "$0: $directory is not an absolute path" >&2 && exit 2 ;;
esac
python=$(command -v "${PYTHON:-python3}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

install_into() { # python pip's arguments
    into=$1
    shift
    "$into" -I -m pip --disable-pip-version-check install --quiet --no-deps "$@"
}

"$python" -I -m venv "$work/tools"
"$python" -I -m venv "$directory"
# Built with the backend of the lock, not with what the index serves today.
tools="$work/tools/bin/python"
install_into "$tools" --require-hashes -r "$root/deploy/build-tools.lock"
(cd "$root" && "$tools" -P -m hatchling build -t wheel -d "$work/dist" >&2)
install_into "$directory/bin/python" --require-hashes -r "$root/requirements.lock"
install_into "$directory/bin/python" --no-index "$work"/dist/*.whl
