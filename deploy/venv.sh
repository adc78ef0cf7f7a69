# Read by try.sh and test.sh: `make_venv LOCK [EXTRAS]` makes .venv, or the directory JARVIS_VENV, hold what LOCK names, and this project.
# Needs Python 3.11 or newer and nothing else; does nothing when all is there already.

root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
venv=${JARVIS_VENV:-"$root/.venv"}

find_python() {
    for name in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$name"
            return
        fi
    done
    echo "Python 3.11 or newer is needed; install it, or name it: PYTHON=/path/to/python3 sh $0" >&2
    exit 2
}

make_venv() {
    lock="$root/$1"
    wanted=$(cat "$lock" "$root/pyproject.toml" | cksum)
    if [ "$(cat "$venv/.$1" 2>/dev/null)" = "$wanted" ]; then
        return
    fi
    python=$(find_python)
    echo "setting up $venv ..." >&2
    if ! "$python" -m venv "$venv" >/dev/null 2>&1; then
        rm -rf "$venv"
        if ! "$python" -m venv --without-pip "$venv" || ! "$python" -m pip --version >/dev/null 2>&1; then
            echo "$python has neither ensurepip nor pip; on Debian: apt-get install python3-venv" >&2
            exit 2
        fi
    fi
    if "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
        set -- "$1" "$venv/bin/python" -m pip
    else
        set -- "$1" "$python" -m pip --python "$venv/bin/python"
    fi
    stamp="$venv/.$1"
    shift
    "$@" --disable-pip-version-check install -q --require-hashes -r "$lock"
    "$@" --disable-pip-version-check install -q --no-deps -e "$root"
    echo "$wanted" > "$stamp"
}
