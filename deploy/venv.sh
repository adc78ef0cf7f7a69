# Read by try.sh and test.sh: `make_venv LOCK [EXTRAS]` makes .venv, or the directory JARVIS_VENV, hold what LOCK names, and this project.
# Needs Python 3.11 or newer and nothing else; does nothing when all is there already.

root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
venv=${JARVIS_VENV:-"$root/.venv"}
case $venv in
/*) ;;
*) venv=$PWD/$venv ;;
esac
unset JARVIS_VENV # it is no setting of jarvis

find_python() {
    for name in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
        # Not in the current directory, where a version manager would read which Python to run.
        if (cd "$root" && "$name" -P -c 'import sys; sys.exit(sys.version_info < (3, 11))') 2>/dev/null; then
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
    stamp="$venv/.$1"
    here=$PWD
    # Python would import modules of the current directory, and uv would read settings there.
    cd "$root"
    if uv --version >/dev/null 2>&1; then
        make_with_uv "$python" "$lock"
    else
        make_with_pip "$python" "$lock"
    fi
    cd "$here"
    echo "$wanted" > "$stamp"
}

make_with_uv() { # python lock
    say "making $venv with uv and $("$1" -V)"
    uv venv -q --allow-existing --python "$1" "$venv"
    say "installing $(count "$2") packages"
    uv pip install -q --compile-bytecode --python "$venv/bin/python" --require-hashes -r "$2"
    uv pip install -q --python "$venv/bin/python" --no-deps -e "$root"
}

make_with_pip() { # python lock
    say "making $venv with $("$1" -V)"
    # Without pip of its own: the one that is there installs into it, which saves unpacking and compiling another.
    pip_python=$1
    if ! "$1" -m venv --without-pip "$venv" || ! run_pip --version >/dev/null 2>&1; then
        rm -rf "$venv"
        pip_python=
        if ! "$1" -m venv "$venv" >/dev/null 2>&1; then
            rm -rf "$venv"
            echo "$1 has neither ensurepip nor pip; on Debian: apt-get install python3-venv" >&2
            exit 2
        fi
    fi
    say "installing $(count "$2") packages with pip; uv is several times as fast, where it is installed"
    # The lock is complete; resolving dependencies again would refuse an extra (coverage[toml]) once a newer release exists.
    run_pip install -q --no-deps --require-hashes -r "$2"
    run_pip install -q --no-deps -e "$root"
}

run_pip() {
    if [ -n "$pip_python" ]; then
        "$pip_python" -m pip --disable-pip-version-check --python "$venv/bin/python" "$@"
    else
        "$venv/bin/python" -m pip --disable-pip-version-check "$@"
    fi
}

say() {
    echo "$*" >&2
}

count() { # lock
    grep -c '^[a-z0-9].*==' "$1"
}
